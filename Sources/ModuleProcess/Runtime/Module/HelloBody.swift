internal import StrataCore

/// The body of `bus/hello`.
@ModuleActor
enum HelloBody {
    static let protocolVersion: Int64 = 1
    static let runtime = "swift 0.1"

    static func json(
        module: String, level: String?, token: String?, exports: Exports, observations: [Observing], resumed: Bool
    ) -> JSON {
        var members = [
            JSON.Member("protocol", .integer(protocolVersion)), JSON.Member("module", .string(module)),
        ]
        func add(_ name: String, _ value: JSON) { members.append(JSON.Member(name, value)) }
        func add(_ name: String, _ values: [JSON]) { if !values.isEmpty { add(name, .array(values)) } }
        if let token { add("token", .string(token)) }
        if let level { add("level", .string(level)) }
        add("runtime", .string(runtime))
        if !exports.interfaces.isEmpty {
            add("interfaces", .object(exports.interfaces.map { JSON.Member(Name.said($0.name), $0.json) }))
        }
        add("urls", exports.urls.map(\.json))
        add("observes", observations.map(\.json))
        add("broadcasts", exports.broadcasts.map(JSON.string))
        if !exports.reports.isEmpty {
            add("reports", .object(exports.reports.map { JSON.Member($0.target, .array($0.names.map(JSON.string))) }))
        }
        add("events", exports.events.map { .string($0.name) })
        add("requires", exports.required.map(JSON.string))
        if resumed { add("resumed", true) }
        add("retiring", true)
        return .object(members)
    }
}

extension Exports.InterfaceExport {
    var json: JSON {
        let instances: JSON = hasInstances ? "multiple" : "single"
        guard !actions.isEmpty else { return ["instances": instances] }
        let actions = actions.map { JSON.Member($0.name, $0.auth ? ["auth": true] : [:]) }
        return .object([JSON.Member("instances", instances), JSON.Member("actions", .object(actions))])
    }
}

extension Exports.URLExport {
    var json: JSON { ["host": .string(host), "path": .string(path), "to": .string(to)] }
}
