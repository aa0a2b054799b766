/// The deadlines of open calls: a hierarchical timing wheel (Varghese and Lauck, 1987) of four
/// levels over milliseconds. Setting or removing a deadline costs the same however many there are.
struct TimerWheel: ~Copyable {
    private struct Level {
        let shift: UInt64
        let slots: UInt64
        let first: Int
    }

    // The levels cover 2^27 ms in all, more than the 24 hours of the longest deadline.
    private static var finest: Level { Level(shift: 0, slots: 256, first: 0) }
    private static var fine: Level { Level(shift: 8, slots: 64, first: 256) }
    private static var coarse: Level { Level(shift: 14, slots: 64, first: 320) }
    private static var coarsest: Level { Level(shift: 20, slots: 128, first: 384) }
    private static let levels = [finest, fine, coarse, coarsest]
    private static let bucketCount = 512

    private let buckets: UnsafeMutablePointer<CallPointer?>
    /// One bit for each bucket, set if the bucket has calls.
    private let occupied: UnsafeMutablePointer<UInt64>
    private(set) var current: UInt64
    private(set) var count = 0

    init(now: UInt64) {
        current = now
        buckets = .allocate(capacity: Self.bucketCount)
        buckets.initialize(repeating: nil, count: Self.bucketCount)
        occupied = .allocate(capacity: Self.bucketCount / 64)
        occupied.initialize(repeating: 0, count: Self.bucketCount / 64)
    }

    deinit {
        buckets.deallocate()
        occupied.deallocate()
    }

    /// Starts a call's timer for its `expiry`.
    /// - Returns: when the wheel must be advanced for this call at the latest.
    mutating func insert(_ call: CallPointer) -> UInt64 {
        count += 1
        return place(call, notBefore: current + 1)
    }

    mutating func remove(_ call: CallPointer) {
        let bucket = Int(call.pointee.deadline.bucket)
        guard bucket >= 0 else { return }
        buckets[bucket].remove(call, \.deadline.timer)
        if buckets[bucket] == nil { occupied[bucket >> 6] &= ~(1 << UInt64(bucket & 63)) }
        call.pointee.deadline.bucket = -1
        count -= 1
    }

    /// Takes out one call whose time has come; nil if none is left. The caller may set and remove
    /// other calls in between.
    mutating func next(now: UInt64) -> CallPointer? {
        while count > 0 {
            if let due = buckets[Int(current & 255)], due.pointee.deadline.expiry <= current {
                remove(due)
                return due
            }
            // Empty ticks are skipped: the wheel jumps to the next occupied bucket.
            guard let tick = nextTick(), tick <= now else { break }
            current = tick
            cascade(tick)
        }
        if current < now { current = now }
        return nil
    }

    /// Returns when the wheel must be advanced next; nil if it is empty.
    func nextTick() -> UInt64? {
        var earliest: UInt64?
        for level in Self.levels {
            guard let distance = distanceToOccupied(level) else { continue }
            let tick = ((current >> level.shift) + distance) << level.shift
            earliest = min(earliest ?? tick, tick)
        }
        return earliest
    }

    private mutating func place(_ call: CallPointer, notBefore earliest: UInt64) -> UInt64 {
        let expiry = max(call.pointee.deadline.expiry, earliest)
        let delta = expiry &- min(current, expiry)
        // One of four constants in each branch takes half of the instructions of choosing one first.
        if delta < 1 << 8 { return put(call, expiry, Self.finest) }
        if delta < 1 << 14 { return put(call, expiry, Self.fine) }
        if delta < 1 << 20 { return put(call, expiry, Self.coarse) }
        return put(call, expiry, Self.coarsest)
    }

    @inline(__always)
    private mutating func put(_ call: CallPointer, _ expiry: UInt64, _ level: Level) -> UInt64 {
        let bucket = level.first &+ Int(truncatingIfNeeded: (expiry >> level.shift) & (level.slots &- 1))
        buckets[bucket].push(call, \.deadline.timer)
        occupied[bucket >> 6] |= 1 << UInt64(bucket & 63)
        call.pointee.deadline.bucket = Int32(bucket)
        // A call that is set for the past expires in order of time, too.
        call.pointee.deadline.expiry = expiry
        return (expiry >> level.shift) << level.shift
    }

    /// Moves the calls of coarser buckets that begin at `tick` to finer ones.
    private mutating func cascade(_ tick: UInt64) {
        // The coarsest first: its calls may move to a finer bucket that begins at this tick, too.
        for level in Self.levels.dropFirst().reversed()
        where tick & ((1 << level.shift) - 1) == 0 {
            let bucket = level.first + Int((tick >> level.shift) & (level.slots - 1))
            var call = buckets[bucket]
            buckets[bucket] = nil
            occupied[bucket >> 6] &= ~(1 << UInt64(bucket & 63))
            while let moved = call {
                call = moved.pointee.deadline.timer.next
                _ = place(moved, notBefore: current)
            }
        }
    }

    /// Returns the number of a level's slots from the current one to the next one with calls.
    private func distanceToOccupied(_ level: Level) -> UInt64? {
        let position = (current >> level.shift) & (level.slots - 1)
        // First the slots behind the current one. Then, around the end, those up to and including
        // the current one.
        if let slot = firstOccupied(level, position + 1, level.slots) { return slot - position }
        if let slot = firstOccupied(level, 0, position + 1) { return slot + level.slots - position }
        return nil
    }

    private func firstOccupied(_ level: Level, _ from: UInt64, _ to: UInt64) -> UInt64? {
        var slot = from
        while slot < to {
            let bit = UInt64(level.first) + slot
            let word = occupied[Int(bit >> 6)] >> (bit & 63)
            if word != 0 {
                let found = slot + UInt64(word.trailingZeroBitCount)
                return found < to ? found : nil
            }
            slot += 64 - (bit & 63)
        }
        return nil
    }
}
