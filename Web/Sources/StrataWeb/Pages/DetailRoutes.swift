import Hummingbird
import StrataOperator

/// What a tab asks about when it is opened: a module, and the requests that wait.
struct DetailRoutes: Sendable {
    let bus: BusThread

    func add(to router: RouterGroup<PageContext>) {
        router.get("/api/module") { request, _ in try await detail(try request.module()) }
        router.get("/api/requests") { _, _ in try await requests() }
    }

    private func detail(_ name: String) async throws -> Response {
        let detail: Result<JSON, ClientError> = await bus.ask { session, answer in
            ModuleDetail.read(name, session, answer)
        }
        return try .json(detail.response())
    }

    private func requests() async throws -> Response {
        let answer: Result<JSON, ClientError> = await bus.ask { session, answer in session.ask("bus/requests", answer) }
        let tree = RequestTree(try answer.response())
        return .json([
            "trees": .array(
                tree.trees.map { requests in
                    .array(
                        requests.map { request in
                            .object(
                                (request.json.object ?? []) + [
                                    .init("indent", .integer(Int64(request.indent))),
                                    .init("circle", .bool(request.isCircle)),
                                ])
                        })
                }), "omitted": .integer(Int64(tree.omitted)),
        ])
    }
}

extension Result where Success == JSON, Failure == ClientError {
    /// Returns the value, or throws the response that says what went wrong.
    func response() throws -> JSON {
        switch self {
        case .success(let json): return json
        case .failure(.refused(let error)):
            throw HTTPError(error.code == .unknownModule ? .notFound : .badGateway, message: "\(error)")
        case .failure(let error): throw HTTPError(.serviceUnavailable, message: "\(error)")
        }
    }
}

/// All that is known of one module, from several actions that are asked at once.
enum ModuleDetail {
    /// How long a module may take to describe its contracts, in milliseconds.
    private static let patience: UInt64 = 2_000

    /// Asks on the bus's thread. Only a module that the bus doesn't know is an error; what doesn't answer is
    /// left out.
    static func read(
        _ name: String, _ session: BusSession, _ onDone: @escaping (Result<JSON, ClientError>) -> Void
    ) {
        var answers: [String: Result<JSON, ClientError>] = [:]
        let questions: [(to: String, params: JSON?)] = [
            ("bus/modules", nil), ("launcher/why", ["module": .string(name)]), ("bus/timeline", nil),
            ("bus/interfaces", nil), ("bus/contracts", ["module": .string(name)]),
        ]
        for question in questions {
            session.client.ask(question.to, question.params, deadline: patience) { answer in
                answers[question.to] = answer
                guard answers.count == questions.count else { return }
                onDone(assemble(name, answers))
            }
        }
    }

    private static func assemble(
        _ name: String, _ answers: [String: Result<JSON, ClientError>]
    ) -> Result<JSON, ClientError> {
        func value(_ to: String) -> JSON? { answers[to].flatMap { try? $0.get() } }
        let rows: [ModuleRow]
        switch answers["bus/modules"] {
        case .success(let answer): rows = [ModuleRow](answer)
        case .failure(let error): return .failure(error)
        case nil: rows = []
        }
        guard let row = rows.first(where: { $0.name == name }) else {
            return .failure(.refused(BusError(.unknownModule, "there is no module \(name)")))
        }
        let times = value("bus/timeline")?["modules"]?.array?.first { $0["name"]?.string == name }
        let interfaces = value("bus/interfaces").map { [InterfaceRow]($0) } ?? []
        return .success([
            "why": ModuleCause(row, value("launcher/why")).json,
            "timeline": times ?? .null,
            "interfaces": .array(interfaces.filter { $0.module == name }.map(json)),
            "contracts": value("bus/contracts").map {
                ["interfaces": $0["provides"] ?? [], "module": $0["module"] ?? .null]
            } ?? .null,
        ])
    }

    private static func json(_ row: InterfaceRow) -> JSON {
        var members: [JSON.Member] = [
            .init("name", .string(row.name)), .init("actions", row.json["actions"] ?? []),
            .init("urls", .array(row.urls.map { ["address": .string($0.address), "to": .string($0.to)] })),
            .init("requiredBy", .array(row.requiredBy.map { .string($0) })),
        ]
        if let version = row.version { members.append(.init("version", .string("\(version)"))) }
        return .object(members)
    }
}
