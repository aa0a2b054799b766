/// The instances that peers have created of interfaces with `instances: multiple`. Each belongs to
/// its creator alone, and ends with its creator or its owner.
struct InstanceTable: ~Copyable {
    struct Instance {
        let interface: InterfaceRecord
        /// Unowned, because a peer's instances are removed before the peer is freed.
        unowned(unsafe) let creator: Peer
        unowned(unsafe) let owner: Peer
    }

    private(set) var instances: [UInt64: Instance] = [:]
    /// The number of the next instance.
    private(set) var next: UInt64 = 1

    init() {}

    /// Continues the numbers of the previous program's bus.
    init(next: UInt64) { self.next = next }

    /// Restores an instance of the table that this one continues.
    mutating func resume(_ number: UInt64, _ interface: InterfaceRecord, creator: Peer, owner: Peer) {
        creator.instances.addCreated(1)
        owner.instances.addOwned(1)
        instances[number] = Instance(interface: interface, creator: creator, owner: owner)
    }

    func find(_ number: UInt64) -> Instance? { instances[number] }

    mutating func add(_ interface: InterfaceRecord, creator: Peer, owner: Peer) -> UInt64 {
        defer { next += 1 }
        owner.instances.addOwned(1)
        instances[next] = Instance(interface: interface, creator: creator, owner: owner)
        return next
    }

    @discardableResult
    mutating func remove(_ number: UInt64) -> Instance? {
        guard let instance = instances.removeValue(forKey: number) else { return nil }
        instance.creator.instances.addCreated(-1)
        instance.owner.instances.addOwned(-1)
        return instance
    }

    /// Removes all instances that a peer has created, in the order of creation.
    mutating func removeCreated(by peer: Peer) -> [(UInt64, Instance)] {
        guard peer.instances.created > 0 else { return [] }
        let own = instances.filter { $0.value.creator === peer }.sorted { $0.key < $1.key }
        for (number, _) in own { remove(number) }
        return own.map { ($0.key, $0.value) }
    }

    /// Removes all instances that a peer owns.
    mutating func removeOwned(by peer: Peer) {
        guard peer.instances.owned > 0 else { return }
        // This iterates over a copy, because `remove` changes the dictionary.
        for (number, instance) in instances where instance.owner === peer { remove(number) }
    }
}

/// The numbers of a peer's instances.
struct InstanceCounts {
    /// The live instances that it has created.
    private(set) var created = 0
    /// The live instances of its interfaces.
    private(set) var owned = 0
    /// The `module/released` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Continues the counts of the previous program's bus. The instances are added afterwards.
    init(openReleases: Int) { self.openReleases = openReleases }

    mutating func addCreated(_ change: Int) { created += change }
    mutating func addOwned(_ change: Int) { owned += change }
    mutating func addReleases(_ change: Int) { openReleases += change }
}
