import StrataCore

/// Everything that the bus does at a given time on its own initiative. The deadlines of requests
/// are in the `TimerWheel`.
///
/// Alarms come earliest first. Alarms that are due at the same time come in the order in which they
/// were set. They are kept in a binary heap whose entries know their places, so setting or
/// canceling one takes logarithmic time. Times are milliseconds of the loop's clock.
struct Alarms {
    /// Something that is due.
    struct Alarm: Hashable {
        enum Kind: UInt8 {
            /// The time for a connection's hello is over.
            case hello
            /// The time for a connection to complete the frame that it has begun is over.
            case assembly
            /// The time for a session to register everything that it brings is over.
            case offering
            /// The time for a replaced session to finish its requests is over.
            case finishing
            /// The time for an ended connection to take its last bytes is over.
            case lingering
            case idle
            case ping
            /// The time for the modules whose turn it is to start is over.
            case startTurn
            /// The time for the hello of the launcher that started this broker is over.
            case launcher
            /// Notes for monitors must be formatted.
            case notes
            /// The time in which requests wait for a node to join is over.
            case join
            /// What has changed must be told to streams of `bus/traffic`.
            case traffic
            /// Monitors must be told what was left out.
            case left
            /// A connection must try again to write.
            case writing

            /// The kinds that the next program's bus sets itself.
            static let ofThisProgram: [Kind] = [.notes, .join, .traffic, .left, .writing]
            /// The kinds that concern one connection.
            static let ofConnections: [Kind] = [
                .hello, .assembly, .offering, .finishing, .lingering, .writing, .idle, .ping,
            ]
        }

        var kind: Kind
        /// The connection's number; 0 for an alarm that concerns none.
        var peer: UInt64
    }

    private struct Entry {
        let alarm: Alarm
        let due: UInt64
        /// The order in which the alarms were set.
        let order: UInt64

        func isBefore(_ other: Entry) -> Bool { (due, order) < (other.due, other.order) }
    }

    private var heap: [Entry] = []
    private var places: [Alarm: Int] = [:]
    private var lastOrder: UInt64 = 0
    /// When the bus must look at the time again: for the next alarm or the next deadline.
    private(set) var wakeAt = UInt64.max

    /// Makes the bus look at the time at `due` at the latest.
    @inline(__always)
    mutating func wake(at due: UInt64) { if due < wakeAt { wakeAt = due } }

    /// Clears `wakeAt`, so that nothing is due.
    mutating func sleep() { wakeAt = .max }

    /// When the earliest alarm is due; nil if none is set.
    var next: UInt64? { heap.first?.due }

    /// All alarms, in the order in which they are due.
    var all: [(alarm: Alarm, due: UInt64)] { heap.sorted { $0.isBefore($1) }.map { ($0.alarm, $0.due) } }

    func isSet(_ alarm: Alarm) -> Bool { places[alarm] != nil }

    /// Sets an alarm; one that is already set moves to the new time.
    mutating func set(_ alarm: Alarm, at due: UInt64) {
        cancel(alarm)
        lastOrder += 1
        heap.append(Entry(alarm: alarm, due: due, order: lastOrder))
        places[alarm] = heap.count - 1
        rise(heap.count - 1)
    }

    /// - Returns: whether it was set.
    @discardableResult
    mutating func cancel(_ alarm: Alarm) -> Bool {
        guard let place = places.removeValue(forKey: alarm) else { return false }
        let last = heap.removeLast()
        // The last entry fills the gap, and may be too early or too late for that place.
        if place < heap.count {
            put(last, at: place)
            rise(place)
            sink(place)
        }
        return true
    }

    /// Takes out the earliest alarm if it is due.
    mutating func takeDue(now: UInt64) -> Alarm? {
        guard let first = heap.first, first.due <= now else { return nil }
        cancel(first.alarm)
        return first.alarm
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        heap[place] = entry
        places[entry.alarm] = place
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        let entry = heap[one]
        put(heap[other], at: one)
        put(entry, at: other)
    }

    private mutating func rise(_ place: Int) {
        var place = place
        while place > 0, heap[place].isBefore(heap[(place - 1) / 2]) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(_ place: Int) {
        var place = place
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != place else { return }
            swap(place, least)
            place = least
        }
    }
}

/// The passing of time: the deadlines of requests, and the bus's own alarms. `wakeAt` is the
/// earliest of them all.
extension BusCore {
    /// Sets an alarm; one that is already set moves to the new time.
    /// - Parameter delay: milliseconds from the round's time.
    func setAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil, after delay: UInt64) {
        setAlarm(kind, of: peer, at: now + delay)
    }

    func setAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil, at due: UInt64) {
        alarms.set(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0), at: due)
        wake(at: due)
    }

    /// - Returns: whether it was set.
    @discardableResult
    func cancelAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil) -> Bool {
        alarms.cancel(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0))
    }

    func isAlarmSet(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil) -> Bool {
        alarms.isSet(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0))
    }

    /// Cancels all alarms of a connection that has closed.
    func cancelAlarms(of peer: Peer) {
        for kind in Alarms.Alarm.Kind.ofConnections { cancelAlarm(kind, of: peer) }
    }

    @inline(__always)
    func wake(at due: UInt64) {
        alarms.wake(at: due)
    }

    func timePassed() {
        deadlinesPassed()
        while let alarm = alarms.takeDue(now: now) { passed(alarm) }
        wakeForTheEarliest()
    }

    func wakeForTheEarliest() {
        alarms.sleep()
        if let tick = calls.nextTick() { wake(at: max(tick, now + 1)) }
        if let due = alarms.next { wake(at: due) }
    }

    private func passed(_ alarm: Alarms.Alarm) {
        switch (alarm.kind, connections[alarm.peer]) {
        case (.startTurn, _): startTurnPassed()
        case (.launcher, _): launcherTimePassed()
        case (.notes, _): noteTimePassed()
        case (.join, _): joinTimePassed()
        case (.traffic, _): trafficTimePassed()
        case (.left, _): leftTimePassed()
        case (.hello, let peer?): helloTimePassed(peer)
        case (.assembly, let peer?): event.add(.lookAtFrame(peer))
        case (.writing, let peer?): event.add(.writeOn(peer))
        case (.offering, let peer?): offeringTimePassed(peer)
        case (.finishing, let peer?): finishingTimePassed(peer)
        case (.lingering, let peer?): event.add(.close(peer))
        case (.idle, let peer?): idleTimePassed(peer)
        case (.ping, let peer?): ping(peer)
        // The alarms of a connection end with it.
        case (.hello, nil), (.assembly, nil), (.offering, nil), (.finishing, nil), (.lingering, nil), (.idle, nil),
            (.ping, nil), (.writing, nil):
            break
        }
    }
}
