/// The 32 bytes in front of the bytes of a piece, which is one message of the carrier.
///
///     0     1       2       4         8         16       24    32
///     | ver | flags | probe | waiting | session | offset | ack | bytes …
///
/// Numbers are big-endian. A piece may be empty: it is then an acknowledgement, a sign of life, or
/// both. The offset of an empty piece is the end of all bytes published so far, which shows the
/// receiver a loss at the end of the stream.
public struct PieceHeader: Equatable, Sendable {
    /// What a piece asks for or answers.
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A piece was lost: send again from the first byte that the sender of this piece misses.
        public static var wantsResend: Flags { Flags(rawValue: 1) }
        /// The bytes were published before.
        public static var isResend: Flags { Flags(rawValue: 2) }
        /// Answer at once, with the same `probe`.
        public static var asks: Flags { Flags(rawValue: 4) }
        /// The piece answers the piece with this `probe`.
        public static var answers: Flags { Flags(rawValue: 8) }
        static var all: Flags { Flags(rawValue: 15) }
    }

    /// The version of this form.
    public static let version: UInt8 = 1
    /// The length of the header, in bytes.
    public static let size = 32
    /// The most bytes that a piece carries.
    public static let largestPayload = 64 << 10

    public var flags: Flags = []
    /// The number of a question and of its answer; 0 in other pieces.
    public var probe: UInt16 = 0
    /// The number of bytes after `ack` that the sender of this piece has received, and that its
    /// broker's socket has not taken yet. The first byte it misses is at `ack + waiting`.
    public var waiting: UInt32 = 0
    /// The number agreed in the handshake.
    public var session: UInt64
    /// The place of the first byte in the stream.
    public var offset: UInt64 = 0
    /// The number of bytes that the socket of the sender's broker has taken.
    public var ack: UInt64 = 0

    /// The place of the first byte that the sender of this piece misses.
    public var wanted: UInt64 { ack + UInt64(waiting) }

    public init(session: UInt64) { self.session = session }

    /// Reads the header of a piece. The bytes after it are its payload.
    /// - Throws: if it isn't a piece of this version, or contradicts itself.
    public init(reading piece: UnsafeRawBufferPointer) throws(PieceError) {
        guard piece.count >= Self.size else { throw .tooShort(piece.count) }
        guard piece.count <= Self.size + Self.largestPayload else { throw .tooLong(piece.count) }
        guard piece[0] == Self.version else { throw .version(piece[0]) }
        flags = Flags(rawValue: piece[1])
        probe = UInt16(bigEndian: piece.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        waiting = UInt32(bigEndian: piece.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        session = UInt64(bigEndian: piece.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        offset = UInt64(bigEndian: piece.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        ack = UInt64(bigEndian: piece.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        guard Self.Flags.all.isSuperset(of: flags) else { throw .flags(flags.rawValue) }
        let probes = flags.intersection([.asks, .answers])
        guard probes != [.asks, .answers], probes.isEmpty == (probe == 0) else { throw .probe(probe) }
        let longest = UInt64(PipeSettings.largestWindow)
        guard waiting <= longest, offset <= Self.lastPlace, ack <= Self.lastPlace else { throw .place }
    }

    /// The last place that a stream can have; far from the end of the numbers, so that sums of
    /// places need no check.
    static let lastPlace: UInt64 = 1 << 62

    /// Writes the header.
    /// - Parameter memory: at least `size` bytes.
    public func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: Self.version, as: UInt8.self)
        memory.storeBytes(of: flags.rawValue, toByteOffset: 1, as: UInt8.self)
        memory.storeBytes(of: probe.bigEndian, toByteOffset: 2, as: UInt16.self)
        memory.storeBytes(of: waiting.bigEndian, toByteOffset: 4, as: UInt32.self)
        memory.storeBytes(of: session.bigEndian, toByteOffset: 8, as: UInt64.self)
        memory.storeBytes(of: offset.bigEndian, toByteOffset: 16, as: UInt64.self)
        memory.storeBytes(of: ack.bigEndian, toByteOffset: 24, as: UInt64.self)
    }
}
