internal import Glibc

/// The frames queued to one connection, in order, until the kernel has taken
/// their last byte.
///
/// A *position* counts the bytes of the connection's whole outgoing stream, so
/// whether a frame was delivered is one comparison with `written`. Frames that
/// have not begun may be removed; positions stay what they were.
/// Small bodies are copied behind their header; large ones are a `Payload`.
public struct Outbox: ~Copyable {
    /// Bodies of this size and more are not copied into the outbox.
    public static let largeBody = 16 << 10

    /// A frame that waits.
    @usableFromInline
    struct Entry {
        /// The position behind its last byte.
        @usableFromInline var end: UInt64
        /// Bytes of it that stand in `bytes`.
        @usableFromInline var inlineCount: Int
        /// Owned; the rest of the frame. Given back where the frame is removed.
        @usableFromInline var payload: Unmanaged<Payload>?
        @usableFromInline var payloadCount: Int
        @usableFromInline var isAnswer: Bool
        @usableFromInline var isRemoved: Bool
        /// It found no room, and waits all the same.
        @usableFromInline var isBeyond: Bool

        @inlinable @inline(__always)
        init(end: UInt64, inlineCount: Int, payload: Unmanaged<Payload>?, payloadCount: Int, isAnswer: Bool) {
            self.end = end
            self.inlineCount = inlineCount
            self.payload = payload
            self.payloadCount = payloadCount
            self.isAnswer = isAnswer
            isRemoved = false
            isBeyond = false
        }

        var count: Int { inlineCount + payloadCount }
        /// The position of its first byte.
        var start: UInt64 { end - UInt64(count) }
    }

    /// The position up to which the kernel has taken everything.
    public private(set) var written: UInt64 = 0
    /// The position behind the last queued frame.
    @inlinable public var end: UInt64 { counts.end }
    /// Bytes that wait, removed frames not counted.
    @inlinable public var pending: Int { counts.pending }
    /// Those of them that are answers.
    @inlinable public var pendingAnswers: Int { counts.pendingAnswers }
    /// Those of them that found no room: `countBeyond`.
    @inlinable public var pendingBeyond: Int { counts.pendingBeyond }

    @usableFromInline
    struct Counts {
        @usableFromInline var end: UInt64 = 0
        @usableFromInline var pending = 0
        @usableFromInline var pendingAnswers = 0
        @usableFromInline var pendingBeyond = 0
    }
    @usableFromInline var counts = Counts()

    @usableFromInline var storage: UnsafeMutablePointer<OutboxStorage>?
    let pool: OutboxPool
    /// What removed frames still take of the memory.
    private(set) var removedBytes = 0
    /// What the pool's `waiting` has of this one.
    private var counted = 0
    /// Entries that are removed or have a payload, and a gap: where there are none, all
    /// that waits is one piece.
    var irregular = 0

    public init(pool: OutboxPool) { self.pool = pool }

    /// Goes on with a stream of which so much is written.
    mutating func begin(at written: UInt64, end: UInt64) {
        self.written = written
        counts.end = end
    }

    deinit {
        pool.note(0, instead: counted)
        guard let storage else { return }
        Self.releasePayloads(storage)
        pool.giveBack(storage)
    }

    @inlinable public var isEmpty: Bool { pending == 0 }

    /// What its frames have for themselves, with room for more, in bytes.
    var memory: Int {
        guard let storage else { return 0 }
        return storage.pointee.capacity + storage.pointee.entryCapacity * MemoryLayout<Entry>.stride
    }

