import StrataCore

/// The open monitors, and what is kept for them.
struct MonitorTable {
    private(set) var monitors: [Monitor] = []
    /// The first of them, which knows the next: each frame walks them.
    private var first: Unmanaged<Monitor>?
    /// The request in hand, while somebody monitors.
    private(set) var hand: FrameInHand?
    /// What monitors are still to be sent; there while somebody monitors.
    private(set) var ring: NoteRing?
    private(set) var turns = NoteTurns()
    private var keptFormatter: NoteFormatter?

    /// Whether somebody monitors: each frame's way asks this before it tells of itself.
    @inline(__always) var isOn: Bool { first != nil }

    /// Calls `use` with each.
    @inline(__always)
    func forEach(_ use: (Monitor) -> Void) {
        var next = first
        while let monitor = next {
            monitor._withUnsafeGuaranteedRef(use)
            next = monitor._withUnsafeGuaranteedRef { $0.next }
        }
    }

    /// Counts a frame that every monitor misses: all want it, and none has credit, or
    /// there is no room for notes.
    /// - Returns: false where it is to be looked at.
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
        let taken = monitors.reduce(0) { $0 | $1.bit }
        let monitor = Monitor(peer: peer, call: call, wanted: wanted, bit: ~taken & (taken &+ 1))
        monitor.missed = missed
        monitors.append(monitor)
        chain()
        peer.setMonitoring(true)
        if ring == nil { ring = NoteRing() }
    }

    /// Ends the monitor that a call is, where it is one. What it was still to be sent is dropped.
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

    // MARK: The request in hand

    mutating func begin(_ hand: FrameInHand) { self.hand = hand }
    mutating func endHand() { hand = nil }

    /// The bus answers it itself: nothing else says that it passed.
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
