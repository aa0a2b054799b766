/// The rules that the level table makes, as ranks: the foundation's is 0.
public enum LevelRule {
    /// A broadcast goes down the table: to later levels only.
    @inlinable
    public static func broadcastReaches(from sender: Int, to observer: Int) -> Bool { observer > sender }

    /// A report goes up the table: to its own level or an earlier one.
    @inlinable
    public static func reportMayGo(from sender: Int, to target: Int) -> Bool { target <= sender }

    /// Under `calls: layered`, a module calls its own level or an earlier one.
    @inlinable
    public static func callMayGo(from caller: Int, to owner: Int) -> Bool { owner <= caller }
}
