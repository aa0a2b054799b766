/// What a run was made of, for its table.
public struct Summary: Sendable {
    /// Requests by kind, as `RequestKind` numbers them.
    public var sent: [UInt8: Int] = [:]
    /// Final answers by code and `ran`: `code << 8 | ran`.
    public var answers: [UInt16: Int] = [:]
    /// Requests that their caller gave up, and those that ended with their process.
    public var givenUp = 0
    public var out = 0
    public var broadcasts = 0
    public var notices = 0
    /// Notices that newer ones replaced, as observers were told.
    public var missed = 0
    public var processes = 0
    /// By `FaultKind`.
    public var faults: [UInt8: Int] = [:]
    /// Nanoseconds from a request to its answer.
    public var longestWait: UInt64 = 0
    /// Nanoseconds from the broker's death to the last module's next session.
    public var longestReturn: UInt64 = 0
    /// Nanoseconds in which nobody got an answer, around a replacement of the broker.
    public var longestHandOver: UInt64 = 0
    /// The same around the broker's death.
    public var longestOutage: UInt64 = 0
}
