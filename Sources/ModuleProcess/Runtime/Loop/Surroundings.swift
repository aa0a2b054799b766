package import StrataCore
package import StrataLoop

/// The services that a module's runtime depends on: the clock, timers, threads for blocking work,
/// and the bytes to and from the bus. A process uses `LoopSurroundings`; a simulation provides its
/// own time and bytes.
///
/// Swift's jobs run in `ModuleExecutor`, which the owner of the actor's thread drives, because an
/// actor has only one executor. Measurements of the module (`Measurement`, `LoopWatch`) always use
/// the machine's time.
@ModuleActor
package protocol Surroundings: AnyObject {
    /// The milliseconds of a clock that only goes forward.
    var now: UInt64 { get }

    /// Calls back once after the given number of milliseconds.
    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm

    /// Connects to a broker's socket.
    func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel

    /// Runs blocking work off the actor's thread. Work with the same label runs one after another,
    /// in order.
    /// - Returns: False if too much work is waiting; this work isn't run then.
    func block(label: String?, _ work: @escaping @Sendable () -> Void) -> Bool
}

/// The surroundings of the module's code that belongs to no handler.
@ModuleActor
package enum ProcessSurroundings {
    /// The surroundings of a simulation; nil in every other process.
    package static var simulated: (any Surroundings)?

    static var current: any Surroundings { CallScope.current?.surroundings ?? simulated ?? LoopSurroundings.shared }
}

/// A callback that is due later, unless it is closed before.
@ModuleActor
package protocol Alarm: AnyObject {
    /// Cancels the callback. A second call does nothing.
    func close()
}

extension LoopTimer: Alarm {}

/// A process's libuv loop: the clock, the timers and the sockets of its modules. It also drives the
/// actor's jobs, once in each round.
///
/// `@unchecked Sendable` because the loop is used on its own thread only, except by `init`.
package final class LoopSurroundings: @unchecked Sendable {
    package static let shared = LoopSurroundings()

    let loop: Loop
    private let hook: RoundHook

    private init() {
        do {
            loop = try Loop()
            let wake = try WakeUp(loop) {}
            ModuleExecutor.shared.setWake { wake.send() }
        } catch {
            fatalError("a module's process can't have a loop: \(error)")
        }
        hook = RoundHook(loop) { ModuleExecutor.shared.drain() }
    }

    /// Runs the loop on the calling thread, forever or until `Loop.stop`.
    func run() {
        ModuleExecutor.shared.claimThread()
        loop.run()
    }
}

extension LoopSurroundings: Surroundings {
    package var now: UInt64 { loop.now }

    package func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm {
        // The loop's time may be stale, because the round may have begun long ago.
        loop.updateTime()
        let timer = LoopTimer(loop, onFire: body)
        timer.start(after: milliseconds)
        return timer
    }

    package func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel {
        try FrameChannel(loop, path: socket, limits: limits)
    }

    package func block(label: String?, _ work: @escaping @Sendable () -> Void) -> Bool {
        BlockingPool.shared.add(label: label, work)
    }
}

/// Waits on the module's own clock. `Task.sleep` would start threads.
/// - Throws: `CancellationError` if the task is cancelled meanwhile.
@ModuleActor
public func sleep(milliseconds: Int) async throws {
    let scope = CallScope.current
    let sleeper = Sleeper(ProcessSurroundings.current)
    try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { sleeper.start($0, UInt64(max(0, milliseconds))) }
    } onCancel: {
        onModuleActor { sleeper.end(.failure(CancellationError())) }
    }
    scope?.resumed()
}

/// One wait: a timer, and the continuation that waits.
@ModuleActor
private final class Sleeper {
    private var continuation: UnsafeContinuation<Void, any Error>?
    private let surroundings: any Surroundings
    private var alarm: (any Alarm)?
    private var isOver = false

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    func start(_ continuation: UnsafeContinuation<Void, any Error>, _ milliseconds: UInt64) {
        guard !isOver else {
            continuation.resume(throwing: CancellationError())
            return
        }
        self.continuation = continuation
        alarm = surroundings.after(milliseconds) { self.end(.success(())) }
    }

    func end(_ result: Result<Void, any Error>) {
        isOver = true
        alarm?.close()
        alarm = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}

/// Runs a body on the actor: now if the caller is on its thread, otherwise soon.
func onModuleActor(_ body: @escaping @ModuleActor () -> Void) {
    if ModuleExecutor.shared.isCurrent {
        ModuleActor.assumeIsolated(body)
    } else {
        Task(executorPreference: ModuleExecutor.shared) { @ModuleActor in body() }
    }
}
