public import FaultRecord

/// Something that the bus promises and that didn't hold in a run.
public struct Violation: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A request of a process that lived to see it has no final answer.
        case lost
        /// Answered twice, or run twice.
        case doubled
        /// The answer isn't true: its `ran`, its reply, or its code.
        case wrongVerdict = "wrong verdicts"
        /// A notice is missing, is there again, or came out of order, and nobody
        /// was told.
        case silentGap = "silent gaps"
        /// A request failed, and nothing was done to those whom it concerns.
        case unexplainedFailure = "unexplained failures"
        /// A process or a session ended for no reason.
        case unexplainedEnd = "unexplained ends"
    }

    public let kind: Kind
    /// What was found, as a sentence.
    public let text: String
    /// The records that it is about: requests by number, processes by theirs.
    public var request: RequestNumber?
    public var process: UInt32?
    /// When, in nanoseconds; 0 where that has no meaning.
    public var time: UInt64 = 0
}
