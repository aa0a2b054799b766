/// What the broker knows of an app before anyone connects: the manifest's
/// share that rules are made of, without what only the launcher needs
/// (executables, folders, environments).
///
/// A plain value. The launcher makes it from the manifest and hands it to the
/// broker as JSON; `AppTable+JSON.swift` has both directions.
public struct AppTable: Sendable, Equatable {
    public var app: String
    public var env = "release"
    public var schemes: [String] = []
    /// The level table, foundation first; the index is the rank.
    public var levels = ["basic", "middle", "topout"]
    /// Any JSON; each module gets it in hello's answer.
    public var settings: JSON = .object([])
    /// Any JSON; each module gets it in hello's answer.
    public var launchOptions: JSON = .object([])
    public var calls = CallPolicy.any
    /// The interface asked about `auth: true` actions.
    public var authorizer: String?
    /// Nil where no guests are allowed.
    public var guests: Guests?
    /// The user ids of operators beside the broker's own user and root.
    public var operators: [UInt32] = []
    /// The socket's group, where the app has one.
    public var group: UInt32?
    public var limits = Limits()
    /// For each of setUp and initialize, in milliseconds.
    public var startup: UInt64 = 30_000
    /// For hello, from connecting, in milliseconds.
    public var hello: UInt64 = 10_000
    /// For a frame, from its first byte, in milliseconds.
    public var assembly: UInt64 = 60_000
    /// In the manifest's order.
    public var modules: [Row] = []
    public var adapters: [Adapter] = []

    public init(app: String) { self.app = app }

    /// Which interfaces a module may call.
    public enum CallPolicy: String, Sendable { case any, layered, declared }

    /// What a module that no row names gets.
    public struct Guests: Sendable, Equatable {
        /// The rank of their level.
        public var rank: Int
        /// How many may be connected at once.
        public var most: Int
        public init(rank: Int, most: Int) {
            self.rank = rank
            self.most = most
        }
    }
}
