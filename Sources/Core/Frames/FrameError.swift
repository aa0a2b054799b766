/// Bytes that are no frame; each ends the connection.
public enum FrameError: Error, Sendable, Equatable {
    /// Lengths that contradict each other.
    case contradiction(frame: UInt32, header: UInt32)
    case frameTooLarge(UInt32, limit: UInt32)
    case headerTooLarge(UInt32, limit: UInt32)

    public var code: ErrorCode {
        switch self {
        case .contradiction: .badFrame
        case .frameTooLarge, .headerTooLarge: .tooLarge
        }
    }

    public var message: String {
        switch self {
        case .contradiction(let frame, _) where frame < 4:
            "a frame's first length was \(frame), and it counts at least the 4 bytes of the header's length: "
                + "send both lengths as big-endian 32-bit integers"
        case .contradiction(let frame, let header):
            "a frame of \(frame) bytes said that its header has \(header), more than the \(frame &- 4) that "
                + "are left: send 4 + header + body first, then the header's length"
        case .frameTooLarge(let frame, let limit):
            "a frame of \(frame) bytes was announced, and the limit is \(limit): send less at once, or raise "
                + "limits.frame in the manifest"
        case .headerTooLarge(let header, let limit):
            "a header of \(header) bytes was announced, and the limit is \(limit): put data into the body, or "
                + "raise limits.header in the manifest"
        }
    }
}
