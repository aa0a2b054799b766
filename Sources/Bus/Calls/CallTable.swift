import StrataCore

/// All open requests, found by the bus's number without hashing. The low bits of a number are the
/// slot, and the high bits count the slot's uses. A slot whose count has reached its maximum isn't
/// used again, so no number occurs twice.
struct CallTable: ~Copyable {
    private static let chunk = 256

    private var chunks: [CallPointer] = []
    private var used = 0
    /// The first free slot; each one links to the next through its timer.
    private var firstFree: CallPointer?
    private(set) var count = 0
    private var wheel: TimerWheel
    /// The purposes of the bus's own calls, by slot.
    private var purposeOfSlot = NumberTable<OwnPurpose>()
    /// The first failures of requests that were made for open calls, by the calls' slots.
    private var rootOfSlot: [UInt32: BusError.Root] = [:]
    private var rootBytes = 0
    /// Calls that must end because the call that they were made for is ending.
    private var orphans: [(call: CallReference, reason: String)] = []
    private var isEndingOrphans = false
    /// The bytes of requests that wait for a module or the authorizer.
    private(set) var heldBytes = 0

    /// - Parameter now: the clock's milliseconds.
    init(now: UInt64) { wheel = TimerWheel(now: now) }

    /// Continues the table of the previous program's bus, given how often each slot was used. No
    /// slot is open or free until `reopen` and `freeTheRest` are called.
    /// - Parameter now: no deadline is before it.
    init(generations: [UInt32], now: UInt64) {
        wheel = TimerWheel(now: now)
        for generation in generations { fresh()?.pointee.generation = generation }
    }

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Returns how often each of the first `most` slots was used, including the free ones.
    func generations(most: Int) -> [UInt32] { (0..<min(used, most)).map { slot($0).pointee.generation } }

    /// Returns up to `most` open calls, by slot.
    func open(most: Int) -> [CallPointer] {
        var open: [CallPointer] = []
        for number in 0..<used where open.count < most {
            if slot(number).pointee.state != .free { open.append(slot(number)) }
        }
        return open
    }

    /// Returns the call at a slot that was ever used, open or not.
    func place(_ number: UInt32) -> CallPointer? { number < used ? slot(Int(number)) : nil }

    private func slot(_ number: Int) -> CallPointer { chunks[number / Self.chunk] + number % Self.chunk }

    /// Reopens a call that was open in the table that this one continues.
    mutating func reopen(_ call: CallPointer, _ life: RequestLife) {
        call.pointee.life = life
        count += 1
    }

    /// Makes the slots that were not reopened free.
    mutating func freeTheRest() {
        // Backwards, so that the lowest slots are used first.
        for number in (0..<used).reversed() {
            let call = slot(number)
            guard call.pointee.state == .free, call.pointee.generation < Call.lastGeneration else { continue }
            call.pointee.deadline.timer.next = firstFree
            firstFree = call
        }
    }

    /// Opens a call for the caller to fill in; nil if 2^22 are open.
    mutating func open(_ kind: RequestLife.Kind) -> CallPointer? {
        guard let call = firstFree ?? fresh() else { return nil }
        firstFree = call.pointee.deadline.timer.next
        let generation = call.pointee.generation + 1
        let slot = call.pointee.slot
        // A call holds no reference, so nothing has to be let go of, and it is made in its place.
        call.initialize(to: Call(slot: slot, generation: generation))
        call.pointee.life.take(.opened(kind))
        count += 1
        return call
    }

    /// Frees the slot of a call that is in no list any more.
    mutating func close(_ call: CallPointer) {
        call.pointee.life.take(.ended)
        count -= 1
        // A slot whose numbers are used up is never free again.
        guard call.pointee.generation < Call.lastGeneration else { return }
        call.pointee.deadline.timer.next = firstFree
        firstFree = call
    }

