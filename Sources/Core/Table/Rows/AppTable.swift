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

/// Advice about the level table: a module that must report to many modules of its
/// own level belongs in an earlier one, from where one broadcast reaches them all.
///
/// `strata check` gives it from what rows and modules declare, `strata levels`
/// from what was seen on the bus as well.
public struct LevelAdvice: Sendable, Equatable {
    /// A module that reports to so many of its own level had better broadcast.
    public static let many = 3

    /// What was found, and what to do.
    public let message: String

    /// - Parameters:
    ///   - module: who reports.
    ///   - rank: its level's.
    ///   - level: its level's name.
    ///   - declared: modules of that level that it declares reports to.
    ///   - seen: those that it was seen to report to.
    /// - Returns: nil where they are few.
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
