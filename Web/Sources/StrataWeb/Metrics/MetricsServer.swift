import Hummingbird
import NIOCore
import StrataOperator

/// A server of metrics alone: `/metrics` and `/healthz`, for Prometheus and for whoever watches services.
public struct MetricsServer: Sendable {
    private let address: ListenAddress
    private let bus: BusThread

    /// - Parameters:
    ///   - socket: the path of the bus's socket.
    ///   - node: the node whose bus is asked; nil is the bus's own.
    /// - Throws: if the kernel gives no event loop.
    public init(socket: String, node: String?, address: ListenAddress) throws {
        self.address = address
        bus = try BusThread(path: socket, node: node, feed: LiveFeed(), options: .init())
    }

    /// Serves until SIGINT or SIGTERM.
    /// - Parameter onStart: gets the address of the metrics.
    public func run(onStart: @escaping @Sendable (String) -> Void) async throws {
        let address = address
        let application = PageServer.application(router: router(), address: address) { channel in
            let place = address.text(port: channel.localAddress?.port)
            onStart(address.hostName == nil ? place : "\(place)/metrics")
        }
        try await PageServer.run(application, at: address)
    }

    func router() -> Router<PageContext> {
        let router = Router(context: PageContext.self)
        router.add(middleware: AccessMiddleware(rules: AccessRules(address: address, names: [], token: nil)))
        HealthRoutes(bus: bus).addHealth(to: router)
        HealthRoutes(bus: bus).addMetrics(to: router)
        return router
    }
}
