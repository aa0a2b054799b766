internal import CUV
internal import StrataCore
internal import Tracing

/// The state that a handler shares with the requests it makes: the request being handled, the time
/// left for it, and its trace. It is passed on as a task-local value.
@ModuleActor
class CallScope {
    @TaskLocal static var current: CallScope?

    /// The handler's name in logs.
    final nonisolated let name: String
    /// The id of the call being handled. Nil for notices, and once the connection that the call
    /// arrived on has ended.
    @exclusivity(unchecked) final private(set) var parent: UInt64?
    /// The clock and the other services of its module.
    final let surroundings: any Surroundings
    /// The deadline in milliseconds on the surroundings' clock; nil if there is none.
    final let deadline: UInt64?
    /// The trace as JSON, with its quotes; empty if there is none.
    final let trace: [UInt8]
    /// The context of the handler's span, the parent of the handler's own spans and requests; nil
    /// if there is no span.
    @exclusivity(unchecked) final private(set) var context: ServiceContext?
    /// Whether the handler is still running.
    @exclusivity(unchecked) final private(set) var isOpen = true
    /// The address of the task that the runtime started for it; nil before the task runs.
    @exclusivity(unchecked) final private var ownTask: UnsafeRawPointer?
    /// The request that its own task waits for.
    @exclusivity(unchecked) final private(set) var awaited: AwaitedRequest?

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

    /// Records the context of the handler's span.
    final func spanBegan(_ context: ServiceContext?) { self.context = context }

    /// Marks the handler as returned: no more requests can be made in its name.
    final func close() { isOpen = false }

    /// Forgets the call's id when the connection ends while the handler is still running.
    final func forgetParent() { parent = nil }

    /// The milliseconds left; nil if there is no deadline.
    final var remaining: UInt64? {
        guard let deadline else { return nil }
        let now = surroundings.now
        return deadline > now ? deadline - now : 0
    }

    /// Notes that the current task is the one that the runtime started for it, whose cancellation
    /// reaches `cancelAwaited`.
    final func begin() {
        ownTask = swift_task_getCurrent()
        resumed()
    }

    /// Notes that its own task ends. A later task may get the same address.
    final func end() { ownTask = nil }

    /// Whether the current task is its own, and not a child of that task.
    final var isInOwnTask: Bool { ownTask == swift_task_getCurrent() }

    /// Sets the request that its own task waits for. A task waits for one at a time.
    final func awaits(_ request: AwaitedRequest) { awaited = request }

    final func awaitsNothing() { awaited = nil }

    /// Cancels the request that its own task waits for. Its answer still arrives: `cancelled`, or one
    /// that was already under way.
    final func cancelAwaited() { if let awaited { awaited.session.cancel(awaited.id) } }

    /// Notes that the handler's task continues after a wait.
    final func resumed() { ModuleExecutor.shared.watch.note(name) }
}

/// A request that a task waits for.
struct AwaitedRequest {
    let session: Session
    let id: UInt64
    let measurement: Measurement?
}

extension TaskLocal {
    /// Binds the value while a synchronous body runs. Not isolated: an isolated closure that is
    /// passed to the standard library is checked at each call for where it runs, which costs more
    /// than the binding.
    func bind(_ value: Value, _ body: () -> Void) { withValue(value) { body() } }
}

/// The handler that runs the current task.
@ModuleActor
package enum RunningHandler {
    /// The handler's name in logs; nil outside of handlers.
    package static var name: String? { CallScope.current?.name }
}
