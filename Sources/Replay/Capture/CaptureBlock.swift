/// The blocks of a capture file, in the format pcapng (draft-ietf-opsawg-pcapng), which Wireshark reads. Its packets
/// are JSON texts. docs/recordings.md describes them.
public enum CaptureBlock {
    /// LINKTYPE_USER0, the first of the types that everybody may use for packets of their own.
    static let linkType: UInt32 = 147
    static let section: UInt32 = 0x0A0D_0D0A
    static let byteOrder: UInt32 = 0x1A2B_3C4D
    static let interface: UInt32 = 1
    static let packet: UInt32 = 6
    /// The bytes of a block beside its content: its type, and its length twice.
    static let frame = 12
    /// The bytes of a packet's block before the packet.
    static let packetHead = 20
    /// Longer blocks aren't read. The longest packet has a body of 64 KiB, and a header of at most 1 MiB that may have
    /// been escaped.
    static let longest: UInt32 = 16 << 20

    /// Returns what a file begins with.
    /// - Parameters:
    ///   - program: who writes it.
    ///   - bus: where the packets come from.
    public static func beginning(program: String, bus: String) -> [UInt8] {
        var section: [UInt8] = []
        section.append(word: byteOrder)
        section.append(half: 1)
        section.append(half: 0)
        // The section's length isn't known.
        section.append(word: .max)
        section.append(word: .max)
        section.append(option: 4, program)
        section.append(word: 0)
        var interface: [UInt8] = []
        interface.append(word: linkType)
        // Packets have any length.
        interface.append(word: 0)
        interface.append(option: 2, bus)
        interface.append(word: 0)
        return block(Self.section, section) + block(Self.interface, interface)
    }

    /// Returns the block of one packet.
    /// - Parameter microseconds: its time, since 1970.
    public static func packet(_ bytes: some Collection<UInt8>, at microseconds: UInt64) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(packetHead + bytes.count + 3)
        content.append(word: 0)
        content.append(word: UInt32(microseconds >> 32))
        content.append(word: UInt32(truncatingIfNeeded: microseconds))
        content.append(word: UInt32(bytes.count))
        content.append(word: UInt32(bytes.count))
        content.append(padded: bytes)
        return block(packet, content)
    }

    private static func block(_ type: UInt32, _ content: [UInt8]) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(content.count + frame)
        block.append(word: type)
        block.append(word: UInt32(content.count + frame))
        block += content
        block.append(word: UInt32(content.count + frame))
        return block
    }
}

extension [UInt8] {
    fileprivate mutating func append(word: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    fileprivate mutating func append(half: UInt16) {
        append(UInt8(truncatingIfNeeded: half))
        append(UInt8(truncatingIfNeeded: half >> 8))
    }

    /// Appends bytes, and zeros up to a multiple of four.
    fileprivate mutating func append(padded bytes: some Collection<UInt8>) {
        self += bytes
        for _ in 0..<(-bytes.count & 3) { append(0) }
    }

    fileprivate mutating func append(option: UInt16, _ text: String) {
        let bytes = Array(text.utf8.prefix(256))
        append(half: option)
        append(half: UInt16(bytes.count))
        append(padded: bytes)
    }
}
