internal import StrataCore

/// Whose spans they are: what OpenTelemetry calls a resource. It is the same for all
/// spans of a process, and so is coded once.
final class SpanResource: Sendable {
    private struct State {
        var attributes: [JSON.Member]
        /// Up to the spans' list; nil where the attributes have changed since.
        var head: [UInt8]?
    }

    private let state: Locked<State>

    init(module: String, pid: Int32) {
        state = Locked(
            State(attributes: [
                .init("service.name", .string(module)), .init("service.instance.id", .string("\(pid)")),
                .init("process.pid", .integer(Int64(pid))), .init("telemetry.sdk.name", "strata"),
                .init("telemetry.sdk.language", "swift"),
            ]))
    }

    /// What a line has before its span.
    var head: [UInt8] {
        state.withLock { state in
            if let head = state.head { return head }
            let head = SpanLine.head(of: state.attributes)
            state.head = head
            return head
        }
    }

    /// The app's name, which hello's answer tells.
    func name(app: String) {
        state.withLock { state in
            state.attributes.removeAll { $0.name == "service.namespace" }
            state.attributes.append(.init("service.namespace", .string(app)))
            state.head = nil
        }
    }
}
