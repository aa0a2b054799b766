/// What one peer observes.
struct PeerObservations {
    private(set) var all: [Observation] = []
    /// How many of them keep all.
    private(set) var keepingAll = 0
    /// Bytes of their names and objects.
    private(set) var bytes = 0
    /// The number that its next one gets.
    private(set) var next: UInt64 = 1

    init() {}

    /// Goes on with the numbers of another program's.
    init(next: UInt64) { self.next = next }

    var count: Int { all.count }

    mutating func add(_ observation: Observation) {
        all.append(observation)
        bytes += observation.cost
        if observation.terms.keep == .all { keepingAll += 1 }
        next = max(next, observation.terms.id + 1)
    }

    mutating func remove(_ observation: Observation) {
        all.removeAll { $0 === observation }
        bytes -= observation.cost
        if observation.terms.keep == .all { keepingAll -= 1 }
    }

    /// Its session has ended.
    mutating func removeAll() { (all, keepingAll, bytes) = ([], 0, 0) }
}
