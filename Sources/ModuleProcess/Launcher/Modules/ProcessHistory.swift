import StrataCore

/// What became of a module's processes: how many there were, and how the last
/// one that ended did.
struct ProcessHistory {
    /// How a process ended.
    struct End {
        var pid: Int32
        var exit: ChildProcess.Exit
        /// In microseconds since 1970, both.
        var startedAt: UInt64
        var endedAt: UInt64
        /// What it wrote last.
        var lines: [String]
    }

    /// Processes that were started.
    private(set) var starts = 0
    private(set) var lastEnd: End?

    /// Processes that were started after a first one.
    var restarts: Int { max(0, starts - 1) }

    mutating func started() { starts += 1 }

    mutating func ended(_ process: SupervisedProcess, _ exit: ChildProcess.Exit) {
        lastEnd = End(
            pid: process.pid, exit: exit, startedAt: process.spawnedAt, endedAt: Loop.wallMicroseconds,
            lines: process.lastLines.lines)
    }
}
