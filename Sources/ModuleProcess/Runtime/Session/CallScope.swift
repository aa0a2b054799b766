internal import StrataCore

/// What passes from a handler to the requests that it makes, by task-local
/// value: the request being handled, what time is left for it, and its trace.
@ModuleActor
final class CallScope {
    @TaskLocal static var current: CallScope?

    /// The handler, as logs name it.
    nonisolated let name: String
    /// The id of the call being handled. Nil where there is none to name: for
    /// notices, and where the connection that the call came on is gone.
    @exclusivity(unchecked) private(set) var parent: UInt64?
    /// On the loop's clock, in milliseconds; nil for none.
    let deadline: UInt64?
    /// JSON, with its quotes; empty for none.
    let trace: [UInt8]
    /// False once the handler has returned.
    @exclusivity(unchecked) private(set) var isOpen = true

    init(name: String, parent: UInt64?, deadline: UInt64?, trace: [UInt8]) {
        self.name = name
        self.parent = parent
        self.deadline = deadline
        self.trace = trace
    }

    /// The handler has returned: nothing is requested for it any more.
    func close() { isOpen = false }

    /// The connection is gone, and the handler goes on.
    func forgetParent() { parent = nil }

    /// Milliseconds left; nil for no deadline.
    var remaining: UInt64? {
        guard let deadline else { return nil }
        let now = ModuleExecutor.shared.loop.now
        return deadline > now ? deadline - now : 0
    }

    /// The handler's task goes on after a wait.
    func resumed() { ModuleExecutor.shared.watch.note(name) }
}
