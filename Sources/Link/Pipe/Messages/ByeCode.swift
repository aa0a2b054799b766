/// Why a link says that a session is over; an extensible code of `a-z` and `-`, 1 to 32 bytes.
public struct ByeCode: RawRepresentable, Equatable, Sendable {
    public let rawValue: String

    /// Returns nil for text that isn't a code.
    public init?(rawValue: String) {
        guard (1...32).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") })
        else { return nil }
        self.rawValue = rawValue
    }

    private init(_ code: StaticString) { rawValue = "\(code)" }

    /// The link ends.
    public static let shuttingDown = ByeCode("shutting-down")
    /// The link's broker closed the connection of the other node, or could not be connected to.
    public static let brokerClosed = ByeCode("broker-closed")
    /// Nothing was heard of the other link for too long, or it heard nothing.
    public static let lost = ByeCode("lost")
    /// The other link has proposed another session.
    public static let replaced = ByeCode("replaced")
    /// A piece or a hello belongs to no session that the link still has.
    public static let unknownSession = ByeCode("unknown-session")
}
