import Glibc
import Strata

/// Answers `action1` with what came, after a millisecond of computing: a replica of it serves one call at a time.
final class WorkerModule: Module {
    static let name = "Test"
    /// CPU time of a call, in nanoseconds.
    private static let work = 1_000_000

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {
        exports.bytes("Test/action1") { call in
            let end = Self.computed() + Self.work
            while Self.computed() < end {}
            return call.body
        }
    }

    /// What this thread has had of a CPU: its waits for one don't count.
    private static func computed() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
