import StrataCore

/// The observations here that are still to get what another node's modules have retained. Nothing of that is kept here:
/// what an observer has no room for is asked for again.
///
/// A plain value without I/O. `BusCore+RetainedOfNodes.swift` asks, and delivers the answers.
struct RetainedAsks {
    /// An observation since it has begun, and what it is to get.
    struct Observer {
        let observation: Observation
        /// Its place in the order of all observations. It has another one if it ends and begins again.
        let place: UInt64
        /// The node's number of the first notice that it is to get.
        var from: UInt64 = 1
        /// The node's number of the first notice that it isn't to get; nil until the node has said it.
        var before: UInt64?

        init(_ observation: Observation) { (self.observation, place) = (observation, observation.place) }

        /// Whether it still observes. Only then is its peer there.
        var isLive: Bool { !observation.isEnded && observation.place == place }

        /// Observers with the same one are asked for together.
        fileprivate var key: Key { Key(target: observation.terms.target, from: from, before: before) }
    }

    fileprivate struct Key: Hashable {
        let target: Observation.Target
        let from: UInt64
        let before: UInt64?
    }

    /// Observers that are asked for together.
    struct Group {
        let number: UInt64
        var observers: [Observer]
    }

    /// The most observers that one ask is for: each notice is delivered to them at once.
    private static let mostOfAsk = 128
    /// The most observers that are looked at for the next asks.
    private static let mostAtOnce = 4_096

    /// Observers whose asks the node hasn't answered yet, by the asks' numbers.
    private var asked: [UInt64: [Observer]] = [:]
    private var lastNumber: UInt64 = 0
    /// Observers for which the next asks are sent.
    private var due: [Observer] = []
    /// Observers that wait for room in their queues, by the numbers of their sessions.
    private var full: [UInt64: [Observer]] = [:]
    private var fullCount = 0
    /// When there are this many observers, the ended ones are removed.
    private var mostKept = mostAtOnce

    /// Whether asks can be sent now.
    var isDue: Bool { !due.isEmpty && asked.count < RetainedAsk.most }

    mutating func add(_ observer: Observer) {
        dropEnded()
        due.append(observer)
    }

    /// Notes that an observer's queue had no room for the notice that is next.
    mutating func isFull(_ observer: Observer) {
        dropEnded()
        full[observer.observation.peer.number, default: []].append(observer)
        fullCount += 1
    }

    /// Notes that a session's queue has room.
    mutating func hasRoom(_ session: UInt64) {
        guard fullCount > 0, let observers = full.removeValue(forKey: session) else { return }
        fullCount -= observers.count
        due += observers
    }

    /// Removes observers that have ended, once there are twice as many as after the last time.
    private mutating func dropEnded() {
        guard due.count + fullCount >= mostKept else { return }
        due.removeAll { !$0.isLive }
        full = full.compactMapValues { observers in
            let live = observers.filter(\.isLive)
            return live.isEmpty ? nil : live
        }
        fullCount = full.values.reduce(0) { $0 + $1.count }
        mostKept = max(Self.mostAtOnce, 2 * (due.count + fullCount))
    }

    /// Takes the observers that are asked for next, in the order in which they have begun.
    mutating func takeDue() -> [Group] {
        var groups: [Group] = []
        var places: [Key: Int] = [:]
        var taken = 0
        for observer in due.prefix(Self.mostAtOnce) {
            if observer.isLive {
                let key = observer.key
                if let place = places[key], groups[place].observers.count < Self.mostOfAsk {
                    groups[place].observers.append(observer)
                } else {
                    guard asked.count + groups.count < RetainedAsk.most else { break }
                    lastNumber += 1
                    places[key] = groups.count
                    groups.append(Group(number: lastNumber, observers: [observer]))
                }
            }
            taken += 1
        }
        due.removeFirst(taken)
        for group in groups { asked[group.number] = group.observers }
        return groups
    }

    /// Returns the observers of an ask that isn't answered yet; nil if there is no such ask.
    subscript(number: UInt64) -> [Observer]? { asked[number] }

    /// Notes which observers of an ask have got its next notice. If it was the last one for now, they are asked for again.
    mutating func delivered(_ number: UInt64, _ place: RetainedPlace, to observers: [Observer]) {
        guard place.isLast else { return asked[number] = observers }
        asked[number] = nil
        for var observer in observers {
            (observer.from, observer.before) = (place.number + 1, place.before)
            add(observer)
        }
    }

    /// Notes that the node has answered an ask.
    mutating func answered(_ number: UInt64) { asked[number] = nil }
}

/// What another node has asked for and hasn't got yet, oldest first.
struct RetainedAnswers {
    /// The most notices, and about the most bytes of them, that one ask gets. Then the asker asks again: so one whose
    /// observers read slowly, or have ended, doesn't get everything.
    private static let (mostNotices, mostBytes) = (64, 256 << 10)

    struct Answer {
        let ask: RetainedAsk
        /// The notices among which it is; nil if there were none.
        let list: RetainedList?
        /// The number of the notice that is next.
        fileprivate(set) var next: UInt64
        /// The number of the first notice that isn't asked for.
        let before: UInt64
        /// What was sent of it.
        fileprivate var notices = 0
        fileprivate var bytes = 0

        /// Whether the asker has to ask again for what comes after a notice with so many bytes.
        func isLast(_ bytes: Int) -> Bool { notices + 1 >= mostNotices || self.bytes + bytes >= mostBytes }
    }

    private var answers: [Answer] = []

    var count: Int { answers.count }
    var isEmpty: Bool { answers.isEmpty }
    /// The one whose turn it is.
    var first: Answer? { answers.first }

    /// - Parameters:
    ///   - list: the notices among which it is; nil if there are none.
    ///   - before: the number of the next notice that is retained.
    mutating func add(_ ask: RetainedAsk, _ list: RetainedList?, before: UInt64) {
        answers.append(Answer(ask: ask, list: list, next: ask.from, before: min(before, ask.before ?? before)))
    }

    mutating func removeFirst() { answers.removeFirst() }

    /// Passes over a notice.
    mutating func pass(_ number: UInt64) { answers[0].next = number + 1 }

    /// Notes that a notice was sent.
    mutating func sent(_ number: UInt64, _ bytes: Int) {
        if answers[0].isLast(bytes) { return removeFirst() }
        answers[0].next = number + 1
        answers[0].notices += 1
        answers[0].bytes += bytes
    }
}
