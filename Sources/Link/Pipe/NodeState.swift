/// What this node knows about another one.
public struct NodeState: Equatable, Sendable {
    public enum Word: String, Sendable {
        case never, up, stalled, lost, mismatch
    }

    public var word: Word
    /// When it became so, in nanoseconds on the pipe's clock.
    public var since: UInt64
    /// Why, for people; empty if it is up.
    public var why: String
}
