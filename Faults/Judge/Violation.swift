public import FaultRecord

/// A promise of the bus that didn't hold in a run.
public struct Violation: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// A request has no final answer, and its process lived to see one.
        case lost
        /// A request was answered twice or run twice, or a process was set up twice.
        case doubled
        /// An answer isn't true: its `ran`, its reply or its code.
        case wrongVerdict = "wrong verdicts"
        /// A notice is missing, came again or came out of order, and the observer was not
        /// notified.
        case silentGap = "silent gaps"
        /// A notice of another node is missing since two nodes were parted, and the observer was not
        /// notified.
        case gapAfterParting = "gaps after a lost node"
        /// A handler began before that of an earlier request.
        case outOfOrder = "out of order"
        /// A request with a key went to another replica than the one that had the key.
        case wrongReplica = "wrong replicas"
        /// A request failed, and no fault hit anything that it involves.
        case unexplainedFailure = "unexplained failures"
        /// A process or a session ended without a reason.
        case unexplainedEnd = "unexplained ends"
    }

    public let kind: Kind
    /// The finding, as a sentence.
    public let text: String
    /// The request and the process that it is about, by their numbers.
    public var request: RequestNumber?
    public var process: UInt32?
    /// The time in nanoseconds; 0 if it has no meaning.
    public var time: UInt64 = 0
}
