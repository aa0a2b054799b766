/// The instances that peers have created of interfaces with `instances: multiple`. Each belongs to
/// its creator alone, and ends with its creator or its owner.
struct InstanceTable: ~Copyable {
    struct Instance {
        let interface: InterfaceRecord
        /// Unowned, because a peer's instances are removed before the peer is freed.
        unowned(unsafe) let creator: Peer
        unowned(unsafe) let owner: Peer
        /// Whether its owner has not consented to it yet. Then it is counted, and nobody can use it.
        var isPending = false
    }

    private(set) var instances: [UInt64: Instance] = [:]
    /// The number of the next instance.
    private(set) var next: UInt64 = 1

    init() {}

    /// Continues the numbers of the previous program's bus.
    init(next: UInt64) { self.next = next }

    /// Restores an instance of the table that this one continues.
    mutating func resume(_ number: UInt64, _ interface: InterfaceRecord, creator: Peer, owner: Peer, isPending: Bool) {
        creator.instances.addCreated(1)
        owner.instances.addOwned(1)
        instances[number] = Instance(interface: interface, creator: creator, owner: owner, isPending: isPending)
    }

    /// Returns an instance that its owner has consented to.
    func find(_ number: UInt64) -> Instance? { instances[number].flatMap { $0.isPending ? nil : $0 } }

    /// Adds an instance that its owner is asked about.
    mutating func add(_ interface: InterfaceRecord, creator: Peer, owner: Peer) -> UInt64 {
        defer { next += 1 }
        resume(next, interface, creator: creator, owner: owner, isPending: true)
        return next
    }

    /// Notes that its owner has consented to an instance.
    mutating func confirm(_ number: UInt64) { instances[number]?.isPending = false }

    @discardableResult
    mutating func remove(_ number: UInt64) -> Instance? {
        guard let instance = instances.removeValue(forKey: number) else { return nil }
        instance.creator.instances.addCreated(-1)
        instance.owner.instances.addOwned(-1)
        return instance
    }

    /// Removes all instances that a peer has created, in the order of creation. Those that their
    /// owners are asked about end with the request for them.
    mutating func removeCreated(by peer: Peer) -> [(UInt64, Instance)] {
        guard peer.instances.created > 0 else { return [] }
        let own = instances.filter { $0.value.creator === peer && !$0.value.isPending }.sorted { $0.key < $1.key }
        for (number, _) in own { remove(number) }
        return own.map { ($0.key, $0.value) }
    }

    /// Removes all instances that a peer owns, in the order of creation. Those that it is asked
    /// about end with the question.
    mutating func removeOwned(by peer: Peer) -> [(UInt64, Instance)] {
        guard peer.instances.owned > 0 else { return [] }
        let own = instances.filter { $0.value.owner === peer && !$0.value.isPending }.sorted { $0.key < $1.key }
        for (number, _) in own { remove(number) }
        return own.map { ($0.key, $0.value) }
    }
}

/// The numbers of a peer's instances.
struct InstanceCounts {
    /// The live instances that it has created, with those that their owners are asked about.
    private(set) var created = 0
    /// The live instances of its interfaces.
    private(set) var owned = 0
    /// The `module/released` and `module/instanceEnded` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Continues the counts of the previous program's bus. The instances are added afterwards.
    init(openReleases: Int) { self.openReleases = openReleases }

    mutating func addCreated(_ change: Int) { created += change }
    mutating func addOwned(_ change: Int) { owned += change }
    mutating func addReleases(_ change: Int) { openReleases += change }
}
