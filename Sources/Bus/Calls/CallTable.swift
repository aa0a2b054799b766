import StrataCore

/// All open requests, found by the broker's number without hashing: its low
/// bits are the slot, its high ones say for the how-manieth time the slot is
/// used. A slot whose count is at its end is not used again, so no number
/// comes twice.
struct CallTable: ~Copyable {
    private static let chunk = 256

    private var chunks: [CallPointer] = []
    private var used = 0
    /// The first of the free places; each has the next one as its timer's.
    private var firstFree: CallPointer?
    private(set) var count = 0

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// A call to fill; nil where 2^22 are open.
    mutating func open(_ kind: Call.Kind) -> CallPointer? {
        guard let call = firstFree ?? fresh() else { return nil }
        firstFree = call.pointee.timer.next
        let generation = call.pointee.generation + 1
        let slot = call.pointee.slot
        call.pointee = Call(slot: slot)
        call.pointee.generation = generation
        call.pointee.kind = kind
        call.pointee.state = .inside
        count += 1
        return call
    }

    /// Gives a call's place back. It is in no list any more.
    mutating func close(_ call: CallPointer) {
        call.pointee.state = .free
        count -= 1
        guard call.pointee.generation < Call.lastGeneration else { return }
        call.pointee.timer.next = firstFree
        firstFree = call
    }

    /// The open call of a number; nil for any other number.
    func find(_ id: UInt64) -> CallPointer? {
        let slot = Int(id & UInt64(Call.mostSlots - 1))
        guard slot < used else { return nil }
        let call = chunks[slot / Self.chunk] + slot % Self.chunk
        guard call.pointee.state != .free, call.pointee.id == id else { return nil }
        return call
    }

    private mutating func fresh() -> CallPointer? {
        guard used < Call.mostSlots else { return nil }
        if used == chunks.count * Self.chunk { chunks.append(.allocate(capacity: Self.chunk)) }
        let call = chunks[used / Self.chunk] + used % Self.chunk
        call.initialize(to: Call(slot: UInt32(used)))
        used += 1
        return call
    }
}
