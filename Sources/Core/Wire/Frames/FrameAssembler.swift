internal import Glibc

/// Makes frames of bytes that arrive in any pieces.
///
/// A turn is: `space` to read into, `received`, `next` until it has no more,
/// `keepRest`. In between, bytes stand in the shared buffer, or, where a frame
/// is larger than a turn, in one of its own size. Limits are checked on the
/// lengths before anything is kept for a frame.
public struct FrameAssembler: ~Copyable {
    public var limits: FrameLimits

    /// Bytes kept between turns; owned, nil where there are none.
    private var rest: UnsafeMutableRawPointer?
    private var restCapacity = 0
    /// The bytes that stand in `rest`, from its start.
    private var restCount = 0

    /// The frame that began the last turn filled it, with a body no larger than a
    /// turn: the next one is expected to, and is read at once.
    private var fillsTurns = false

    /// Where this turn's bytes stand: from `position` to `end`.
    @usableFromInline var region: UnsafeMutableRawPointer?
    @usableFromInline var position = 0
    @usableFromInline var end = 0

    /// Gives and takes a large frame's memory; nil: it is allocated, and freed at once.
    private let reclaimer: Reclaimer?

    public init(limits: FrameLimits, _ reclaimer: Reclaimer? = nil) {
        self.limits = limits
        self.reclaimer = reclaimer
    }

    deinit { if let rest { reclaimer.deallocate(rest, restCapacity + ReadBuffer.slack) } }

    /// Whether bytes of an unfinished frame, or frames not asked for yet, are kept.
    public var isEmpty: Bool { restCount == 0 }

    /// How many bytes are kept between turns.
    public var keptCount: Int { restCount }

    /// The bytes that are kept between turns.
    public var kept: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: rest, count: restCount) }

    /// Keeps bytes that were read elsewhere; for a fresh assembler, between turns.
    public mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        // It is only copied from.
        region = UnsafeMutableRawPointer(mutating: start)
        end = bytes.count
        keepRest()
    }

    /// Where the next bytes go: at most a turn's worth.
    /// - Parameter most: so many bytes, but of a frame that is known to fill a turn.
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

    /// Says how many bytes were put where `space` said.
    public mutating func received(_ count: Int) {
        end += count
        if fillsTurns { fillsTurns = lacking(from: ReadBuffer.turn) != nil }
    }

    /// What the turn's first frame has beyond so many bytes, where its body is no
    /// larger than a turn.
    private func lacking(from count: Int) -> Int? {
        guard position == 0, end >= 4, let region else { return nil }
        let lacking = 4 + Int(UInt32(bigEndian: region.loadUnaligned(as: UInt32.self))) - count
        return lacking > 0 && lacking <= ReadBuffer.mostLacking ? lacking : nil
    }

    /// Where the rest of this turn's only frame goes: its body is no larger than
    /// a turn, and its lengths and header are what is too much. Nil where the
    /// turn has other frames, or has ended with its bytes.
    public mutating func spaceForRest() -> UnsafeMutableRawBufferPointer? {
        guard end == ReadBuffer.turn, let region, let lacking = lacking(from: end) else { return nil }
        fillsTurns = true
        return UnsafeMutableRawBufferPointer(start: region + end, count: lacking)
    }

    /// Goes on with what was kept, without reading.
    public mutating func resume() {
        region = rest
        position = 0
        end = restCount
    }

    /// The next whole frame of this turn; nil where more bytes are needed.
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

    /// Takes back the frame that `next` gave last: it is given again later.
    public mutating func putBack(_ frame: Frame) { position -= frame.count }

    /// From this size on bytes that wait for long are kept in pages of their own.
    private static let leastApart = 4 << 10

    /// Ends a turn: keeps what `next` has not given.
    /// - Parameter forLong: it isn't read on for a while, so what it has goes into pages that
    ///   are the system's again afterwards, whatever is allocated meanwhile.
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
        // What was announced is believed as it arrives: a frame's memory grows
        // with its bytes. From a size on it has a place for all of them, since
        // growing copies; pages that nothing has come into are no memory yet.
        var capacity =
            needed > ReadBuffer.longestRest
            ? left >= Self.trusted ? needed : min(needed, max(left * 2, 2 * ReadBuffer.turn)) : Self.rounded(left)
        if isApart { capacity = max(capacity, LargeBlocks.least) }
        let kept = reclaimer.allocate(capacity + ReadBuffer.slack)
        kept.copyMemory(from: start, byteCount: left)
        // Words are loaded from behind a frame's end, and their bytes ignored.
        (kept + capacity).initializeMemory(as: UInt8.self, repeating: 0, count: ReadBuffer.slack)
        if rest != nil { dropRest() }
        rest = kept
        restCapacity = capacity
        restCount = left
    }

    /// Of whom so much of a frame has come, the rest is believed to come too.
    private static let trusted = 4 * ReadBuffer.turn

    /// Gives away the memory of the frame that `next` gave last, where it is a
    /// large one with memory of its own: what it is made of needs no copy then.
    /// - Parameter part: bytes of the frame, or any other ones.
    /// - Returns: all of the memory, which the caller gives back to the reclaimer that this
    ///   one was made with (where there is none, deallocates); nil where `part` stands
    ///   elsewhere, or the memory has more than the frame.
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

    /// Forgets everything: nothing more is read.
    public mutating func drop() {
        region = nil
        position = 0
        end = 0
        if rest != nil { dropRest() }
    }

    /// The whole size of the unfinished frame at `start`, as far as it is known.
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

/// The one buffer that a loop's connections are read into, in turns. What is
/// left of an unfinished frame moves to its peer after the turn, so that an
/// idle connection costs no buffer.
public final class ReadBuffer {
    /// What one turn reads at most.
    public static let turn = 64 << 10
    /// What a frame that fills a turn may lack to be read to its end at once:
    /// so a body of a turn's size comes with its lengths and its header.
    static let mostLacking = 4 << 10
    /// Readable bytes behind whatever stands in the buffer, for loads of words.
    public static let slack = 16
    /// The rest of an unfinished frame that is put before the next turn's bytes.
    static let longestRest = 64 << 10

    let base: UnsafeMutableRawPointer
    static let capacity = longestRest + turn

    public init() {
        // Pages that nothing was read into yet are no memory of the process's.
        guard let memory = calloc(Self.capacity + Self.slack, 1) else {
            // Because without it nothing can be read, as without any other
            // memory that Swift asks for.
            fatalError("there is no memory for a read buffer")
        }
        base = memory
    }

    deinit { free(base) }
}
