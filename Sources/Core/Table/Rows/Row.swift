extension AppTable {
    /// A module's entry in the manifest, as far as the broker needs it.
    public struct Row: Sendable, Equatable {
        public var name: String
        /// The rank of its level.
        public var rank = 0
        /// Higher starts first.
        public var priority = 0
        public var start = Start.eager
        public var restart = Restart.onFailure
        public var replace = Replace.wait
        /// From tearDown to SIGTERM, in milliseconds.
        public var stop: UInt64 = 5_000
        /// On-demand: stop after so long without a request, in milliseconds.
        public var idle: UInt64?
        /// No answer to a ping for so long: restart; in milliseconds.
        public var ping: UInt64?
        /// The user it must run as, where its row names one.
        public var user: UInt32?
        /// `backoff.reset`: how long a death counts, in milliseconds.
        public var backoffReset: UInt64 = 60_000
        /// Interfaces, the suffix `Router` taken off.
        public var provides: [String] = []
        public var requires: [String] = []
        public var urls: [URLMapping] = []
        public var observes: [Observed] = []
        public var broadcasts: [String] = []
        public var reports: [Reported] = []
        public var emits: [String] = []
        /// May say `auth: skip`.
        public var trusted = false

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

    /// `"moments.store/dump": Storage/dump`
    public struct URLMapping: Sendable, Equatable {
        /// In lower case.
        public var host: String
        /// Starts with a slash.
        public var path: String
        /// `Interface/action`, the suffix `Router` taken off.
        public var to: String
        public init(host: String, path: String, to: String) {
            self.host = host
            self.path = path
            self.to = to
        }

        /// Both parts of `to`; nil where it has no two.
        public var target: (interface: String, action: String)? {
            let parts = to.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    /// What a module observes from the moment that it is there.
    public struct Observed: Sendable, Equatable {
        public var name: String
        public var object: String?
        public var keep: Keep
        public init(name: String, object: String? = nil, keep: Keep = .all) {
            self.name = name
            self.object = object
            self.keep = keep
        }
    }

    /// What a module reports to one other.
    public struct Reported: Sendable, Equatable {
        public var module: String
        public var names: [String]
        public init(module: String, names: [String]) {
            self.module = module
            self.names = names
        }
    }

    /// A required interface met by another, provided one.
    public struct Adapter: Sendable, Equatable {
        /// What a caller asks for.
        public var name: String
        /// What some module provides.
        public var to: String
        public var actions: [AdaptedAction] = []
        /// Notices renamed: the provider's name first.
        public var notices: [Rename] = []
        public init(name: String, to: String) {
            self.name = name
            self.to = to
        }
    }

    public struct AdaptedAction: Sendable, Equatable {
        public var name: String
        public var to: String
        /// The caller's member name first.
        public var params: [Rename] = []
        /// The provider's member name in `to`'s place: `{ok: done}` reads as
        /// written in the manifest.
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
