/// The end of a session, as the broker is told (`bus/nodeLost`).
public struct NodeLoss: Equatable, Sendable {
    /// The number of bytes of the broker's stream that were ever published.
    public var sent: UInt64
    public var ending: SessionEnding

    public init(sent: UInt64, ending: SessionEnding) {
        self.sent = sent
        self.ending = ending
    }
}
