internal import StrataCore
internal import Tracing

/// What passes from a handler to the requests that it makes, by task-local
/// value: the request being handled, what time is left for it, and its trace.
@ModuleActor
class CallScope {
    @TaskLocal static var current: CallScope?

    /// The handler, as logs name it.
    final nonisolated let name: String
    /// The id of the call being handled. Nil where there is none to name: for
    /// notices, and where the connection that the call came on is gone.
    @exclusivity(unchecked) final private(set) var parent: UInt64?
    /// What its module stands on.
    final let surroundings: any Surroundings
    /// On the surroundings' clock, in milliseconds; nil for none.
    final let deadline: UInt64?
    /// JSON, with its quotes; empty for none.
    final let trace: [UInt8]
    /// The span that stands for it, as the handler's own spans and requests find
    /// it; nil where there is none.
    @exclusivity(unchecked) final private(set) var context: ServiceContext?
    /// False once the handler has returned.
    @exclusivity(unchecked) final private(set) var isOpen = true

    init(
        name: String, parent: UInt64? = nil, deadline: UInt64? = nil, trace: [UInt8] = [],
        in surroundings: any Surroundings
    ) {
        self.name = name
        self.surroundings = surroundings
        self.parent = parent
        self.deadline = deadline
        self.trace = trace
    }

    /// A span stands for it from now on.
    final func spanBegan(_ context: ServiceContext?) { self.context = context }

    /// The handler has returned: nothing is requested for it any more.
    final func close() { isOpen = false }

    /// The connection is gone, and the handler goes on.
    final func forgetParent() { parent = nil }

    /// Milliseconds left; nil for no deadline.
    final var remaining: UInt64? {
        guard let deadline else { return nil }
        let now = surroundings.now
        return deadline > now ? deadline - now : 0
    }

    /// The handler's task goes on after a wait.
    final func resumed() { ModuleExecutor.shared.watch.note(name) }
}

extension TaskLocal {
    /// Binds the value while something runs that doesn't wait. Not isolated: an
    /// isolated closure that goes to the standard library is checked each time
    /// for where it runs, which costs more than the binding.
    func bind(_ value: Value, _ body: () -> Void) { withValue(value) { body() } }
}

/// The handler in whose task the caller is.
@ModuleActor
package enum RunningHandler {
    /// As logs name it; nil where it is none.
    package static var name: String? { CallScope.current?.name }
}
