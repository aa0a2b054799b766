import StrataCore

/// The instances that peers have created of interfaces with `instances: multiple`. Each belongs to
/// its creator alone, and ends with its creator or its owner.
///
/// The instances that one peer has of another peer's interfaces are a group. When either session
/// ends, the group ends at once. Its instances are then taken out in batches.
struct InstanceTable: ~Copyable {
    struct Instance {
        let number: UInt64
        let interface: InterfaceRecord
        /// The number on its creator's node; 0 if that is this one.
        let foreign: UInt64
        /// Unowned, because both are there until the instance has ended. After that they must not
        /// be used.
        unowned(unsafe) let creator: Peer
        unowned(unsafe) let owner: Peer
        /// Its group; nil until its owner has consented to it. Until then it is counted, and nobody
        /// can use it.
        fileprivate(set) var group: InstanceGroup?

        var isPending: Bool { group == nil }
        /// Whether its creator or its owner has ended, so that it only waits to be taken out.
        var hasEnded: Bool { group?.hasEnded == true }
    }

    private var instances = NumberTable<Instance>()
    /// The number of the next instance.
    private(set) var next: UInt64 = 1

    init() {}

    /// Continues the numbers of the previous program's bus.
    init(next: UInt64) { self.next = next }

    /// The number of instances, with those that wait to be taken out.
    var count: Int { instances.count }

    /// Returns up to `most` live instances; all of them are in the order of creation.
    func live(most: Int) -> [Instance] {
        var live: [Instance] = []
        instances.forEach { if live.count < most, !$0.hasEnded { live.append($0) } }
        return most == .max ? live.sorted { $0.number < $1.number } : live
    }

    /// Restores an instance of the table that this one continues.
    mutating func resume(
        _ number: UInt64, _ interface: InterfaceRecord, foreign: UInt64 = 0, creator: Peer, owner: Peer, isPending: Bool
    ) {
        creator.instances.created += 1
        owner.instances.owned += 1
        instances.add(
            Instance(number: number, interface: interface, foreign: foreign, creator: creator, owner: owner), number)
        if !isPending { confirm(number) }
    }

    /// Returns an instance that its owner has consented to, and that has not ended.
    func find(_ number: UInt64) -> Instance? {
        guard let instance = instances[number], !instance.isPending, !instance.hasEnded else { return nil }
        return instance
    }

    /// Whether there is such an instance, or its owner is asked about it.
    func isThere(_ number: UInt64) -> Bool { instances[number].map { !$0.hasEnded } ?? false }

    /// Returns an instance that its owner is asked about.
    func pending(_ number: UInt64) -> Instance? {
        instances[number].flatMap { $0.isPending ? $0 : nil }
    }

    /// Adds an instance that its owner is asked about.
    /// - Parameter foreign: the number on its creator's node; 0 if that is this one.
    mutating func add(_ interface: InterfaceRecord, foreign: UInt64 = 0, creator: Peer, owner: Peer) -> UInt64 {
        defer { next += 1 }
        resume(next, interface, foreign: foreign, creator: creator, owner: owner, isPending: true)
        return next
    }

    /// Notes that its owner has consented to an instance.
    mutating func confirm(_ number: UInt64) {
        guard var instance = pending(number) else { return }
        let (creator, owner) = (instance.creator, instance.owner)
        let group = creator.instances.groupsCreated[owner.number] ?? InstanceGroup(creator: creator, owner: owner)
        group.add(number)
        creator.instances.groupsCreated[owner.number] = group
        owner.instances.groupsOwned[creator.number] = group
        instance.group = group
        instances[number] = instance
    }

    /// Removes an instance that has not ended with a session.
    /// - Returns: the instance; nil if there is none.
    mutating func remove(_ number: UInt64) -> Instance? {
        guard let instance = instances.take(number) else { return nil }
        instance.creator.instances.created -= 1
        instance.owner.instances.owned -= 1
        guard let group = instance.group else { return instance }
        group.removed()
        if group.count == 0 { leave(group) }
        if group.isSparse { group.keep { instances[$0] != nil } }
        return instance
    }

    /// Ends all instances that a peer has created, at once. Those that their owners are asked about
    /// end with the request for them.
    /// - Returns: the groups, whose instances are still to be taken out.
    func endCreated(by peer: Peer) -> [InstanceGroup] {
        end(peer.instances.groupsCreated.values.sorted { $0.owner.number < $1.owner.number })
    }

    /// Ends all instances that a peer owns, at once. Those that it is asked about end with the
    /// question.
    /// - Returns: the groups, whose instances are still to be taken out.
    func endOwned(by peer: Peer) -> [InstanceGroup] {
        end(peer.instances.groupsOwned.values.sorted { $0.creator.number < $1.creator.number })
    }

    private func end(_ groups: [InstanceGroup]) -> [InstanceGroup] {
        for group in groups {
            group.creator.instances.created -= group.count
            group.owner.instances.owned -= group.count
            leave(group)
            group.end()
        }
        return groups
    }

    private func leave(_ group: InstanceGroup) {
        group.creator.instances.groupsCreated[group.owner.number] = nil
        group.owner.instances.groupsOwned[group.creator.number] = nil
    }

    /// Takes out an instance that has ended with a session; nil if it was removed before that.
    mutating func takeOut(_ number: UInt64) -> Instance? { instances.take(number) }
}

/// The instances that one peer has created of another peer's interfaces.
final class InstanceGroup {
    /// Unowned, because the group ends with either of them. After that they must not be used.
    unowned(unsafe) let creator: Peer
    unowned(unsafe) let owner: Peer
    /// The instances' numbers, in the order of the consents. Removed ones may be among them.
    private(set) var numbers: [UInt64] = []
    /// The number of instances that were not removed.
    private(set) var count = 0
    private(set) var hasEnded = false

    init(creator: Peer, owner: Peer) { (self.creator, self.owner) = (creator, owner) }

    /// Whether most of `numbers` are of removed instances.
    var isSparse: Bool { numbers.count > 2 * count + 32 }

    fileprivate func add(_ number: UInt64) {
        numbers.append(number)
        count += 1
    }

    fileprivate func removed() { count -= 1 }
    fileprivate func keep(_ isThere: (UInt64) -> Bool) { numbers.removeAll { !isThere($0) } }
    fileprivate func end() { hasEnded = true }
}

/// A peer's instances.
struct InstanceCounts {
    /// The number of live instances that it has created, with those that their owners are asked
    /// about.
    fileprivate(set) var created = 0
    /// The number of live instances of its interfaces, with those that it is asked about.
    fileprivate(set) var owned = 0
    /// The groups of live instances, by the number of the other peer.
    fileprivate(set) var groupsCreated: [UInt64: InstanceGroup] = [:]
    fileprivate(set) var groupsOwned: [UInt64: InstanceGroup] = [:]
    /// The `module/released` and `module/instanceEnded` calls that it has not answered.
    private(set) var openReleases = 0

    init() {}

    /// Continues the counts of the previous program's bus. The instances are added afterwards.
    init(openReleases: Int) { self.openReleases = openReleases }

    mutating func addReleases(_ change: Int) { openReleases += change }
}
