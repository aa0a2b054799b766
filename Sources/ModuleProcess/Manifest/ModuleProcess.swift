public import StrataCore
import StrataLoop

/// The launcher's share of a module's row: how its process is started, kept and
/// ended. What rules are made of is in the table's row of the same name.
public struct ModuleProcess: Sendable, Equatable {
    public var name: String
    /// The program and its arguments as written; empty where the launcher has
    /// nothing to run.
    public var run: [String] = []
    /// The program's absolute path; nil where there is nothing to run.
    public var executable: String?
    /// The working directory, absolute.
    public var folder: String
    /// Variables that the process gets beside those of the launcher.
    public var env: [String: String] = [:]
    /// The launcher's variables that the process gets. Nil: all of them, or none where the
    /// row has a `user`.
    public var keepEnv: [String]?
    /// The user it runs as; its id is in the table's row.
    public var user: String?
    public var start = AppTable.Start.eager
    public var restart = AppTable.Restart.onFailure
    public var replace = AppTable.Replace.wait
    public var backoff = Backoff()
    /// From tearDown to SIGTERM, and again to SIGKILL, in milliseconds.
    public var stop: UInt64 = 5_000
    /// On-demand: stop after so long without a request, in milliseconds.
    public var idle: UInt64?
    public var limits = Limits()

    /// A row that says nothing but where it is run.
    public init(name: String, folder: String) {
        self.name = name
        self.folder = folder
    }

    /// Whether a variable of the launcher's may reach a module: not one that is meant for
    /// one process, of a bus or of a service manager.
    public static func isInherited(_ variable: String) -> Bool {
        !variable.hasPrefix("STRATA_") && !ServiceManager.names.contains(variable)
    }

    /// How long the launcher waits between two starts.
    public struct Backoff: Sendable, Equatable {
        /// Before the first restart, in milliseconds; doubled each time.
        public var first: UInt64 = 100
        /// Never longer than this, in milliseconds.
        public var most: UInt64 = 30_000
        /// Begins anew after running so long, in milliseconds.
        public var reset: UInt64 = 60_000

        public init() {}
    }

    /// What the process may use; nil is not limited.
    public struct Limits: Sendable, Equatable {
        /// Resident anonymous and shared memory, in bytes.
        public var memory: UInt64?
        /// Open files.
        public var files: UInt64?
        /// Processes, itself and those it starts.
        public var processes: UInt64?

        public init() {}
    }
}
