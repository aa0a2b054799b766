internal import Glibc
internal import Logging

/// Names a handler that holds the loop's thread too long. While one does,
/// nothing else of the module runs: no other handler, no answer, no ping.
///
/// On the loop's thread. A handler names itself where it starts and after each
/// wait of the runtime's own; what runs under no name is "a task". The clock is
/// the coarse one, of a few milliseconds: it costs a quarter of the other.
final class LoopWatch {
    /// Nanoseconds from which on it is said.
    static let longest: UInt64 = 100_000_000

    @exclusivity(unchecked) private var began: UInt64 = 0
    @exclusivity(unchecked) private var name: String?
    /// A job may start a handler inline, and that one another.
    @exclusivity(unchecked) private var depth = 0
    /// Gets the name and the milliseconds; set by tests.
    var onHeld: (String, UInt64) -> Void = { name, milliseconds in
        ModuleLog.logger.warning(
            """
            \(name) held the module's loop for \(milliseconds) ms, and nothing else of the module ran meanwhile: \
            put what blocks or computes long into `try await blocking { }`
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

    /// Says whose turn it is that runs now.
    func note(_ name: String) { self.name = name }

    /// One has ended, and another begins.
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

/// Where the runtime says what nobody is there to be told.
enum ModuleLog {
    static let logger = Logger(label: "strata")
}
