extension AppTable {
    /// The part of a module's manifest entry that the broker needs.
    public struct Row: Sendable, Equatable {
        public var name: String
        /// The rank of its level.
        public var rank = 0
        /// A module with a higher priority starts first.
        public var priority = 0
        public var start = Start.eager
        public var restart = Restart.onFailure
        public var replace = Replace.wait
        /// The time from tearDown to SIGTERM, in milliseconds.
        public var stop: UInt64 = 5_000
        /// How long an on-demand module may be without a request before it is stopped, in
        /// milliseconds.
        public var idle: UInt64?
        /// How long a ping may stay unanswered, in milliseconds; nil if the module isn't pinged.
        public var ping: UInt64?
        /// Whether the module is then restarted, or only reported.
        public var pingRestarts = true
        /// The user that the module must run as, if its row names one.
        public var user: UInt32?
        /// `backoff.reset`: how long a death counts, in milliseconds.
        public var backoffReset: UInt64 = 60_000
        /// The names of interfaces, without the suffix `Router`.
        public var provides: [String] = []
        public var requires: [RequiredInterface] = []
        /// `off` if the versions of this module aren't compared; nil if the app's `contracts` decide.
        public var contracts: Contracts?
        public var urls: [URLMapping] = []
        public var observes: [Observed] = []
        public var broadcasts: [String] = []
        /// How long the bus keeps what the module broadcasts with `retain`.
        public var retained = Retained.session
        public var reports: [Reported] = []
        public var emits: [String] = []
        /// The rows that the module may start, stop and restart.
        public var manages: [String] = []
        /// The actions of `launcher` that a module may call for these rows.
        public static var managing: [String] { ["start", "stop", "restart"] }
        /// The notifications and events that start an on-demand module.
        public var wakes: [String] = []
        /// The schemes of other apps whose URLs it may open.
        public var opens: [Opened] = []
        /// The values of settings that are this row's own. They come before the app's.
        public var settings: [JSON.Member] = []
        /// What the module gets if it declares these settings as secrets.
        public var secrets: [Secret] = []
        /// Which replica of a row this is; nil for a row without replicas. Only a table in force has replicas: a
        /// manifest has their row once.
        public var replica: ReplicaName?
        /// The nodes on which the module runs.
        public var placement = Placement.here
        /// Whether the module may say `auth: skip`.
        public var trusted = false
        /// Whether the app ends if the module can't be started.
        public var required = false

        public init(name: String) { self.name = name }
    }

    public enum Start: String, Sendable {
        case eager, async
        case onDemand = "on-demand"
        case manual
    }
    public enum Restart: String, Sendable {
        case always
        case onFailure = "on-failure"
        case never
    }
    public enum Replace: String, Sendable { case wait, overlap }
    public enum Keep: String, Sendable { case all, latest }
    /// Whether a retained broadcast ends with its sender's session, or with the app.
    public enum Retained: String, Sendable { case session, app }

    /// A URL mapping, written as `"moments.store/dump": Storage/dump`.
    public struct URLMapping: Sendable, Equatable {
        /// In lower case.
        public var host: String
        /// Starts with a slash.
        public var path: String
        /// `Interface/action`, without the suffix `Router`.
        public var to: String
        /// Whether other apps may open it (`openableBy`).
        public var isPublic: Bool
        public init(host: String, path: String, to: String, isPublic: Bool = false) {
            self.host = host
            self.path = path
            self.to = to
            self.isPublic = isPublic
        }

        /// The two parts of `to`; nil if it doesn't have exactly two.
        public var target: (interface: String, action: String)? {
            let parts = to.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    /// A notification that a module observes from its start on.
    public struct Observed: Sendable, Equatable {
        /// The notification's name, or a pattern of names.
        public var name: String
        /// Whether it is a pattern (`NamePattern`).
        public var isPattern: Bool
        public var object: String?
        public var keep: Keep
        /// Whether one replica of the observer's row gets each notice, instead of all.
        public var share: Bool
        public init(
            name: String, isPattern: Bool = false, object: String? = nil, keep: Keep = .all, share: Bool = false
        ) {
            self.name = name
            self.isPattern = isPattern
            self.object = object
            self.keep = keep
            self.share = share
        }

        /// Whether both get the same notices.
        public func isSame(as other: Self) -> Bool {
            name == other.name && isPattern == other.isPattern && object == other.object
        }

        /// Whether it is of notifications of this name, whatever their objects.
        public func isOf(_ name: String) -> Bool {
            isPattern ? NamePattern.matches(self.name, name) : self.name == name
        }
    }

    /// The notifications that a module reports to one other module.
    public struct Reported: Sendable, Equatable {
        public var module: String
        public var names: [String]
        public init(module: String, names: [String]) {
            self.module = module
            self.names = names
        }
    }

    /// A required interface that another, provided interface serves.
    public struct Adapter: Sendable, Equatable {
        /// The interface that a caller asks for.
        public var name: String
        /// The interface that some module provides.
        public var to: String
        public var actions: [AdaptedAction] = []
        /// The renamed notices, with the provider's name in `from`.
        public var notices: [Rename] = []
        public init(name: String, to: String) {
            self.name = name
            self.to = to
        }
    }

    public struct AdaptedAction: Sendable, Equatable {
        public var name: String
        public var to: String
        /// The renamed members, with the caller's name in `from`.
        public var params: [Rename] = []
        /// The renamed members of the result, with the provider's name in `to`: `{ok: done}` is
        /// stored as the manifest has it.
        public var result: [Rename] = []
        public init(name: String, to: String) {
            self.name = name
            self.to = to
        }
    }

    public struct Rename: Sendable, Equatable {
        public var from: String
        public var to: String
        public init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }
}
