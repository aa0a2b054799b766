package import StrataCore
package import StrataLoop

/// What a module's runtime stands on: the time, who calls back later, the threads for what blocks,
/// and the bytes to and from the bus. A process's is `LoopSurroundings`; a module also runs where time and bytes are made up.
///
/// Jobs of the language run in `ModuleExecutor`, which the owner of the actor's thread drives: an
/// actor has one executor. What is measured of the module (`Measurement`, `LoopWatch`) is the
/// machine's time, whatever it stands on.
@ModuleActor
package protocol Surroundings: AnyObject {
    /// Milliseconds of a clock that only goes forward.
    var now: UInt64 { get }

    /// Calls back once, so many milliseconds from now.
    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm

    /// Connects to a broker's socket.
    func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel

    /// Runs what blocks, off the actor's thread. Work of one label runs one after another, in order.
    /// - Returns: false where too much waits, and this isn't run.
    func block(label: String?, _ work: @escaping @Sendable () -> Void) -> Bool
}

/// What code of the module that belongs to no handler stands on.
@ModuleActor
package enum ProcessSurroundings {
    /// Nil but where the process is a simulation.
    package static var simulated: (any Surroundings)?

    static var current: any Surroundings { CallScope.current?.surroundings ?? simulated ?? LoopSurroundings.shared }
}

/// Something that will call back, until it is closed.
@ModuleActor
package protocol Alarm: AnyObject {
    /// It doesn't call back any more. Twice is once.
    func close()
}

extension LoopTimer: Alarm {}

/// A process's libuv loop: the clock, the timers and the sockets of its modules, and what drives
/// the actor's jobs, once in each round.
///
/// `@unchecked Sendable` because the loop is touched on its own thread alone, but for `init`.
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

    /// Runs the loop on the calling thread, for good or until `Loop.stop`.
    func run() {
        ModuleExecutor.shared.claimThread()
        loop.run()
    }
}

extension LoopSurroundings: Surroundings {
    package var now: UInt64 { loop.now }

    package func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm {
        // The round may have begun long ago.
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

/// Waits on the module's own clock; `Task.sleep` would start threads for it.
/// - Throws: `CancellationError` where the task is cancelled meanwhile.
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

/// One wait: a timer, and who waits for it.
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

/// Runs something on the actor: now where the caller is on its thread, else
/// soon.
func onModuleActor(_ body: @escaping @ModuleActor () -> Void) {
    if ModuleExecutor.shared.isCurrent {
        ModuleActor.assumeIsolated(body)
    } else {
        Task(executorPreference: ModuleExecutor.shared) { @ModuleActor in body() }
    }
}