    /// Room for a frame's lengths and header, and for a body that is copied.
    /// Nothing else may happen to the outbox until `commit`.
    @inlinable @inline(__always)
    public mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if storage == nil { takeStorage() }
        return storage!.pointee.reserve(count)
    }

    @usableFromInline
    mutating func takeStorage() { storage = pool.take() }

    /// Queues the frame that was written into what `reserve` gave.
    /// - Parameters:
    ///   - inlineCount: the bytes written.
    ///   - isAnswer: counts as a reply or an error.
    /// - Returns: the position behind the frame.
    @inlinable @inline(__always)
    @discardableResult
    public mutating func commit(inlineCount: Int, isAnswer: Bool) -> UInt64 {
        append(
            Entry(
                end: end &+ UInt64(inlineCount), inlineCount: inlineCount, payload: nil, payloadCount: 0,
                isAnswer: isAnswer))
    }

    /// Queues a frame whose body was not copied: `payload` follows the bytes
    /// that were written.
    @discardableResult
    public mutating func commit(inlineCount: Int, payload: Payload, isAnswer: Bool) -> UInt64 {
        irregular += 1
        payload.holders += 1
        storage!.pointee.holdsPayloads = true
        return append(
            Entry(
                end: end &+ UInt64(inlineCount + payload.bytes.count), inlineCount: inlineCount,
                payload: .passRetained(payload), payloadCount: payload.bytes.count, isAnswer: isAnswer))
    }

    @inlinable @inline(__always)
    mutating func append(_ entry: Entry) -> UInt64 {
        // Nothing here overflows: all of it is memory that is there, or bytes
        // that were written at some rate since the start.
        counts.pending &+= entry.inlineCount &+ entry.payloadCount
        if entry.isAnswer { counts.pendingAnswers &+= entry.inlineCount &+ entry.payloadCount }
        counts.end = entry.end
        storage!.pointee.append(entry)
        return entry.end
    }

    /// Lets the pool's `waiting` have what is there now. What is queued or removed without
    /// being written needs it, at some time; writing does it itself.
    public mutating func noteWaiting() {
        let there = storage.map { $0.pointee.tail - $0.pointee.head } ?? 0
        pool.note(there, instead: counted)
        counted = there
    }

    /// Counts the frame that was queued last, and that found no room, apart from the
    /// others, until it is written or removed.
    public mutating func countBeyond() {
        let last = storage!.pointee.entryTail - 1
        storage!.pointee.entries[last].isBeyond = true
        counts.pendingBeyond += storage!.pointee.entries[last].count
    }

    /// Takes a frame out that has not begun to be written; false where it has.
    /// Cost: the logarithm of how many wait.
    /// - Parameter ifBeyond: only where it found no room.
    @discardableResult
    public mutating func remove(endingAt position: UInt64, ifBeyond: Bool = false) -> Bool {
        guard let storage, position > written, let index = storage.pointee.index(endingAt: position) else {
            return false
        }
        let entry = storage.pointee.entries[index]
        guard !entry.isRemoved, entry.start >= written, entry.isBeyond || !ifBeyond else { return false }
        markRemoved(index)
        compactIfDue()
        return true
    }

    /// Whether a byte of a frame has been taken by the kernel.
    public func hasBegun(endingAt position: UInt64) -> Bool {
        guard position > written else { return true }
        guard let storage, let index = storage.pointee.index(endingAt: position) else { return false }
        return storage.pointee.entries[index].start < written
    }

    /// Takes out all that has not begun; what has begun goes on to its end.
    public mutating func removeNotBegun() {
        guard let storage else { return }
        skipRemoved()
        var index = storage.pointee.entryHead
        var kept = index
        var inlineLeft = 0
        counts.pending = 0
        counts.pendingAnswers = 0
        counts.pendingBeyond = 0
        irregular = 0
        removedBytes = 0
        if kept < storage.pointee.entryTail, storage.pointee.entries[kept].start < written {
            let begun = storage.pointee.entries[kept]
            inlineLeft = begun.inlineCount - min(Int(written - begun.start), begun.inlineCount)
            counts.pending = Int(begun.end - written)
            if begun.isAnswer { counts.pendingAnswers = begun.count }
            if begun.isBeyond { counts.pendingBeyond = begun.count }
            if begun.payload != nil { irregular = 1 }
            index = storage.pointee.slot(after: kept)
            kept += 1
        }
        if storage.pointee.holdsPayloads { Self.releasePayloads(storage, from: index) }
        storage.pointee.gap = nil
        storage.pointee.entryTail = kept
        storage.pointee.tail = storage.pointee.head + inlineLeft
        noteWaiting()
    }

    private mutating func markRemoved(_ index: Int) {
        let entry = storage!.pointee.entries[index]
        storage!.pointee.entries[index].isRemoved = true
        if entry.payload == nil { irregular += 1 }
        Self.release(entry)
        storage!.pointee.entries[index].payload = nil
        countRemoved(entry, 1)
        counts.pending -= entry.count
        if entry.isAnswer { counts.pendingAnswers -= entry.count }
        if entry.isBeyond { counts.pendingBeyond -= entry.count }
    }

    /// The pieces to write next, at most `parts.count`; removed frames at the
    /// front are passed over. Returns how many pieces there are; 0 is all done.
    public mutating func gather(_ parts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>) -> Int {
        guard storage != nil else { return 0 }
        skipRemoved()
        guard pending > 0 else {
            finish()
            return 0
        }
        let state = storage!.pointee
        if irregular == 0 {
            parts[0] = UnsafeRawBufferPointer(
                start: state.bytes + state.head, count: state.tail - state.head)
            return 1
        }
        var used = 0
        var offset = state.head
        // How much of the first entry is written already.
        let first = state.entries[state.entryHead]
        written = max(written, first.start)
        var skip = Int(written - first.start)
        var index = state.entryHead
        while index < state.entryTail, used + 2 <= parts.count {
            let entry = state.entries[index]
            let inlineLeft = entry.inlineCount - min(skip, entry.inlineCount)
            if !entry.isRemoved {
                if inlineLeft > 0 {
                    parts[used] = UnsafeRawBufferPointer(start: state.bytes + offset, count: inlineLeft)
                    used += 1
                }
                if let payload = entry.payload {
                    let bytes = payload._withUnsafeGuaranteedRef { $0.bytes }
                    let from = max(0, skip - entry.inlineCount)
                    parts[used] = UnsafeRawBufferPointer(rebasing: bytes[from...])
                    used += 1
                }
            }
            offset += inlineLeft + state.bytes(after: index)
            skip = 0
            index = state.slot(after: index)
        }
        return used
    }

    /// Says that the kernel took `count` bytes of what `gather` gave.
    public mutating func wrote(_ count: Int) {
        guard storage != nil else { return }
        counts.pending -= count
        if pending == 0 && irregular == 0 {
            written = end
            finish()
            return
        }
        var left = count
        while left > 0 {
            skipRemoved()
            let entry = storage!.pointee.entries[storage!.pointee.entryHead]
            written = max(written, entry.start)
            let done = Int(written - entry.start)
            let step = min(left, entry.count - done)
            let inlineStep = min(step, max(0, entry.inlineCount - done))
            storage!.pointee.head += inlineStep
            written += UInt64(step)
            left -= step
            entry.payload?._withUnsafeGuaranteedRef { $0.wrote(upTo: done + step - entry.inlineCount) }
            if written == entry.end { dropFirst(entry, inlineLeft: 0) }
        }
        skipRemoved()
        if pending == 0 { finish() } else { noteWaiting() }
    }

    /// Passes over removed frames at the front: their bytes count as written,
    /// though nobody got them.
    mutating func skipRemoved() {
        while storage!.pointee.entryHead < storage!.pointee.entryTail {
            let entry = storage!.pointee.entries[storage!.pointee.entryHead]
            guard entry.isRemoved else { return }
            written = entry.end
            dropFirst(entry, inlineLeft: entry.inlineCount)
        }
    }

    private mutating func dropFirst(_ entry: Entry, inlineLeft: Int) {
        if entry.isAnswer && !entry.isRemoved { counts.pendingAnswers -= entry.count }
        if entry.isBeyond && !entry.isRemoved { counts.pendingBeyond -= entry.count }
        if entry.payload != nil || entry.isRemoved { irregular -= 1 }
        if entry.isRemoved { countRemoved(entry, -1) }
        Self.release(entry)
        if storage!.pointee.dropFirst(inlineLeft) { irregular -= 1 }
    }

    mutating func countRemoved(_ entry: Entry, _ sign: Int) {
        removedBytes += sign * (entry.inlineCount + MemoryLayout<Entry>.stride)
    }

    /// Everything is written: an idle connection holds no memory.
    private mutating func finish() {
        written = end
        counts.pendingAnswers = 0
        counts.pendingBeyond = 0
        irregular = 0
        removedBytes = 0
        if let storage {
            Self.releasePayloads(storage)
            pool.giveBack(storage)
        }
        storage = nil
        if counted != 0 { noteWaiting() }
    }

    private static func releasePayloads(_ storage: UnsafeMutablePointer<OutboxStorage>) {
        if storage.pointee.holdsPayloads { releasePayloads(storage, from: storage.pointee.entryHead) }
    }

    private static func releasePayloads(_ storage: UnsafeMutablePointer<OutboxStorage>, from first: Int) {
        var index = first
        while index < storage.pointee.entryTail {
            release(storage.pointee.entries[index])
            index = storage.pointee.slot(after: index)
        }
    }

    private static func release(_ entry: Entry) {
        guard let payload = entry.payload else { return }
        payload._withUnsafeGuaranteedRef { $0.holders -= 1 }
        payload.release()
    }
}
