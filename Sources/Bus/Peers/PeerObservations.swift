/// What one peer observes.
struct PeerObservations {
    private(set) var all: [Observation] = []
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
        next = max(next, observation.terms.id + 1)
    }

    mutating func remove(_ observation: Observation) {
        all.removeAll { $0 === observation }
        bytes -= observation.cost
    }

    /// Its session has ended.
    mutating func removeAll() { (all, bytes) = ([], 0) }
}
