/// A whole frame in somebody else's buffer, valid until more is read into it.
/// At least `ReadBuffer.slack` bytes behind the header can be read.
public struct Frame {
    public let header: UnsafeRawBufferPointer
    public let body: UnsafeRawBufferPointer

    /// Both lengths' bytes, header and body.
    public var count: Int { 8 + header.count + body.count }

    @inlinable
    public init(header: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.header = header
        self.body = body
    }
}

/// The lengths that a frame may have.
public struct FrameLimits: Sendable, Equatable {
    /// Of a frame's first length.
    public var frame: UInt32
    public var header: UInt32

    public init(frame: UInt32, header: UInt32) {
        self.frame = frame
        self.header = header
    }

    /// What a client of a broker with these limits must take: up to 1 KiB more
    /// in both.
    public var ofBroker: FrameLimits {
        FrameLimits(frame: frame.addingSaturating(1024), header: header.addingSaturating(1024))
    }
}

extension UInt32 {
    fileprivate func addingSaturating(_ other: UInt32) -> UInt32 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

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
