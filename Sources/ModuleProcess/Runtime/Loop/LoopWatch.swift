internal import Glibc
internal import Logging

/// Reports a handler that holds the loop's thread for too long. Meanwhile nothing else of the
/// module runs: no other handler, no answer, no ping.
///
/// Used on the loop's thread only. A handler names itself when it starts and after each wait of the
/// runtime's own; code without a name is "a task". The clock is the coarse one, with a resolution
/// of a few milliseconds, because it costs a quarter of the precise one.
final class LoopWatch {
    /// The time after which a handler is reported, in nanoseconds.
    static let longest: UInt64 = 100_000_000

    @exclusivity(unchecked) private var began: UInt64 = 0
    @exclusivity(unchecked) private var name: String?
    /// The nesting of handlers: a job may start a handler inline, which may start another.
    @exclusivity(unchecked) private var depth = 0
    /// Receives the handler's name and the milliseconds. Tests replace it.
    var onHeld: (String, UInt64) -> Void = { name, milliseconds in
        ModuleLog.logger.warning(
            """
            \(name) held the module's loop for \(milliseconds) ms, and nothing else in the module ran meanwhile: \
            move blocking calls and long computations into `try await blocking { }`
            """)
    }

    func begin(_ name: String? = nil) {
        depth += 1
        if depth == 1 {
            began = Self.now
            self.name = name
        } else if let name {
            self.name = name
        }
    }

    /// Names the handler that runs now.
    func note(_ name: String) { self.name = name }

    /// Ends one job and begins the next.
    func next() {
        guard depth == 1 else { return }
        let now = Self.now
        tell(now)
        began = now
        name = nil
    }

    func end() {
        depth -= 1
        if depth == 0 { tell(Self.now) }
    }

    private func tell(_ now: UInt64) {
        let held = now &- began
        if held > Self.longest { onHeld(name ?? "a task", held / 1_000_000) }
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The log for what no caller can be told.
enum ModuleLog {
    static let logger = Logger(label: "strata")
}
