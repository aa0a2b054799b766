import StrataCore

/// Who observes which name. Looking a name up costs the same however many
/// others there are.
struct ObservationTable: ~Copyable {
    /// The observations of one name, in the order in which they were made.
    final class List {
        var observations: [Observation] = []
    }

    private var byName = ByteTable<List>()

    init() {}

    func find(_ name: UnsafeRawBufferPointer) -> List? { byName.find(name) }

    mutating func add(_ observation: Observation) {
        observation.name.withUnsafeBytes { name in
            if let list = byName.find(name) {
                list.observations.append(observation)
            } else {
                let list = List()
                list.observations.append(observation)
                byName.set(name, list)
            }
        }
    }

    /// Takes out all of a peer's.
    mutating func removeAll(of peer: Peer) {
        for name in Set(peer.observations.map(\.name)) {
            name.withUnsafeBytes { name in
                guard let list = byName.find(name) else { return }
                list.observations.removeAll { $0.peer === peer }
                if list.observations.isEmpty { byName.remove(name) }
            }
        }
    }

    mutating func remove(_ observation: Observation) {
        observation.name.withUnsafeBytes { name in
            guard let list = byName.find(name) else { return }
            list.observations.removeAll { $0 === observation }
            if list.observations.isEmpty { byName.remove(name) }
        }
    }
}
