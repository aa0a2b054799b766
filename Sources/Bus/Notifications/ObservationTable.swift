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

        fileprivate func takeOut(_ isWanted: (Observation) -> Bool) -> [Observation] {
            let out = observations.filter { isWanted($0.takeUnretainedValue()) }
            observations.removeAll { isWanted($0.takeUnretainedValue()) }
            return out.map { observation in
                observation._withUnsafeGuaranteedRef { $0.isEnded = true }
                return observation.takeRetainedValue()
            }
        }
    }

    private var byName = ByteTable<List>()
    /// Observations that were taken out in this round of the loop, or while a
    /// fan-out was under way.
    private var spent: [Observation] = []

    init() {}

    func find(_ name: UnsafeRawBufferPointer) -> List? { byName.find(name) }

    mutating func add(_ observation: Observation) {
        observation.name.withUnsafeBytes { name in
            observation.isEnded = false
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
        for name in Set(peer.observations.map(\.name)) { takeOut(name) { $0.peer === peer } }
    }

    mutating func remove(_ observation: Observation) { takeOut(observation.name) { $0 === observation } }

    /// Whoever walks a list may still meet what is taken out: it lives until
    /// `dropSpent`.
    private mutating func takeOut(_ name: [UInt8], _ isWanted: (Observation) -> Bool) {
        name.withUnsafeBytes { name in
            guard let list = byName.find(name) else { return }
            spent += list.takeOut(isWanted)
            if list.observations.isEmpty { byName.remove(name) }
        }
    }

    /// Nobody walks a list any more.
    mutating func dropSpent() {
        if !spent.isEmpty { spent.removeAll() }
    }
}
