/// A peer's way to its broker: bytes go in, and frames come out.
package protocol PeerLink: AnyObject {
    /// The broker's side has ended, or this side has closed.
    var isAtEnd: Bool { get }
    /// This side has closed.
    var isClosed: Bool { get }
    /// Bytes of a frame that is not whole yet.
    var unfinished: Int { get }

    /// Sends all of it, or says how much went before the deadline passed or the broker closed.
    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int
    /// Takes in what is there. Called where something is.
    func read()
    /// The next whole frame of what was taken in.
    func nextFrame() throws -> ReceivedFrame?
    /// Says that nothing more comes; reading goes on.
    func endWriting()
    func close()
}

/// What has come from a broker, and the frames in it.
package struct FrameInput {
    private var bytes: [UInt8] = []
    private var consumed = 0

    package init() {}

    /// Bytes of a frame that is not whole yet.
    package var unfinished: Int { bytes.count - consumed }

    package mutating func append(_ further: UnsafeRawBufferPointer) { bytes.append(contentsOf: further) }

    /// The next whole frame.
    package mutating func nextFrame() throws -> ReceivedFrame? {
        guard unfinished >= 8 else { return nil }
        let length = FrameBytes.integer(bytes, at: consumed)
        let header = FrameBytes.integer(bytes, at: consumed + 4)
        guard length >= 4, header <= length - 4 else {
            throw TestFailure("the broker sent a frame of \(length) bytes with a header of \(header)")
        }
        guard unfinished >= 4 + length else { return nil }
        let start = consumed + 8
        let frame = try ReceivedFrame(
            header: Array(bytes[start..<(start + header)]), body: Array(bytes[(start + header)..<(start + length - 4)]))
        consumed += 4 + length
        if consumed == bytes.count || consumed > 1 << 20 {
            bytes.removeFirst(consumed)
            consumed = 0
        }
        return frame
    }
}
