import StrataCore

/// What a session is still to get of the retained notices. Each of its observations that has just
/// begun walks through a list; together they go in the order of the notices.
///
/// A plain value without I/O. `BusCore+Retained.swift` delivers the notices.
struct RetainedWalks {
    private struct Walk {
        let observation: Observation
        let list: RetainedList
        /// The number of the notice that is next.
        var next: UInt64
        /// The number of the first notice that the observation got when it was broadcast.
        let end: UInt64
    }

    private var walks: [Walk] = []

    var isEmpty: Bool { walks.isEmpty }
    /// How many observations have not got all of theirs.
    var count: Int { walks.count }

    /// - Parameters:
    ///   - next: the number from which the notices are its own.
    ///   - end: the number of the first notice that isn't.
    mutating func add(_ observation: Observation, _ list: RetainedList, from next: UInt64 = 1, before end: UInt64) {
        guard let first = list.first(from: next), first.number < end else { return }
        walks.append(Walk(observation: observation, list: list, next: first.number, end: end))
    }

    /// Removes the walk of an observation that ends.
    mutating func remove(_ observation: Observation) {
        if !walks.isEmpty { walks.removeAll { $0.observation === observation } }
    }

    /// The walks that cost as much to compare as a notice to deliver.
    private static let walksOfANotice = 64

    /// Returns the next notice, and the observation whose turn it is. It is the same one until `passFirst`, unless it
    /// ends.
    /// - Parameter left: the work that may be done, in notices.
    /// - Returns: nil if nothing is left, or no work may be done.
    mutating func first(_ left: inout Int) -> (Observation, RetainedNotice)? {
        while left > 0, let place = walks.indices.min(by: { walks[$0].next < walks[$1].next }) {
            left -= 1 + walks.count / Self.walksOfANotice
            let walk = walks[place]
            guard !walk.observation.isEnded, let notice = walk.list.first(from: walk.next), notice.number < walk.end
            else {
                walks.remove(at: place)
                continue
            }
            // Others may be before it.
            guard notice.number == walk.next else {
                walks[place].next = notice.number
                continue
            }
            return (walk.observation, notice)
        }
        return nil
    }

    /// Passes over the notice that `first` has returned.
    mutating func passFirst() {
        guard let place = walks.indices.min(by: { walks[$0].next < walks[$1].next }) else { return }
        walks[place].next += 1
    }

    mutating func removeAll() { walks = [] }

    /// How far each observation is.
    var state: [RetainedWalkState] {
        walks.map { RetainedWalkState(observation: $0.observation.terms.id, next: $0.next, end: $0.end) }
    }
}
