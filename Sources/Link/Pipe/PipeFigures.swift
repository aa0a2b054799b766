/// What a pipe has counted since its start.
public struct PipeFigures: Equatable, Sendable {
    /// Sessions that began.
    public var sessions: UInt64 = 0
    /// Pieces of a session that were taken.
    public var received: UInt64 = 0
    /// Bytes that were published again.
    public var resent: UInt64 = 0
    /// Pieces that were dropped because bytes before them were missing.
    public var gaps: UInt64 = 0
    /// Pieces with bytes, all of which had come before.
    public var duplicates: UInt64 = 0
    /// Pieces of another session.
    public var stale: UInt64 = 0
    /// Messages that are no pieces, and pieces that break the rules.
    public var badPieces: UInt64 = 0
    /// Control messages that can't be read, or that the other link may not send.
    public var badControls: UInt64 = 0

    public init() {}
}
