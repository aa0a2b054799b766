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

    /// Whether there is a monitor; checked for every frame before it is noted.
    @inline(__always) var isOn: Bool { first != nil }

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

    /// Ends the monitor that belongs to a call, if there is one. What it would still have been sent
    /// is dropped.
    mutating func remove(_ call: CallPointer) {
        guard let index = monitors.firstIndex(where: { $0.call == call }) else { return }
        let ended = monitors.remove(at: index)
        chain()
        ring?.forget(ended.bit)
        ended.peer._withUnsafeGuaranteedRef { peer in
            peer.setMonitoring(monitors.contains { $0.peer.toOpaque() == ended.peer.toOpaque() })
        }
        guard monitors.isEmpty else { return }
        ring = nil
        keptFormatter = nil
        turns.emptied()
    }

    private mutating func chain() {
        first = nil
        for monitor in monitors.reversed() {
            monitor.next = first
            first = .passUnretained(monitor)
        }
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

    mutating func formatter() -> NoteFormatter {
        let formatter = keptFormatter ?? NoteFormatter()
        keptFormatter = formatter
        return formatter
    }
}
