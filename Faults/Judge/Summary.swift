/// The numbers of a run, for its table.
public struct Summary: Sendable {
    /// The number of requests by kind, as `RequestKind` numbers them.
    public var sent: [UInt8: Int] = [:]
    /// The number of final answers by code and `ran`, as `code << 8 | ran`.
    public var answers: [UInt16: Int] = [:]
    /// The requests that their caller gave up, and the requests that ended with their process.
    public var givenUp = 0
    public var out = 0
    public var broadcasts = 0
    public var notices = 0
    /// The notices of observations that replicas share.
    public var shared = 0
    /// The notices that newer ones replaced, as observers were notified.
    public var missed = 0
    public var processes = 0
    /// The requests and the notices that crossed from one node to another, and the requests among
    /// them that failed.
    public var crossed = 0
    public var crossedNotices = 0
    public var crossedFailures = 0
    /// The number of faults by `FaultKind`.
    public var faults: [UInt8: Int] = [:]
    /// The longest time from a request to its answer, in nanoseconds.
    public var longestWait: UInt64 = 0
    /// The longest time from the broker's death to the last module's next session, in
    /// nanoseconds.
    public var longestReturn: UInt64 = 0
    /// The longest time without any answer around a replacement of the broker, in nanoseconds.
    public var longestHandOver: UInt64 = 0
    /// The same around the broker's death.
    public var longestOutage: UInt64 = 0
}