    /// Returns the open call with a number; nil if there is none.
    func find(_ id: UInt64) -> CallPointer? {
        let slot = Int(id & UInt64(Call.mostSlots - 1))
        guard slot < used else { return nil }
        let call = self.slot(slot)
        // A number from an earlier use of the slot differs in its high bits.
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

    /// Removes a call's deadline for good.
    mutating func removeDeadline(of call: CallPointer) {
        wheel.remove(call)
        call.pointee.deadline.expiry = Call.Deadline.never
        call.pointee.deadline.budget = 0
    }

    /// Takes the next call that has expired; nil if there is none.
    mutating func nextExpired(now: UInt64) -> CallPointer? { wheel.next(now: now) }

    /// Returns when `nextExpired` must be called next; nil if no call has a deadline.
    func nextTick() -> UInt64? { wheel.nextTick() }

    // MARK: The bus's own calls

    /// The number of open calls of the bus's own.
    var purposeCount: Int { purposeOfSlot.count }

    /// Calls the body with the purpose of each open call of the bus's own, in any order.
    func forEachPurpose(_ body: (OwnPurpose) -> Void) { purposeOfSlot.forEach(body) }

    func purpose(of call: CallPointer) -> OwnPurpose? { purposeOfSlot[UInt64(call.pointee.slot)] }

    mutating func set(_ purpose: OwnPurpose, of call: CallPointer) {
        purposeOfSlot[UInt64(call.pointee.slot)] = purpose
    }

    mutating func takePurpose(of call: CallPointer) -> OwnPurpose? { purposeOfSlot.take(UInt64(call.pointee.slot)) }

    // MARK: The roots of errors

    /// The most bytes that all roots together may take.
    static let mostRootBytes = 4 << 20
    /// The roots of the calls that one peer serves may take this fraction (one eighth) of what is
    /// left. Beyond it no further root is kept. So one peer can't use all of it up.
    static let shareOfRootBytes = 8

    /// Returns the first failure of a request that was made for a call; nil if there is none.
    func root(of call: CallPointer) -> BusError.Root? {
        call.pointee.hasRoot ? rootOfSlot[call.pointee.slot] : nil
    }

    /// Keeps a call's root, if there is room for it.
    mutating func set(_ root: BusError.Root, of call: CallPointer) {
        // A call that leads to others is served by a peer.
        guard let callee = call.pointee.callee?.takeUnretainedValue(),
            callee.rootBytes + root.cost <= (Self.mostRootBytes - rootBytes) / Self.shareOfRootBytes
        else { return }
        countRoots(root.cost, of: callee)
        rootOfSlot[call.pointee.slot] = root
        call.pointee.hasRoot = true
    }

    /// Forgets the root of a call that has one.
    mutating func dropRoot(of call: CallPointer) {
        call.pointee.hasRoot = false
        guard let root = rootOfSlot.removeValue(forKey: call.pointee.slot) else { return }
        if let callee = call.pointee.callee?.takeUnretainedValue() { countRoots(-root.cost, of: callee) }
    }

    private mutating func countRoots(_ change: Int, of callee: Peer) {
        rootBytes += change
        callee.countRoots(change)
    }

    // MARK: Calls made for a call that ends

    var orphanCount: Int { orphans.count }

    /// Unlinks the calls that were made for a call that ends, so that they are cancelled next. The
    /// end of the bus's own call at `module/…` cancels nothing.
    mutating func orphanChildren(of call: CallPointer, _ reason: @autoclosure () -> String) {
        let reason = call.pointee.isLifecycle ? "" : reason()
        while let child = call.pointee.firstChild {
            child.leaveParent()
            if !call.pointee.isLifecycle { orphans.append((CallReference(child), reason)) }
        }
    }

    /// - Returns: false if orphans are already being ended.
    mutating func beginEndingOrphans() -> Bool {
        defer { isEndingOrphans = true }
        return !isEndingOrphans
    }

    /// Takes the next orphan that is still open; nil if there is none. The newest come first, so
    /// the calls made for an orphan end before the others. A loop instead of recursion, so that a
    /// long chain needs no deep stack.
    mutating func takeOrphan() -> (call: CallPointer, reason: String)? {
        while let (orphan, reason) = orphans.popLast() {
            if orphan.isOpen { return (orphan.call, reason) }
        }
        isEndingOrphans = false
        return nil
    }

    // MARK: Requests that wait

    /// Counts the bytes of a request's copy that is kept.
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
