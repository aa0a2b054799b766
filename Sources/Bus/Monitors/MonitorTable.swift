import StrataCore

/// The open monitors, and the notes that are kept for them.
struct MonitorTable {
    private(set) var monitors: [Monitor] = []
    /// The first monitor, which links to the next: every frame walks this list.
    private var first: Unmanaged<Monitor>?
    /// The request that is being handled; nil if there is no monitor.
    private(set) var hand: FrameInHand?
    /// The notes that must still be sent; nil if there is no monitor.
    private(set) var ring: NoteRing?
    private(set) var turns = NoteTurns()
    private var keptFormatter: NoteFormatter?

    /// Whether frames are seen: there is a monitor, or they are counted for `bus/traffic`. Checked
    /// for every frame.
    @inline(__always) var isOn: Bool { seen != nil }
    /// Not nil if frames are seen. It points to nothing: a pointer, because the broker's code for a
    /// notice takes five instructions more with a Bool here.
    private var seen: UnsafeRawPointer?
    /// Whether frames are counted.
    private var counts = false
    /// Whether the alarm for `left` is set.
    private(set) var willTellLeft = false
    /// The monitors that are still to be told what was left out; nil if it isn't the time.
    private(set) var tellingLeft: [CallReference]?

    /// Whether some monitor is cancelled, and still to be sent what was noted for it.
    private(set) var hasCancelled = false

    @inline(__always) var isEmpty: Bool { first == nil }

    func hasMonitors(of peer: Peer) -> Bool {
        monitors.contains { $0.peer.toOpaque() == Unmanaged.passUnretained(peer).toOpaque() }
    }

    /// Sets whether frames are counted, which also makes them seen.
    mutating func setCounting(_ counts: Bool) {
        self.counts = counts
        noteWhetherSeen()
    }

    private mutating func noteWhetherSeen() {
        seen = counts || first != nil ? UnsafeRawPointer(bitPattern: 1) : nil
    }

    /// Calls `use` with each monitor.
    @inline(__always)
    func forEach(_ use: (Monitor) -> Void) {
        var next = first
        while let monitor = next {
            monitor._withUnsafeGuaranteedRef(use)
            next = monitor._withUnsafeGuaranteedRef { $0.next }
        }
    }

    /// Counts a frame that every monitor misses: all want it, but none has credit, or there is no
    /// room for notes.
    /// - Returns: false if some monitor may get the frame.
    @inline(__always)
    func isMissedByAll() -> Bool {
        let isFull = ring?.isFull ?? true
        var next = first
        while let monitor = next {
            let mayHaveIt = monitor._withUnsafeGuaranteedRef { !$0.isUnfiltered || (!isFull && $0.hasCredit) }
            if mayHaveIt { return false }
            next = monitor._withUnsafeGuaranteedRef { $0.next }
        }
        forEach { $0.missed += 1 }
        return true
    }

    // MARK: Opening and ending

    mutating func add(of peer: Peer, _ call: CallPointer, _ wanted: Monitor.Wanted, missed: UInt64) {
        // The lowest free bit.
        let taken = monitors.reduce(0) { $0 | $1.bit }
        let monitor = Monitor(peer: peer, call: call, wanted: wanted, bit: ~taken & (taken &+ 1))
        monitor.missed = missed
        monitors.append(monitor)
        chain()
        peer.setMonitoring(true)
        if ring == nil { ring = NoteRing() }
    }

    /// Lets the monitor that belongs to a call see no more frames, because its caller wants none.
    /// - Returns: whether it ends later: it is to be sent what was noted for it before that.
    mutating func cancel(_ call: CallPointer) -> Bool {
        guard let monitor = monitors.first(where: { $0.call == call }), monitor.promised > 0 else { return false }
        monitor.isCancelled = true
        hasCancelled = true
        return true
    }

    /// A cancelled monitor's request that can end, because it has been sent everything; nil if there is none.
    var nextToEnd: CallPointer? { monitors.first { $0.isCancelled && $0.promised == 0 }?.call }

    /// Ends the monitor that belongs to a call, if there is one. What it would still have been sent
    /// is dropped.
    /// - Returns: whether there was one.
    mutating func remove(_ call: CallPointer) -> Bool {
        guard let index = monitors.firstIndex(where: { $0.call == call }) else { return false }
        let ended = monitors.remove(at: index)
        hasCancelled = monitors.contains { $0.isCancelled }
        chain()
        ring?.forget(ended.bit)
        guard monitors.isEmpty else { return true }
        ring = nil
        keptFormatter = nil
        turns.emptied()
        (willTellLeft, tellingLeft) = (false, nil)
        return true
    }

    private mutating func chain() {
        first = nil
        for monitor in monitors.reversed() {
            monitor.next = first
            first = .passUnretained(monitor)
        }
        noteWhetherSeen()
    }

    // MARK: The request that is being handled

    mutating func begin(_ hand: FrameInHand) { self.hand = hand }
    mutating func endHand() { hand = nil }

    /// Notes that the bus answers the request itself.
    mutating func isServed() { hand?.isServed = true }

    mutating func isTold() { hand?.isTold = true }

    // MARK: Turns

    mutating func added(now: UInt64) -> NoteTurns.Action { turns.added(now: now) }
    mutating func timePassed() -> NoteTurns.Action { turns.timePassed() }
    mutating func worked(_ work: Int, isEmpty: Bool, now: UInt64) -> NoteTurns.Action {
        turns.worked(work, isEmpty: isEmpty, now: now)
    }

    // MARK: What is left out

    mutating func plansLeft() { willTellLeft = true }

    /// Begins to tell what was left out.
    mutating func beginsLeft() {
        willTellLeft = false
        tellingLeft = monitors.filter { $0.shares?.hasLeft == true }.map { CallReference($0.call) }.reversed()
    }

    /// The monitor that is told next; nil if none is left.
    mutating func nextTold() -> Monitor? {
        while let call = tellingLeft?.last {
            if call.isOpen, let monitor = monitors.first(where: { $0.call == call.call }) { return monitor }
            tellingLeft?.removeLast()
        }
        tellingLeft = nil
        return nil
    }

    mutating func toldOne() { tellingLeft?.removeLast() }

    mutating func formatter() -> NoteFormatter {
        let formatter = keptFormatter ?? NoteFormatter()
        keptFormatter = formatter
        return formatter
    }
}
