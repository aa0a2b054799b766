/// A whole frame in a buffer that it doesn't own, valid until the next read into it. At least
/// `ReadBuffer.slack` bytes after the header are readable.
public struct Frame {
    public let header: UnsafeRawBufferPointer
    public let body: UnsafeRawBufferPointer

    /// The bytes of both lengths, the header and the body.
    public var count: Int { 8 + header.count + body.count }

    @inlinable
    public init(header: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        self.header = header
        self.body = body
    }
}

/// The limits on a frame's lengths.
public struct FrameLimits: Sendable, Equatable {
    /// The limit on a frame's first length.
    public var frame: UInt32
    public var header: UInt32

    public init(frame: UInt32, header: UInt32) {
        self.frame = frame
        self.header = header
    }

    /// The limits that a client of a broker with these limits must accept: up to 1 KiB more for
    /// each.
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

/// A sequence of bytes that isn't a frame, which ends the connection.
public enum FrameError: Error, Sendable, Equatable {
    /// The two lengths contradict each other.
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
