internal import Glibc

/// Assembles frames from bytes that arrive in chunks of any size.
///
/// A turn consists of `space`, which says where to read to, `received`, `next` until it returns
/// nil, and `keepRest`. Meanwhile the bytes are in the shared buffer. A frame that is larger than a
/// turn has a buffer of its own. The lengths are checked against the limits before memory is taken
/// for a frame.
public struct FrameAssembler: ~Copyable {
    public var limits: FrameLimits

    /// The bytes kept between turns, in memory that this object owns; nil if there are none.
    private var rest: UnsafeMutableRawPointer?
    private var restCapacity = 0
    /// The number of bytes in `rest`, from its start.
    private var restCount = 0

    /// Whether the first frame of the last turn filled that turn, with a body no larger than a
    /// turn. The next frame is expected to be the same, and is read in one go.
    private var fillsTurns = false

    /// The memory that holds this turn's bytes, from `position` to `end`.
    @usableFromInline var region: UnsafeMutableRawPointer?
    @usableFromInline var position = 0
    @usableFromInline var end = 0

    /// Provides and takes back the memory of large frames. If nil, the memory is allocated, and
    /// freed at once.
    private let reclaimer: Reclaimer?

    public init(limits: FrameLimits, _ reclaimer: Reclaimer? = nil) {
        self.limits = limits
        self.reclaimer = reclaimer
    }

    deinit { if let rest { reclaimer.deallocate(rest, restCapacity + ReadBuffer.slack) } }

    /// Whether nothing is kept: no bytes of an unfinished frame, and no frames that `next` has not
    /// returned.
    public var isEmpty: Bool { restCount == 0 }

    /// The number of bytes kept between turns.
    public var keptCount: Int { restCount }

