internal import Glibc

/// The memory of an outbox that is not empty. Handed out by a pool, since most
/// connections have something to send for a moment only.
@usableFromInline
struct OutboxStorage {
    @usableFromInline var bytes: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    /// What waits stands in `bytes` from `head` to `tail`.
    var head = 0
    @usableFromInline var tail = 0

    @usableFromInline var entries: UnsafeMutablePointer<Outbox.Entry>
    @usableFromInline var entryCapacity: Int
    var entryHead = 0
    @usableFromInline var entryTail = 0
    var holdsPayloads = false
    /// Where compaction is on its way.
    var gap: Gap?

    init(capacity: Int, entryCapacity: Int) {
        // What Swift allocates with this alignment is malloc's, and so may grow by realloc.
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

    /// Moves what waits to the front, or to a larger place.
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

    /// A larger place with the same bytes. The system moves the pages of a large one
    /// (`LargeBlocks`), where copying it would keep everybody waiting.
    private static func grown(_ memory: UnsafeMutableRawPointer, to count: Int) -> UnsafeMutableRawPointer {
        guard let grown = realloc(memory, count) else {
            // Because without it nothing can be sent, as without any other memory
            // that Swift asks for.
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

    /// Drops the first frame, of which so many bytes stand here.
    /// - Returns: whether the gap that was behind it ended.
    mutating func dropFirst(_ inlineLeft: Int) -> Bool {
        let isBeforeGap = gap?.slots.lowerBound == entryHead + 1
        head += inlineLeft + bytes(after: entryHead)
        entryHead = slot(after: entryHead)
        if isBeforeGap { gap = nil }
        return isBeforeGap
    }

    /// The entry that ends at a position, by bisection.
    func index(endingAt position: UInt64) -> Int? {
        var low = entryHead
        var high = entryTail
        if let gap {
            // What stands in its slots is in no order.
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

/// The free outbox memory of one loop.
public final class OutboxPool {
    private static let capacity = 16 << 10
    private static let entryCapacity = 128
    /// What is kept for the next round; more is given back to the system.
    private static let mostKept = 64

    private var free: [UnsafeMutablePointer<OutboxStorage>] = []
    /// What all outboxes have in memory of their own, payloads left out, in bytes; of each
    /// it is what was there at its last `noteWaiting`.
    public private(set) var waiting = 0
    /// Where large blocks go that are used no more.
    public let reclaimer: Reclaimer?

    /// - Parameter reclaimer: nil: large blocks are freed at once.
    public init(_ reclaimer: Reclaimer? = nil) {
        self.reclaimer = reclaimer
        free.reserveCapacity(Self.mostKept)
    }

    deinit { for storage in free { release(storage) } }

    /// One outbox has so many bytes now, which had so many when it told the last time.
    func note(_ bytes: Int, instead before: Int) { waiting += bytes - before }

    func take() -> UnsafeMutablePointer<OutboxStorage> {
        if let storage = free.popLast() { return storage }
        let storage = UnsafeMutablePointer<OutboxStorage>.allocate(capacity: 1)
        storage.initialize(to: OutboxStorage(capacity: Self.capacity, entryCapacity: Self.entryCapacity))
        return storage
    }

    func giveBack(_ storage: UnsafeMutablePointer<OutboxStorage>) {
        // Grown ones are kept up to a turn's size: a busy peer grows anew in
        // each round otherwise.
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
