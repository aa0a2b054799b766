import StrataCore

/// What the bus does at a time of its own accord; requests' deadlines are in the
/// `TimerWheel`.
///
/// The earliest comes first, and of several that are due at one time the one that was set
/// first. A binary heap whose entries know their places: to set or to cancel one costs the
/// logarithm of how many there are. Times are milliseconds of the loop's clock.
struct Alarms {
    /// What is due.
    struct Alarm: Hashable {
        enum Kind: UInt8 {
            /// A connection has had its time to say hello.
            case hello
            /// The frame that a connection has begun should be complete.
            case assembly
            /// A session has had its time to say all that it brings.
            case offering
            /// A replaced session has had its time to finish its requests.
            case finishing
            /// An ended connection has had its time to take its last bytes.
            case lingering
            case idle
            case ping
            /// The modules whose turn it is have had their time to start.
            case startTurn
            /// The launcher that started this broker should have said hello.
            case launcher
            /// Notes for monitors are to be formatted.
            case notes

            /// Those that are about one connection.
            static let ofConnections: [Kind] = [.hello, .assembly, .offering, .finishing, .lingering, .idle, .ping]
        }

        var kind: Kind
        /// The connection's number; 0 for what is about none.
        var peer: UInt64
    }

    private struct Entry {
        let alarm: Alarm
        let due: UInt64
        /// Which one was set before which.
        let order: UInt64

        func isBefore(_ other: Entry) -> Bool { (due, order) < (other.due, other.order) }
    }

    private var heap: [Entry] = []
    private var places: [Alarm: Int] = [:]
    private var lastOrder: UInt64 = 0
    /// When the time is to be looked at again: for the next alarm, or the next deadline.
    private(set) var wakeAt = UInt64.max

    /// Looks at the time at `due` at the latest.
    @inline(__always)
    mutating func wake(at due: UInt64) { if due < wakeAt { wakeAt = due } }

    /// Nothing is due.
    mutating func sleep() { wakeAt = .max }

    /// When the earliest is due; nil where none is set.
    var next: UInt64? { heap.first?.due }

    /// All that are set, in the order in which they come.
    var all: [(alarm: Alarm, due: UInt64)] { heap.sorted { $0.isBefore($1) }.map { ($0.alarm, $0.due) } }

    func isSet(_ alarm: Alarm) -> Bool { places[alarm] != nil }

    /// Sets an alarm, or sets it anew.
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
        if place < heap.count {
            put(last, at: place)
            rise(place)
            sink(place)
        }
        return true
    }

    /// Takes the earliest alarm out, where it is due.
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

/// Time that passes: deadlines of requests, and the bus's own alarms. `wakeAt` is the earliest of all.
extension BusCore {
    /// Sets an alarm, or sets it anew.
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

    /// A connection has closed: nothing of it is due any more.
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
        case (.hello, let peer?): helloTimePassed(peer)
        case (.assembly, let peer?): event.add(.lookAtFrame(peer))
        case (.offering, let peer?): offeringTimePassed(peer)
        case (.finishing, let peer?): finishingTimePassed(peer)
        case (.lingering, let peer?): event.add(.close(peer))
        case (.idle, let peer?): idleTimePassed(peer)
        case (.ping, let peer?): ping(peer)
        // Those of a connection end with it.
        case (.hello, nil), (.assembly, nil), (.offering, nil), (.finishing, nil), (.lingering, nil), (.idle, nil),
            (.ping, nil):
            break
        }
    }
}