    /// The bytes kept between turns.
    public var kept: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: rest, count: restCount) }

    /// Keeps bytes that were read elsewhere. For a new assembler, between turns.
    public mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        // The memory is only copied from, never written to.
        region = UnsafeMutableRawPointer(mutating: start)
        end = bytes.count
        keepRest()
    }

    /// Returns the space for the next bytes, no more than a turn's worth.
    /// - Parameter most: the size of the space, unless a frame is known to fill a turn.
    public mutating func space(in shared: ReadBuffer, most: Int = ReadBuffer.turn) -> UnsafeMutableRawBufferPointer {
        if restCount == 0 {
            region = shared.base
            position = 0
            end = 0
            let room = fillsTurns && most == ReadBuffer.turn ? ReadBuffer.turn + ReadBuffer.mostLacking : most
            return UnsafeMutableRawBufferPointer(start: shared.base, count: room)
        }
        position = 0
        end = restCount
        if restCapacity > ReadBuffer.longestRest || restCount > ReadBuffer.longestRest {
            // A large frame is read into its own memory, up to its end.
            region = rest
            let room = min(restCapacity - restCount, most)
            return UnsafeMutableRawBufferPointer(start: rest! + restCount, count: room)
        }
        shared.base.copyMemory(from: rest!, byteCount: restCount)
        region = shared.base
        dropRest()
        return UnsafeMutableRawBufferPointer(start: shared.base + end, count: most)
    }

    /// Records how many bytes were read into the result of `space`.
    public mutating func received(_ count: Int) {
        end += count
        if fillsTurns { fillsTurns = lacking(from: ReadBuffer.turn) != nil }
    }

    /// Returns how many bytes the turn's first frame has beyond `count`; nil unless its body is no
    /// larger than a turn.
    private func lacking(from count: Int) -> Int? {
        guard position == 0, end >= 4, let region else { return nil }
        let lacking = 4 + Int(UInt32(bigEndian: region.loadUnaligned(as: UInt32.self))) - count
        return lacking > 0 && lacking <= ReadBuffer.mostLacking ? lacking : nil
    }

    /// Returns the space for the rest of this turn's only frame. Its body is no larger than a turn,
    /// but its lengths and header don't fit too. Nil if the turn has other frames, or its frame is
    /// complete.
    public mutating func spaceForRest() -> UnsafeMutableRawBufferPointer? {
        guard end == ReadBuffer.turn, let region, let lacking = lacking(from: end) else { return nil }
        fillsTurns = true
        return UnsafeMutableRawBufferPointer(start: region + end, count: lacking)
    }

    /// Continues with the kept bytes, without reading.
    public mutating func resume() {
        region = rest
        position = 0
        end = restCount
    }

    /// Returns the next whole frame of this turn; nil if more bytes are needed.
    @inlinable @inline(__always)
    public mutating func next() throws(FrameError) -> Frame? {
        let available = end &- position
        guard available >= 4 else { return nil }
        let start = region! + position
        let length = UInt32(bigEndian: start.loadUnaligned(as: UInt32.self))
        guard length >= 4 else { throw .contradiction(frame: length, header: 0) }
        guard length <= limits.frame else { throw .frameTooLarge(length, limit: limits.frame) }
        guard available >= 8 else { return nil }
        let headerLength = UInt32(bigEndian: (start + 4).loadUnaligned(as: UInt32.self))
        guard headerLength <= length - 4 else { throw .contradiction(frame: length, header: headerLength) }
        guard headerLength <= limits.header else {
            throw .headerTooLarge(headerLength, limit: limits.header)
        }
        let total = 4 + Int(length)
        guard available >= total else { return nil }
        position &+= total
        let header = UnsafeRawBufferPointer(start: start + 8, count: Int(headerLength))
        let body = UnsafeRawBufferPointer(
            start: start + 8 + Int(headerLength), count: total &- 8 &- Int(headerLength))
        return Frame(header: header, body: body)
    }

    /// Puts back the frame that `next` returned last, so that it is returned again later.
    public mutating func putBack(_ frame: Frame) { position -= frame.count }

    /// From this size on, in bytes, a long-lived rest gets pages of its own.
    private static let leastApart = 4 << 10

    /// Ends a turn and keeps what `next` has not returned.
    /// - Parameter forLong: whether reading pauses for a while. The rest then goes into its own
    ///   pages, which return to the system later, whatever is allocated meanwhile.
    public mutating func keepRest(forLong: Bool = false) {
        let left = end - position
        defer {
            region = nil
            position = 0
            end = 0
        }
        guard left > 0 else {
            if rest != nil { dropRest() }
            return
        }
        let start = region! + position
        let needed = max(left, announced(start, left))
        let isApart = forLong && left >= Self.leastApart && restCapacity < LargeBlocks.least
        if !isApart, region == rest, position == 0, restCapacity > left || restCapacity >= needed {
            restCount = left
            return
        }
        // A frame's announced length isn't trusted at first, so its memory grows with its bytes.
        // Growing copies, so from `trusted` bytes on there is space for the whole frame. Untouched
        // pages take no memory.
        var capacity =
            needed > ReadBuffer.longestRest
            ? left >= Self.trusted ? needed : min(needed, max(left * 2, 2 * ReadBuffer.turn)) : Self.rounded(left)
        if isApart { capacity = max(capacity, LargeBlocks.least) }
        let kept = reclaimer.allocate(capacity + ReadBuffer.slack)
        kept.copyMemory(from: start, byteCount: left)
        // `next` loads whole words past the end of a frame, and ignores their extra bytes.
        (kept + capacity).initializeMemory(as: UInt8.self, repeating: 0, count: ReadBuffer.slack)
        if rest != nil { dropRest() }
        rest = kept
        restCapacity = capacity
        restCount = left
    }

    /// Once this many bytes of a frame have come, its announced length is trusted.
    private static let trusted = 4 * ReadBuffer.turn

    /// Gives up the memory of the frame that `next` returned last, if it is a large one with its
    /// own memory. A `Payload` of its bytes then needs no copy.
    /// - Parameter part: bytes of the frame, or any other bytes.
    /// - Returns: the whole memory, which the caller returns to this assembler's reclaimer, or
    ///   deallocates if there is none. Nil if `part` is elsewhere, or the memory holds more than
    ///   the frame.
    public mutating func giveAway(_ part: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer? {
        guard let rest, region == rest, position == end, let base = part.baseAddress,
            base >= UnsafeRawPointer(rest), base < UnsafeRawPointer(rest + restCapacity)
        else { return nil }
        let memory = UnsafeMutableRawBufferPointer(start: rest, count: restCapacity + ReadBuffer.slack)
        self.rest = nil
        restCapacity = 0
        restCount = 0
        region = nil
        position = 0
        end = 0
        return memory
    }

    /// Discards everything, as nothing more is read.
    public mutating func drop() {
        region = nil
        position = 0
        end = 0
        if rest != nil { dropRest() }
    }

    /// Returns the full size of the unfinished frame at `start`; 0 if it isn't known yet.
    private func announced(_ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
        guard count >= 8 else { return 0 }
        return 4 + Int(UInt32(bigEndian: start.loadUnaligned(as: UInt32.self)))
    }

    private static func rounded(_ count: Int) -> Int { max(64, (count + 63) & ~63) }

    private mutating func dropRest() {
        if let rest { reclaimer.deallocate(rest, restCapacity + ReadBuffer.slack) }
        rest = nil
        restCapacity = 0
        restCount = 0
    }
}

/// The buffer into which all connections of a loop are read, in turns. The rest of an unfinished
/// frame moves to its peer after the turn, so an idle connection costs no buffer.
public final class ReadBuffer {
    /// The most bytes that one turn reads.
    public static let turn = 64 << 10
    /// The most bytes that a frame may exceed a turn by and still be read in one go. So a body of a
    /// turn's size arrives together with its lengths and its header.
    static let mostLacking = 4 << 10
    /// The number of readable bytes after the buffer's contents, so that whole words can be loaded.
    public static let slack = 48
    /// The largest rest of an unfinished frame that is copied in front of the next turn's bytes.
    static let longestRest = 64 << 10

    let base: UnsafeMutableRawPointer
    static let capacity = longestRest + turn

    public init() {
        // calloc, since pages that were never written to take no memory.
        guard let memory = calloc(Self.capacity + Self.slack, 1) else {
            // Because nothing can be read without it; Swift, too, stops when an allocation fails.
            fatalError("there is no memory for a read buffer")
        }
        base = memory
    }

    deinit { free(base) }
}
