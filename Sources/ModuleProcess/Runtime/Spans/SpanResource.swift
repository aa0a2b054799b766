internal import StrataCore

/// Whose spans they are: what OpenTelemetry calls a resource.
final class SpanResource: Sendable {
    private let members: Locked<[JSON.Member]>

    init(module: String, pid: Int32) {
        members = Locked([
            .init("service.name", .string(module)), .init("service.instance.id", .string("\(pid)")),
            .init("process.pid", .integer(Int64(pid))), .init("telemetry.sdk.name", "strata"),
            .init("telemetry.sdk.language", "swift"),
        ])
    }

    var attributes: [JSON.Member] { members.withLock { $0 } }

    /// The app's name, which hello's answer tells.
    func name(app: String) {
        members.withLock { members in
            members.removeAll { $0.name == "service.namespace" }
            members.append(.init("service.namespace", .string(app)))
        }
    }
}
