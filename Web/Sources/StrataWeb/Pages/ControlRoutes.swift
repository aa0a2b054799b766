import Hummingbird
import NIOCore
import StrataOperator

/// What a tab may do, if the server was started with `--control`: call actions, and start, stop and restart
/// modules. Each is logged with who asked.
struct ControlRoutes: Sendable {
    /// The longest body of a request, in bytes.
    static let longestBody = 1 << 20
    /// The milliseconds that a call has if the tab doesn't say, and the most that it may say.
    static let usualTimeout: Int64 = 10_000
    static let longestTimeout: Int64 = 60_000
    /// The most elements of a stream that one call returns, and their bytes.
    static let mostPartials = 100
    static let mostPartialBytes = 256 << 10

    let bus: BusThread
    let isAllowed: Bool

    func add(to router: RouterGroup<PageContext>) {
        router.post("/api/call") { request, context in try await call(request, context) }
        for verb in ["start", "stop", "restart"] {
            router.post(RouterPath(stringLiteral: "/api/\(verb)")) { request, context in
                let params = try await params(request)
                let module = try string("module", in: params)
                ControlLog.write("\(verb) \(module)", context)
                let answer: Result<JSON, ClientError> = await bus.ask { session, answer in
                    session.asking(params["node"]?.string) {
                        let params: JSON = ["module": .string(module), "reason": "asked on the page"]
                        session.client.ask(
                            "launcher/\(verb)", params, deadline: UInt64(Self.longestTimeout), onAnswer: answer)
                    }
                }
                return Response.json(try answer.response())
            }
        }
    }

    private func params(_ request: Request) async throws -> JSON {
        guard isAllowed else {
            throw HTTPError(.forbidden, message: "this server only shows: start strata web with --control")
        }
        let body = try await request.body.collect(upTo: Self.longestBody)
        guard let params = try? JSON(parsing: Array(body.readableBytesView)), params.object != nil else {
            throw HTTPError(.badRequest, message: "the body isn't a JSON object")
        }
        return params
    }

    private func string(_ name: String, in params: JSON) throws -> String {
        guard let text = params[name]?.string, !text.isEmpty else {
            throw HTTPError(.badRequest, message: "the body lacks \"\(name)\", a string")
        }
        return text
    }

    private func call(_ request: Request, _ context: PageContext) async throws -> Response {
        let params = try await params(request)
        let to = try string("to", in: params)
        let timeout = min(max(params["timeout"]?.integer ?? Self.usualTimeout, 1), Self.longestTimeout)
        ControlLog.write("call \(to)", context)
        let outcome: JSON = await bus.ask { session, answer in
            PageCall(to, params["params"], timeout: UInt64(timeout), session)
                .send(node: params["node"]?.string, onDone: answer)
        }
        return .json(outcome)
    }
}

/// A call that a tab makes, on the bus's thread.
private final class PageCall {
    private let session: BusSession
    private let request: StrataOperator.Request
    private let begun = Loop.nanoseconds
    private var partials: [JSON] = []
    private var bytes = 0
    private var isCut = false

    init(_ to: String, _ params: JSON?, timeout: UInt64, _ session: BusSession) {
        self.session = session
        var request = StrataOperator.Request(to: to, params == .null ? nil : params, deadline: timeout)
        request.credit = 16
        self.request = request
    }

    func send(node: String?, onDone: @escaping (JSON) -> Void) {
        var id: UInt64 = 0
        // A copy, because it holds this object until its answer.
        var request = request
        request.onPartial = { [self] body in
            guard !isCut else { return }
            partials.append((try? JSON(parsing: body)) ?? .string("not JSON"))
            bytes += body.count
            guard partials.count >= ControlRoutes.mostPartials || bytes > ControlRoutes.mostPartialBytes else { return }
            isCut = true
            session.client.cancel(id)
        }
        session.asking(node) {
            id = session.client.send(request) { [self] in onDone(outcome($0)) }
        }
    }

    private func outcome(_ answer: BusClient.Answer) -> JSON {
        var members: [JSON.Member] = [
            .init("microseconds", .integer(Int64(clamping: (Loop.nanoseconds - begun) / 1_000)))
        ]
        if !partials.isEmpty { members.append(.init("partials", .array(partials))) }
        switch answer {
        case .success(let body): members.append(.init("reply", (try? JSON(parsing: body)) ?? .null))
        case .failure where isCut: members.append(.init("cut", true))
        case .failure(let error):
            members.append(
                .init(
                    "error",
                    [
                        "code": .string(error.code.rawValue), "message": .string(error.message),
                        "ran": .string(error.ran.rawValue),
                    ]))
        }
        return .object(members)
    }
}
