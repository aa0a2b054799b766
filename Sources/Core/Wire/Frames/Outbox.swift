internal import Glibc

/// The frames queued for one connection, in order, until the kernel has taken their last byte.
///
/// A *position* counts the bytes of the connection's whole outgoing stream. So a frame is delivered
/// once `written` has reached its end. Frames of which no byte is written may be removed; the
/// positions of the other frames don't change. Small bodies are copied after their header; large
/// ones are a `Payload`.
public struct Outbox: ~Copyable {
    /// From this size on, in bytes, a body is not copied into the outbox.
    public static let largeBody = 16 << 10

    /// A waiting frame.
    @usableFromInline
    struct Entry {
        /// The position after its last byte.
        @usableFromInline var end: UInt64
        /// The number of its bytes in `bytes`.
        @usableFromInline var inlineCount: Int
        /// The rest of the frame, owned; released when the frame is removed.
        @usableFromInline var payload: Unmanaged<Payload>?
        @usableFromInline var payloadCount: Int
        @usableFromInline var isAnswer: Bool
        @usableFromInline var isRemoved: Bool
        /// Whether the frame waits although there was no room for it.
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
    /// The position after the last queued frame.
    @inlinable public var end: UInt64 { counts.end }
    /// The number of waiting bytes, without removed frames.
    @inlinable public var pending: Int { counts.pending }
    /// The waiting bytes that belong to answers.
    @inlinable public var pendingAnswers: Int { counts.pendingAnswers }
    /// The waiting bytes for which there was no room; see `countBeyond`.
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
    /// The memory that removed frames still take, in bytes.
    private(set) var removedBytes = 0
    /// This outbox's share of the pool's `waiting`.
    private var counted = 0
    /// The number of entries that are removed or have a payload, plus one for a gap. If 0, all
    /// waiting bytes are in one buffer.
    var irregular = 0
    /// The descriptors that go with the buffers of the last `gather`; nil for nearly all of them.
    /// Unretained, because the frame has them until it is written.
    public private(set) var descriptors: Unmanaged<FrameDescriptors>?
    /// The stream whose bytes are counted; nil for nearly all outboxes.
    private var stream: OutboxStream?

    public init(pool: OutboxPool) { self.pool = pool }

    /// Continues a stream of which `written` bytes are written.
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

    /// The memory that this outbox has for its frames, including free space, in bytes.
    var memory: Int {
        guard let storage else { return 0 }
        return storage.pointee.capacity + storage.pointee.entryCapacity * MemoryLayout<Entry>.stride
    }

    /// Returns space for a frame's lengths, its header, and a body that is copied. The outbox must
    /// not be used in any other way until `commit`.
    @inlinable @inline(__always)
    public mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if storage == nil { takeStorage() }
        return storage!.pointee.reserve(count)
    }

    @usableFromInline
    mutating func takeStorage() { storage = pool.take() }

    /// Queues the frame that was written into the space from `reserve`.
    /// - Parameters:
    ///   - inlineCount: the number of bytes written.
    ///   - isAnswer: whether the frame counts as a reply or an error.
    /// - Returns: the position after the frame.
    @inlinable @inline(__always)
    @discardableResult
    public mutating func commit(inlineCount: Int, isAnswer: Bool) -> UInt64 {
        append(
            Entry(
                end: end &+ UInt64(inlineCount), inlineCount: inlineCount, payload: nil, payloadCount: 0,
                isAnswer: isAnswer))
    }

    /// Queues a frame whose body was not copied; `payload` follows the written bytes.
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
        // None of this overflows: these are sizes of existing memory, or bytes sent since the
        // start.
        counts.pending &+= entry.inlineCount &+ entry.payloadCount
        if entry.isAnswer { counts.pendingAnswers &+= entry.inlineCount &+ entry.payloadCount }
        counts.end = entry.end
        storage!.pointee.append(entry)
        return entry.end
    }

    /// Updates the pool's `waiting`. Call it some time after queueing or removing frames without
    /// writing; writing updates it too.
    public mutating func noteWaiting() {
        let there = storage.map { $0.pointee.tail - $0.pointee.head } ?? 0
        pool.note(there, instead: counted)
        counted = there
    }

    /// Counts the frame that was queued last separately, until it is written or removed, as there
    /// was no room for it.
    public mutating func countBeyond() {
        let last = storage!.pointee.entryTail - 1
        storage!.pointee.entries[last].isBeyond = true
        counts.pendingBeyond += storage!.pointee.entries[last].count
    }

    /// Removes a frame of which no byte is written; returns false if it has begun. The cost is
    /// logarithmic in the number of waiting frames.
    /// - Parameter ifBeyond: whether to remove it only if there was no room for it.
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

    /// The position behind the last frame of which the kernel has taken a byte.
    public var begunEnd: UInt64 {
        guard let state = storage?.pointee, state.entryHead < state.entryTail else { return written }
        let first = state.entries[state.entryHead]
        return !first.isRemoved && first.start < written ? first.end : written
    }

    /// Begins to count the bytes of all frames that are queued from now on.
    public mutating func beginStream() { stream = OutboxStream(at: end, written: written, pending: pending) }

    /// Returns a position that every frame is behind that isn't wholly among the first bytes of the
    /// stream. A frame before it may not be among them either, if a removed frame is near.
    public func position(behind bytes: UInt64) -> UInt64 { stream?.position(behind: bytes) ?? end }

    /// Whether the kernel has taken a byte of the frame.
    public func hasBegun(endingAt position: UInt64) -> Bool {
        guard position > written else { return true }
        guard let storage, let index = storage.pointee.index(endingAt: position) else { return false }
        return storage.pointee.entries[index].start < written
    }

    /// Removes all frames of which no byte is written; one that has begun is still written to its
    /// end.
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

    /// Fills in the buffers to write next, at most `parts.count`, without removed frames. A frame with
    /// descriptors comes first among the buffers: the kernel hands them over with the first byte.
    /// - Returns: the number of buffers; 0 if everything is written.
    public mutating func gather(_ parts: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>) -> Int {
        guard storage != nil else { return 0 }
        skipRemoved()
        guard pending > 0 else {
            finish()
            return 0
        }
        let state = storage!.pointee
        descriptors = nil
        if irregular == 0 {
            parts[0] = UnsafeRawBufferPointer(
                start: state.bytes + state.head, count: state.tail - state.head)
            return 1
        }
        var used = 0
        var offset = state.head
        // The number of bytes of the first entry that are already written.
        let first = state.entries[state.entryHead]
        written = max(written, first.start)
        var skip = Int(written - first.start)
        var index = state.entryHead
        while index < state.entryTail, used + 2 <= parts.count {
            let entry = state.entries[index]
            let inlineLeft = entry.inlineCount - min(skip, entry.inlineCount)
            if !entry.isRemoved {
                if skip == 0, let own = entry.payload?._withUnsafeGuaranteedRef({ $0.descriptors }) {
                    if used > 0 { break }
                    descriptors = .passUnretained(own)
                }
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

    /// Records that the kernel took `count` bytes of the buffers from `gather`.
    public mutating func wrote(_ count: Int) {
        guard storage != nil else { return }
        advance(count)
        stream?.wrote(count, upTo: written)
    }

    private mutating func advance(_ count: Int) {
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

    /// Skips removed frames at the front. Their bytes count as written, although nobody received
    /// them.
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

    /// Releases all memory once everything is written, so that an idle connection holds none.
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
