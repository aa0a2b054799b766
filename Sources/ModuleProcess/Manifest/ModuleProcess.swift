public import StrataCore
import StrataLoop

/// The launcher's part of a module's row: how its process is started, kept running and ended. The
/// table's row of the same name holds the part that rules are made of.
public struct ModuleProcess: Sendable, Equatable {
    public var name: String
    /// The program and its arguments as written; empty if there is nothing to run.
    public var run: [String] = []
    /// The program's absolute path; nil if there is nothing to run.
    public var executable: String?
    /// The absolute path of the working directory.
    public var folder: String
    /// Variables that the process gets in addition to the launcher's.
    public var env: [String: String] = [:]
    /// The launcher's variables that the process gets. Nil means all of them, or none if the row
    /// has a `user`.
    public var keepEnv: [String]?
    /// The name of the user that it runs as; the table's row has the id.
    public var user: String?
    public var start = AppTable.Start.eager
    public var restart = AppTable.Restart.onFailure
    public var replace = AppTable.Replace.wait
    public var backoff = Backoff()
    /// The milliseconds from tearDown to SIGTERM, and again from SIGTERM to SIGKILL.
    public var stop: UInt64 = 5_000
    /// The milliseconds without a request after which an on-demand module stops; nil for never.
    public var idle: UInt64?
    public var limits = Limits()
    /// How many replicas of the module may run; nil for a row without replicas.
    public var replicas: ClosedRange<Int>?

    /// Creates a row with defaults for everything but its name and folder.
    public init(name: String, folder: String) {
        self.name = name
        self.folder = folder
    }

    /// Returns whether a module may inherit one of the launcher's variables. Variables that a bus
    /// or a service manager means for one process are not inherited.
    public static func isInherited(_ variable: String) -> Bool {
        !variable.hasPrefix("STRATA_") && !ServiceManager.names.contains(variable)
    }

    /// The delays between two starts.
    public struct Backoff: Sendable, Equatable {
        /// The delay before the first restart, in milliseconds; it doubles each time.
        public var first: UInt64 = 100
        /// The longest delay, in milliseconds.
        public var most: UInt64 = 30_000
        /// The delays begin again after a process has run for this many milliseconds.
        public var reset: UInt64 = 60_000

        public init() {}
    }

    /// The limits of a process; nil means unlimited.
    public struct Limits: Sendable, Equatable {
        /// The resident anonymous and shared memory, in bytes.
        public var memory: UInt64?
        /// The number of open files.
        public var files: UInt64?
        /// The number of processes: the module's own and those it starts.
        public var processes: UInt64?

        public init() {}
    }
}
