/// The broker's view of an app before any peer connects. It is the part of the manifest that
/// defines rules, without what only the launcher needs (executables, folders, environments).
///
/// A plain value. The launcher makes it from the manifest and passes it to the broker as JSON;
/// `AppTable+JSON.swift` has both directions.
public struct AppTable: Sendable, Equatable {
    public var app: String
    public var env = "release"
    public var schemes: [String] = []
    /// The level table, foundation first; the index is the rank.
    public var levels = ["basic", "middle", "topout"]
    /// The values of settings for all modules whose row has none of its own. Any JSON: one that isn't
    /// an object goes to modules that declare no settings.
    public var settings: JSON = .object([])
    /// Any JSON; the answer to hello passes it to each module.
    public var launchOptions: JSON = .object([])
    public var calls = CallPolicy.any
    /// Whether the broker compares the versions of providers and of modules that require them.
    public var contracts = Contracts.off
    /// The interface that is asked about `auth: true` actions.
    public var authorizer: String?
    /// Nil if guests are not allowed.
    public var guests: Guests?
    /// The user ids of operators, besides the broker's own user and root.
    public var operators: [UInt32] = []
    /// Who may open the public URLs from other apps; nil for nobody.
    public var openableBy: OpenableBy?
    /// The socket's group, if the app has one.
    public var group: UInt32?
    public var limits = Limits()
    /// The time limit of setUp and of initialize each, in milliseconds.
    public var startup: UInt64 = 30_000
    /// The time limit from connecting to hello, in milliseconds.
    public var hello: UInt64 = 10_000
    /// The time limit of a frame from its first byte, in milliseconds.
    public var assembly: UInt64 = 60_000
    /// The app's machines in the manifest's order; empty if it has one machine, which has no name.
    public var nodes: [Node] = []
    /// The node on which this broker runs. Nil without `nodes`, and in a table that a manifest is
    /// judged by.
    public var node: String?
    /// How long a request waits for a node that has not joined yet, in milliseconds.
    public var join: UInt64 = 0
    /// The rows of all nodes, in the manifest's order.
    public var modules: [Row] = []
    public var adapters: [Adapter] = []

    public init(app: String) { self.app = app }

    /// The policy on which interfaces a module may call.
    public enum CallPolicy: String, Sendable { case any, layered, declared }

    /// Whether versions of interfaces are compared.
    public enum Contracts: String, Sendable { case off, enforced }

    /// The terms for guests, which are modules without a row.
    public struct Guests: Sendable, Equatable {
        /// The rank of a guest whose user `users` doesn't name.
        public var rank: Int
        /// The most guests that may be connected at once.
        public var most: Int
        /// The ranks of guests that run as these users.
        public var users: [UInt32: Int] = [:]
        /// The earliest ranks that guests of these names get.
        public var names: [String: Int] = [:]
        public init(rank: Int, most: Int) {
            self.rank = rank
            self.most = most
        }

        /// Returns the rank of a guest. A guest chooses its name, but not its user. So a name only
        /// narrows what the user gives.
        /// - Parameter user: the user that it runs as; nil for one that `users` doesn't name.
        public func rank(of name: String, user: UInt32?) -> Int {
            max(user.flatMap { users[$0] } ?? rank, names[name] ?? 0)
        }

        /// Returns the earliest rank that a guest of this name may have.
        public func earliestRank(of name: String) -> Int {
            max(users.values.min().map { min($0, rank) } ?? rank, names[name] ?? 0)
        }

        /// The latest rank that a guest may have.
        public var latestRank: Int { max(users.values.max() ?? 0, names.values.max() ?? 0, rank) }
    }
}

/// Advice about the level table. A module that reports to many modules of its own level belongs in
/// an earlier one. From there, a single broadcast reaches them all.
///
/// `strata check` gives it from what rows and modules declare; `strata levels` also uses what it
/// has seen on the bus.
public struct LevelAdvice: Sendable, Equatable {
    /// The number of own-level receivers from which on a module should broadcast instead.
    public static let many = 3

    /// What was found, and what to do.
    public let message: String

    /// - Parameters:
    ///   - module: the module that reports.
    ///   - rank: the rank of its level.
    ///   - level: the name of its level.
    ///   - declared: the modules of that level to which it declares reports.
    ///   - seen: the modules of that level to which it was seen to report.
    /// - Returns: nil if there are fewer than `many`.
    public init?(_ module: String, rank: Int, level: String, declared: [String], seen: [String] = []) {
        let undeclared = seen.filter { !declared.contains($0) }
        let count = declared.count + undeclared.count
        guard count >= Self.many else { return nil }
        var parts: [String] = []
        if !declared.isEmpty { parts.append(declared.joined(separator: ", ")) }
        if !undeclared.isEmpty { parts.append("seen, not declared: \(undeclared.joined(separator: ", "))") }
        let move = rank == 0 ? "move those to a later level" : "move \(module) to an earlier level"
        message =
            "\(module) reports to \(count) modules of its own level, \(level) (\(parts.joined(separator: "; "))): "
            + "\(move), and one broadcast reaches all"
    }
}
