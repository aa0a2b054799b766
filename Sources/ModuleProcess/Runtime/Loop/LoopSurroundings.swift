internal import StrataCore

/// A process's libuv loop: the clock, the timers and the sockets of its modules, and what drives
/// the actor's jobs, once in each round.
///
/// `@unchecked Sendable` because the loop is touched on its own thread alone, but for `init`.
final class LoopSurroundings: @unchecked Sendable {
    static let shared = LoopSurroundings()

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
    var now: UInt64 { loop.now }

    func after(_ milliseconds: UInt64, _ body: @escaping () -> Void) -> any Alarm {
        // The round may have begun long ago.
        loop.updateTime()
        let timer = LoopTimer(loop, onFire: body)
        timer.start(after: milliseconds)
        return timer
    }

    func connect(to socket: String, limits: FrameLimits) throws(SystemError) -> FrameChannel {
        try FrameChannel(loop, path: socket, limits: limits)
    }
}
