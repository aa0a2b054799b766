internal import Glibc

/// The memory of an outbox that is not empty. A pool provides it, since most connections have
/// something to send only briefly.
@usableFromInline
struct OutboxStorage {
    @usableFromInline var bytes: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    /// The waiting bytes are in `bytes` from `head` to `tail`.
    var head = 0
    @usableFromInline var tail = 0

    @usableFromInline var entries: UnsafeMutablePointer<Outbox.Entry>
    @usableFromInline var entryCapacity: Int
    var entryHead = 0
    @usableFromInline var entryTail = 0
    var holdsPayloads = false
    /// The position of a running compaction.
    var gap: Gap?

    init(capacity: Int, entryCapacity: Int) {
        // With this alignment Swift allocates with malloc, so the memory may grow by realloc.
        bytes = .allocate(byteCount: capacity, alignment: 16)
        entries = .allocate(capacity: entryCapacity)
        self.capacity = capacity
        self.entryCapacity = entryCapacity
    }

    func deallocate(_ reclaimer: Reclaimer?) {
        reclaimer.take(bytes, capacity)
        reclaimer.take(entries, entryCapacity * MemoryLayout<Outbox.Entry>.stride)
    }

    mutating func reset() {
        head = 0
        tail = 0
        entryHead = 0
        entryTail = 0
        holdsPayloads = false
        gap = nil
    }

    @inlinable @inline(__always)
    mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if capacity &- tail < count { makeRoom(count) }
        return bytes + tail
    }

    /// Moves the waiting bytes to the front, or into larger memory.
    @usableFromInline
    mutating func makeRoom(_ count: Int) {
        let used = tail - head
        if capacity - used >= count && head >= capacity / 2 {
            bytes.copyMemory(from: bytes + head, byteCount: used)
            gap?.start -= head
            head = 0
            tail = used
            return
        }
        var larger = capacity * 2
        while larger - tail < count { larger *= 2 }
        bytes = Self.grown(bytes, to: larger)
        capacity = larger
    }

    /// Returns larger memory with the same bytes. For large memory the system moves the pages
    /// (`LargeBlocks`); copying them would hold up every connection.
    private static func grown(_ memory: UnsafeMutableRawPointer, to count: Int) -> UnsafeMutableRawPointer {
        guard let grown = realloc(memory, count) else {
            // Because nothing can be sent without it; Swift, too, stops when an allocation fails.
            fatalError("there is no memory for an outbox of \(count) bytes")
        }
        return grown
    }

    @inlinable @inline(__always)
    mutating func append(_ entry: Outbox.Entry) {
        tail &+= entry.inlineCount
        if entryTail == entryCapacity { makeEntryRoom() }
        entries[entryTail] = entry
        entryTail &+= 1
    }

    @usableFromInline
    mutating func makeEntryRoom() {
        let used = entryTail - entryHead
        if entryHead >= entryCapacity / 2 {
            entries.update(from: entries + entryHead, count: used)
            gap?.shift(slots: entryHead)
            entryHead = 0
            entryTail = used
            return
        }
        entryCapacity *= 2
        let count = entryCapacity * MemoryLayout<Outbox.Entry>.stride
        entries = Self.grown(entries, to: count).assumingMemoryBound(to: Outbox.Entry.self)
    }

    /// Drops the first frame, of which `inlineLeft` bytes are here.
    /// - Returns: whether this removed the gap, which was right after it.
    mutating func dropFirst(_ inlineLeft: Int) -> Bool {
        let isBeforeGap = gap?.slots.lowerBound == entryHead + 1
        head += inlineLeft + bytes(after: entryHead)
        entryHead = slot(after: entryHead)
        if isBeforeGap { gap = nil }
        return isBeforeGap
    }

    /// Returns the index of the entry that ends at a position, by binary search.
    func index(endingAt position: UInt64) -> Int? {
        var low = entryHead
        var high = entryTail
        if let gap {
            // The slots inside the gap are in no order, so the search skips them.
            if entries[gap.slots.lowerBound - 1].end < position {
                low = gap.slots.upperBound
            } else {
                high = gap.slots.lowerBound
            }
        }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].end < position { low = middle + 1 } else { high = middle }
        }
        return low < entryTail && entries[low].end == position ? low : nil
    }
}

/// The unused outbox memory of one loop.
public final class OutboxPool {
    private static let capacity = 16 << 10
    private static let entryCapacity = 128
    /// The most free storages that are kept for the next round; more are freed.
    private static let mostKept = 64

    @exclusivity(unchecked)  // because it is used in each turn, on one thread
    private var free: [UnsafeMutablePointer<OutboxStorage>] = []
    /// Other modules read `waiting`: the compiler forgets `unchecked` across modules.
    @exclusivity(unchecked)  // the same
    @usableFromInline var waitingCount = 0
    /// The bytes that all outboxes hold in their own memory, without payloads. Each one counts as
    /// of its last `noteWaiting`.
    @inlinable public var waiting: Int { waitingCount }
    /// Takes large blocks that are no longer used.
    public let reclaimer: Reclaimer?

    /// - Parameter reclaimer: if nil, large blocks are freed at once.
    public init(_ reclaimer: Reclaimer? = nil) {
        self.reclaimer = reclaimer
        free.reserveCapacity(Self.mostKept)
    }

    deinit { for storage in free { release(storage) } }

    /// Updates the count of one outbox from `before` to `bytes`.
    func note(_ bytes: Int, instead before: Int) { waitingCount += bytes - before }

    func take() -> UnsafeMutablePointer<OutboxStorage> {
        if let storage = free.popLast() { return storage }
        let storage = UnsafeMutablePointer<OutboxStorage>.allocate(capacity: 1)
        storage.initialize(to: OutboxStorage(capacity: Self.capacity, entryCapacity: Self.entryCapacity))
        return storage
    }

    func giveBack(_ storage: UnsafeMutablePointer<OutboxStorage>) {
        // Storages that have grown are kept up to this size; otherwise a busy peer would grow one
        // anew in each round.
        guard free.count < Self.mostKept, storage.pointee.capacity <= 4 * ReadBuffer.turn else {
            release(storage)
            return
        }
        storage.pointee.reset()
        free.append(storage)
    }

    private func release(_ storage: UnsafeMutablePointer<OutboxStorage>) {
        storage.pointee.deallocate(reclaimer)
        storage.deinitialize(count: 1)
        storage.deallocate()
    }
}
