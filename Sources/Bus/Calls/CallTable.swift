import StrataCore

/// All open requests, found by the bus's number without hashing: its low
/// bits are the slot, its high ones count how often the slot was
/// used. A slot whose count is at its end is not used again, so no number
/// comes twice.
struct CallTable: ~Copyable {
    private static let chunk = 256

    private var chunks: [CallPointer] = []
    private var used = 0
    /// The first of the free places; each has the next one as its timer's.
    private var firstFree: CallPointer?
    private(set) var count = 0
    private var wheel: TimerWheel
    /// What calls of the bus's own are for, by slot.
    private var purposeOfSlot: [UInt32: OwnPurpose] = [:]
    /// Calls that end with the one that is ending, until they are done.
    private var orphans: [(call: CallReference, reason: String)] = []
    private var isEndingOrphans = false
    /// The bytes of requests that wait for a module or the authorizer.
    private(set) var heldBytes = 0

    /// - Parameter now: the clock's milliseconds.
    init(now: UInt64) { wheel = TimerWheel(now: now) }

    /// Goes on with a table of which so many slots were used, each so often. None
    /// is open, and none is free, until `reopen` and `freeTheRest` are called.
    /// - Parameter now: no deadline is before it.
    init(generations: [UInt32], now: UInt64) {
        wheel = TimerWheel(now: now)
        for generation in generations { fresh()?.pointee.generation = generation }
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// How often each slot was used, the free ones too: of the first so many.
    func generations(most: Int) -> [UInt32] { (0..<min(used, most)).map { slot($0).pointee.generation } }

    /// Those that are open, by slot: so many at most.
    func open(most: Int) -> [CallPointer] {
        var open: [CallPointer] = []
        for number in 0..<used where open.count < most {
            if slot(number).pointee.state != .free { open.append(slot(number)) }
        }
        return open
    }

    /// The place of a slot that was used, open or not.
    func place(_ number: UInt32) -> CallPointer? { number < used ? slot(Int(number)) : nil }

    private func slot(_ number: Int) -> CallPointer { chunks[number / Self.chunk] + number % Self.chunk }

    /// A call that was open in the table that this one goes on with.
    mutating func reopen(_ call: CallPointer, _ life: RequestLife) {
        call.pointee.life = life
        count += 1
    }

    /// Those that were not reopened may be used.
    mutating func freeTheRest() {
        for number in (0..<used).reversed() {
            let call = slot(number)
            guard call.pointee.state == .free, call.pointee.generation < Call.lastGeneration else { continue }
            call.pointee.deadline.timer.next = firstFree
            firstFree = call
        }
    }

    /// A call to fill; nil where 2^22 are open.
    mutating func open(_ kind: RequestLife.Kind) -> CallPointer? {
        guard let call = firstFree ?? fresh() else { return nil }
        firstFree = call.pointee.deadline.timer.next
        let generation = call.pointee.generation + 1
        let slot = call.pointee.slot
        call.pointee = Call(slot: slot)
        call.pointee.generation = generation
        call.pointee.life.take(.opened(kind))
        count += 1
        return call
    }

    /// Gives a call's place back. It is in no list any more.
    mutating func close(_ call: CallPointer) {
        call.pointee.life.take(.ended)
        count -= 1
        guard call.pointee.generation < Call.lastGeneration else { return }
        call.pointee.deadline.timer.next = firstFree
        firstFree = call
    }

    /// The open call of a number; nil for any other number.
    func find(_ id: UInt64) -> CallPointer? {
        let slot = Int(id & UInt64(Call.mostSlots - 1))
        guard slot < used else { return nil }
        let call = self.slot(slot)
        guard call.pointee.state != .free, call.pointee.id == id else { return nil }
        return call
    }

    // MARK: Deadlines

    /// Starts a call's timer for its `expiry`.
    /// - Returns: when `nextExpired` must be called at the latest.
    @inline(__always)
    mutating func arm(_ call: CallPointer) -> UInt64 { wheel.insert(call) }

    @inline(__always)
    mutating func disarm(_ call: CallPointer) { wheel.remove(call) }

    /// Takes a call's deadline away for good.
    mutating func removeDeadline(of call: CallPointer) {
        wheel.remove(call)
        call.pointee.deadline.expiry = Call.Deadline.never
        call.pointee.deadline.budget = 0
    }

    /// The next call whose time is over; nil where none is left.
    mutating func nextExpired(now: UInt64) -> CallPointer? { wheel.next(now: now) }

    /// When `nextExpired` must be called next; nil where no call has a deadline.
    func nextTick() -> UInt64? { wheel.nextTick() }

    // MARK: Calls of the bus's own

    /// What they are for, in any order.
    var purposes: some Collection<OwnPurpose> { purposeOfSlot.values }

    func purpose(of call: CallPointer) -> OwnPurpose? { purposeOfSlot[call.pointee.slot] }

    mutating func set(_ purpose: OwnPurpose, of call: CallPointer) { purposeOfSlot[call.pointee.slot] = purpose }

    mutating func takePurpose(of call: CallPointer) -> OwnPurpose? {
        purposeOfSlot.removeValue(forKey: call.pointee.slot)
    }

    // MARK: Calls made for one that ends

    var orphanCount: Int { orphans.count }

    /// Unlinks the calls made for one that ends, to be cancelled next.
    mutating func orphanChildren(of call: CallPointer, _ reason: String) {
        while let child = call.pointee.firstChild {
            child.leaveParent()
            orphans.append((CallReference(child), reason))
        }
    }

    /// - Returns: false where orphans are being ended already.
    mutating func beginEndingOrphans() -> Bool {
        defer { isEndingOrphans = true }
        return !isEndingOrphans
    }

    /// The next orphan that is open; nil where none is left. Those of its own come before the
    /// others, so that a long chain needs no deep stack.
    mutating func takeOrphan() -> (call: CallPointer, reason: String)? {
        while let (orphan, reason) = orphans.popLast() {
            if orphan.isOpen { return (orphan.call, reason) }
        }
        isEndingOrphans = false
        return nil
    }

    // MARK: Requests that wait

    /// A request's copy of so many bytes is kept.
    mutating func keeps(_ bytes: Int) { heldBytes += bytes }
    mutating func letsGo(of bytes: Int) { heldBytes -= bytes }

    private mutating func fresh() -> CallPointer? {
        guard used < Call.mostSlots else { return nil }
        if used == chunks.count * Self.chunk { chunks.append(.allocate(capacity: Self.chunk)) }
        let call = slot(used)
        call.initialize(to: Call(slot: UInt32(used)))
        used += 1
        return call
    }
}
