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
        creator.instances.addCreated(number)
        owner.instances.addOwned(number)
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
        instance.creator.instances.removeCreated(number)
        instance.owner.instances.removeOwned(number)
        return instance
    }

    /// Removes all instances that a peer has created, in the order of creation. Those that their
    /// owners are asked about end with the request for them.
    mutating func removeCreated(by peer: Peer) -> [(UInt64, Instance)] {
        removeLive(of: peer.instances.allCreated)
    }

    /// Removes all instances that a peer owns, in the order of creation. Those that it is asked
    /// about end with the question.
    mutating func removeOwned(by peer: Peer) -> [(UInt64, Instance)] {
        removeLive(of: peer.instances.allOwned)
    }

    /// Looks at these alone, so that a peer with few instances costs little beside peers with many.
    private mutating func removeLive(of numbers: Set<UInt64>) -> [(UInt64, Instance)] {
        var removed: [(UInt64, Instance)] = []
        for number in numbers.sorted() where instances[number]?.isPending == false {
            if let instance = remove(number) { removed.append((number, instance)) }
        }
        return removed
    }
}

/// A peer's instances, by their numbers.
struct InstanceCounts {
    /// The live instances that it has created, with those that their owners are asked about.
    private(set) var allCreated: Set<UInt64> = []
    /// The live instances of its interfaces, with those that it is asked about.
    private(set) var allOwned: Set<UInt64> = []
    /// The `module/released` and `module/instanceEnded` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Continues the counts of the previous program's bus. The instances are added afterwards.
    init(openReleases: Int) { self.openReleases = openReleases }

    var created: Int { allCreated.count }
    var owned: Int { allOwned.count }

    mutating func addCreated(_ number: UInt64) { allCreated.insert(number) }
    mutating func removeCreated(_ number: UInt64) { allCreated.remove(number) }
    mutating func addOwned(_ number: UInt64) { allOwned.insert(number) }
    mutating func removeOwned(_ number: UInt64) { allOwned.remove(number) }
    mutating func addReleases(_ change: Int) { openReleases += change }
}
