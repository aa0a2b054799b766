/// The open `bus/watch` calls.
struct WatchList {
    private(set) var watches: [Watch] = []
    /// Some have more to be sent than was sent at once.
    private(set) var hasUnsent = false

    var isEmpty: Bool { watches.isEmpty }

    mutating func add(_ watch: Watch) { watches.append(watch) }

    mutating func removeAll(of peer: Peer) { watches.removeAll { $0.peer === peer } }

    mutating func removeEnded() { watches.removeAll { !$0.asking.isOpen } }

    mutating func fed(hasUnsent: Bool) { self.hasUnsent = hasUnsent }

    /// How many a peer has.
    func count(of peer: Peer) -> Int { watches.count { $0.peer === peer && $0.asking.isOpen } }
}
