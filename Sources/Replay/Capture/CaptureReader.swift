/// Reads the packets of a capture file, whose bytes come in pieces of any size. Programs that work on such files may
/// have added blocks, which it passes over.
public struct CaptureReader {
    /// Why the bytes aren't a capture of a bus.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private var bytes: [UInt8] = []
    private var taken = 0
    /// Whether the numbers of this section begin with their highest byte; nil before the first section.
    private var isBigEndian: Bool?
    /// Where the block begins that is read.
    private var start = 0
    /// How many of the file's bytes came before `bytes`.
    private var passed = 0

    public init() {}

    /// Adds the next bytes of the file.
    public mutating func add(_ more: some Collection<UInt8>) {
        bytes.removeFirst(taken)
        passed += taken
        taken = 0
        bytes += more
    }

    /// Whether the last block isn't whole: whoever wrote the file was ended in it.
    public var isCut: Bool { taken < bytes.count }

    /// Returns the next packet; nil if more bytes are needed.
    public mutating func nextPacket() throws(Failure) -> ArraySlice<UInt8>? {
        while let block = try nextBlock() {
            switch block.type {
            case CaptureBlock.interface:
                let link = block.content.count >= 2 ? number(at: block.content.startIndex, bytes: 2) : 0
                guard link == CaptureBlock.linkType else {
                    throw failure("its packets have the link type \(link); those of a bus have 147")
                }
            case CaptureBlock.packet:
                let content = block.content.startIndex
                guard block.content.count >= CaptureBlock.packetHead else { throw failure("a packet is too short") }
                let count = Int(number(at: content + 12, bytes: 4))
                guard count <= block.content.count - CaptureBlock.packetHead else {
                    throw failure("a packet says that it has \(count) bytes, and its block is shorter")
                }
                return block.content[(content + CaptureBlock.packetHead)...].prefix(count)
            default: break
            }
        }
        return nil
    }

    private mutating func nextBlock() throws(Failure) -> (type: UInt32, content: ArraySlice<UInt8>)? {
        start = taken
        guard bytes.count - taken >= CaptureBlock.frame else { return nil }
        // A section's type is the same in both byte orders, and its third word says which one it has.
        if isBigEndian == nil || number(at: taken, bytes: 4) == CaptureBlock.section {
            let order = Array(bytes[(taken + 8)..<(taken + 12)])
            guard number(at: taken, bytes: 4) == CaptureBlock.section,
                order == [0x4D, 0x3C, 0x2B, 0x1A] || order == [0x1A, 0x2B, 0x3C, 0x4D]
            else { throw failure("it isn't a pcapng file") }
            isBigEndian = order[0] == 0x1A
        }
        let (type, length) = (number(at: taken, bytes: 4), number(at: taken + 4, bytes: 4))
        guard (UInt32(CaptureBlock.frame)...CaptureBlock.longest).contains(length), length % 4 == 0 else {
            throw failure("a block says that it has \(length) bytes: 12 to 16 MiB are read, in words of four")
        }
        guard bytes.count - taken >= Int(length) else { return nil }
        let end = taken + Int(length) - 4
        guard number(at: end, bytes: 4) == length else { throw failure("a block's two lengths differ") }
        defer { taken = end + 4 }
        return (type, bytes[(taken + 8)..<end])
    }

    private func number(at index: Int, bytes count: Int) -> UInt32 {
        let part = bytes[index..<(index + count)]
        func joined(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
        return isBigEndian == true ? joined(part) : joined(part.reversed())
    }

    private func failure(_ reason: String) -> Failure { Failure(description: "at byte \(passed + start): \(reason)") }
}
