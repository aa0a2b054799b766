/// What modules have created of interfaces with `instances: multiple`: each
/// belongs to its creator alone, and ends with it or with its owner.
struct InstanceTable: ~Copyable {
    struct Instance {
        let interface: InterfaceRecord
        /// Unowned, because a peer's instances are taken out before it goes.
        unowned(unsafe) let creator: Peer
        unowned(unsafe) let owner: Peer
    }

    private(set) var instances: [UInt64: Instance] = [:]
    /// The number that comes next.
    private(set) var next: UInt64 = 1

    init() {}

    /// Goes on with the numbers of another program's table.
    init(next: UInt64) { self.next = next }

    /// An instance of the table that this one goes on with.
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

    /// Takes out all that a peer has created, in the order of creation.
    mutating func removeCreated(by peer: Peer) -> [(UInt64, Instance)] {
        guard peer.instances.created > 0 else { return [] }
        let own = instances.filter { $0.value.creator === peer }.sorted { $0.key < $1.key }
        for (number, _) in own { remove(number) }
        return own.map { ($0.key, $0.value) }
    }

    /// Takes out all that a peer owns.
    mutating func removeOwned(by peer: Peer) {
        guard peer.instances.owned > 0 else { return }
        for (number, instance) in instances where instance.owner === peer { remove(number) }
    }
}

/// The instances that one peer has to do with.
struct InstanceCounts {
    /// Those that it has created and that live.
    private(set) var created = 0
    /// Those of its interfaces that other peers have created and that live.
    private(set) var owned = 0
    /// `module/released` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Goes on with another program's; the instances are added behind this.
    init(openReleases: Int) { self.openReleases = openReleases }

    mutating func addCreated(_ change: Int) { created += change }
    mutating func addOwned(_ change: Int) { owned += change }
    mutating func addReleases(_ change: Int) { openReleases += change }
}
