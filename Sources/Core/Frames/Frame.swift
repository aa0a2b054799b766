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
