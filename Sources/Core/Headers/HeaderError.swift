/// A header that is no header: `bad-header`.
public struct HeaderError: Error, Sendable, Equatable {
    /// What is wrong, as the end of a sentence about the header.
    public var reason: String
    /// Where, in bytes from the header's start.
    public var offset: Int

    public init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var message: String {
        "the header \(reason) (byte \(offset)): send one JSON object with the members of the protocol's section 3"
    }
}
