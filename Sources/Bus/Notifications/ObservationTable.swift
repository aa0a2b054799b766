import StrataCore

/// Who observes which name. Looking a name up costs the same however many
/// others there are.
struct ObservationTable: ~Copyable {
    /// The observations of one name, in the order in which they were made.
    final class List {
        /// Retained; walking them for each broadcast costs no further
        /// references. What is taken out goes to `spent`.
        fileprivate(set) var observations: [Unmanaged<Observation>] = []

        deinit { for observation in observations { observation.release() } }

        /// Found by halves: many may observe a name, and all of them go at once.
        fileprivate func takeOut(_ observation: Observation) -> Observation? {
            let place = observations.place { $0._withUnsafeGuaranteedRef { $0.place } < observation.place }
            guard place < observations.count,
                observations[place].toOpaque() == Unmanaged.passUnretained(observation).toOpaque()
            else { return nil }
            return observations.remove(at: place).takeRetainedValue()
        }
    }

    private var byName = ByteTable<List>()
    /// Observations that were taken out in this round of the loop, or while a
    /// fan-out was under way.
    private var spent: [Observation] = []
    private var nextPlace: UInt64 = 1
    /// The part of the present notice that all its observers share.
    var frame = NoticeFrame()

    func find(_ name: UnsafeRawBufferPointer) -> List? { byName.find(name) }

    mutating func add(_ observation: Observation) {
        observation.terms.target.name.withUnsafeBytes { name in
            observation.isEnded = false
            observation.place = nextPlace
            nextPlace += 1
            if let list = byName.find(name) {
                list.observations.append(.passRetained(observation))
            } else {
                let list = List()
                list.observations.append(.passRetained(observation))
                byName.set(name, list)
            }
        }
    }

    /// Takes out all of a peer's.
    mutating func removeAll(of peer: Peer) {
        for observation in peer.observations.all { remove(observation) }
    }

    /// Whoever walks a list may still meet what is taken out: it lives until
    /// `dropSpent`.
    mutating func remove(_ observation: Observation) {
        observation.terms.target.name.withUnsafeBytes { name in
            guard let list = byName.find(name), let out = list.takeOut(observation) else { return }
            out.isEnded = true
            spent.append(out)
            if list.observations.isEmpty { byName.remove(name) }
        }
    }

    /// Nobody walks a list any more.
    mutating func dropSpent() {
        if !spent.isEmpty { spent.removeAll() }
    }
}
