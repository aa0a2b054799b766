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
