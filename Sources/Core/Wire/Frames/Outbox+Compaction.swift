internal import Glibc

/// Reclaims the memory of removed frames. Each removal moves only a few of the waiting frames
/// together, so no removal takes long, however much waits.
extension Outbox {
    /// Compaction starts when removed frames take more bytes than this, and more than the waiting
    /// ones.
    private static let mostRemoved = 64 << 10
    /// The most frames and bytes that one removal moves; at least one frame.
    private static let (mostFrames, mostMoved) = (16, 8 << 10)

    private var isDue: Bool { removedBytes > max(Self.mostRemoved, pending) }

    /// Continues a compaction, or starts one if it is due.
    mutating func compactIfDue() {
        guard storage!.pointee.gap != nil || isDue else { return }
        skipRemoved()
        let storage = storage!
        if storage.pointee.gap == nil {
            guard isDue, storage.pointee.entryHead < storage.pointee.entryTail else { return }
            // The first frame stays where it is, since a part of it may be written.
            let first = storage.pointee.entries[storage.pointee.entryHead]
            let isWritten = min(Int(written - min(written, first.start)), first.inlineCount)
            storage.pointee.gap = OutboxStorage.Gap(
                behind: storage.pointee.entryHead, at: storage.pointee.head + first.inlineCount - isWritten)
            irregular += 1
        }
        guard var gap = storage.pointee.gap else { return }
        var (frames, moved) = (0, 0)
        while frames < Self.mostFrames, moved < Self.mostMoved, gap.slots.upperBound < storage.pointee.entryTail {
            let entry = storage.pointee.entries[gap.slots.upperBound]
            frames += 1
            if entry.isRemoved {
                gap.takeIn(entry.inlineCount)
                countRemoved(entry, -1)
                irregular -= 1
                continue
            }
            storage.pointee.entries[gap.slots.lowerBound] = entry
            memmove(storage.pointee.bytes + gap.start, storage.pointee.bytes + gap.start + gap.count, entry.inlineCount)
            gap.pass(entry.inlineCount)
            moved += entry.inlineCount
        }
        storage.pointee.gap = gap
        if gap.slots.upperBound == storage.pointee.entryTail {
            storage.pointee.endGap(pool.reclaimer)
            irregular -= 1
            noteWaiting()
        }
    }
}

extension OutboxStorage {
    /// The free space between the frames that compaction has moved and the ones that it has not
    /// reached.
    struct Gap {
        private(set) var slots: Range<Int>
        /// The offset of its first byte.
        var start: Int
        private(set) var count = 0

        /// - Parameter slot: the slot of the frame that ends at `start`.
        init(behind slot: Int, at start: Int) {
            slots = slot + 1..<slot + 1
            self.start = start
        }

        /// Extends the gap over the frame after it.
        mutating func takeIn(_ bytes: Int) {
            slots = slots.lowerBound..<slots.upperBound + 1
            count += bytes
        }

        /// Moves the gap past the frame after it.
        mutating func pass(_ bytes: Int) {
            slots = slots.lowerBound + 1..<slots.upperBound + 1
            start += bytes
        }

        mutating func shift(slots by: Int) { slots = slots.lowerBound - by..<slots.upperBound - by }
    }

    /// Returns the slot of the next frame.
    func slot(after slot: Int) -> Int { gap?.slots.lowerBound == slot + 1 ? gap!.slots.upperBound : slot + 1 }

    /// Returns the number of bytes between a frame and the next one.
    func bytes(after slot: Int) -> Int { gap?.slots.lowerBound == slot + 1 ? gap!.count : 0 }

    /// Ends a finished compaction: frees the gap, and shrinks the memory if little of it is used.
    mutating func endGap(_ reclaimer: Reclaimer?) {
        guard let gap else { return }
        entryTail = gap.slots.lowerBound
        tail = gap.start
        self.gap = nil
        let used = tail - head
        guard capacity > 4 * ReadBuffer.turn, used <= ReadBuffer.turn else { return }
        let smaller = UnsafeMutableRawPointer.allocate(byteCount: 2 * ReadBuffer.turn, alignment: 16)
        smaller.copyMemory(from: bytes + head, byteCount: used)
        reclaimer.take(bytes, capacity)
        bytes = smaller
        capacity = 2 * ReadBuffer.turn
        head = 0
        tail = used
    }
}
