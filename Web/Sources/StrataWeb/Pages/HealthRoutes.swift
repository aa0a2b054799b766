import Hummingbird
import StrataOperator

/// What other programs ask: whether the bus is there, and its metrics.
struct HealthRoutes: Sendable {
    let bus: BusThread

    func addHealth(to router: Router<PageContext>) {
        router.get("/healthz") { _, _ in
            let absence: String? = await bus.ask { session, answer in session.check(answer) }
            guard let absence else { return Response.bytes(Array("ok\n".utf8), type: "text/plain; charset=utf-8") }
            return .failure(.serviceUnavailable, absence)
        }
    }

    func addMetrics(to router: some RouterMethods<PageContext>) {
        router.get("/metrics") { _, _ in
            let snapshot: BusSnapshot? = await bus.ask { session, answer in session.look(answer) }
            let text = OpenMetrics.text(snapshot?.families ?? BusSnapshot.absent)
            return Response.bytes(Array(text.utf8), type: OpenMetrics.contentType)
        }
    }
}
