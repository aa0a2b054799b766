internal import Glibc

/// A peer's connection to its broker, which takes bytes and returns frames.
package protocol PeerLink: AnyObject {
    /// Whether the broker's side has ended, or this side has closed.
    var isAtEnd: Bool { get }
    /// Whether this side has closed.
    var isClosed: Bool { get }
    /// The number of bytes of a frame that is not complete yet.
    var unfinished: Int { get }

    /// Sends the bytes, until the deadline passes or the broker closes.
    /// - Returns: the number of bytes that were sent.
    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int
    /// Sends the bytes that the kernel takes first, and descriptors with the first one.
    /// - Returns: the number of bytes that were sent, or a negative errno.
    func send(_ bytes: [UInt8], with descriptors: [Int32], until deadline: Deadline) -> Int
    /// Takes in what has arrived. Call it when there is something.
    func read()
    /// Returns the next complete frame that was taken in; nil if there is none.
    func nextFrame() throws -> ReceivedFrame?
    /// Ends this side's writing; reading continues.
    func endWriting()
    func close()
}

extension PeerLink {
    /// A link without a socket carries none.
    package func send(_ bytes: [UInt8], with descriptors: [Int32], until deadline: Deadline) -> Int {
        -Int(EOPNOTSUPP)
    }
}

/// The bytes that arrived from a broker, split into frames.
package struct FrameInput {
    private var bytes: [UInt8] = []
    private var consumed = 0

    package init() {}

    /// The number of bytes of a frame that is not complete yet.
    package var unfinished: Int { bytes.count - consumed }

    package mutating func append(_ further: UnsafeRawBufferPointer) { bytes.append(contentsOf: further) }

    /// Returns the next complete frame; nil if there is none.
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
