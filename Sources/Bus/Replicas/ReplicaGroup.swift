import StrataCore

/// The replicas of one row, and which of them gets a request.
///
/// A request goes to the ready replica that has the fewest requests open. Keys are divided into slots by their hash,
/// and a slot belongs to one replica until that one's session ends. So requests with the same key go to the same
/// replica, while the bus remembers no keys.
struct ReplicaGroup {
    /// The number of slots for keys.
    static let slotCount = 4_096

    /// The replicas by number.
    private(set) var members: [ModuleRecord] = []
    /// The replicas whose row was removed, until they are forgotten. They get no further requests.
    private(set) var leaving: [ModuleRecord] = []
    /// The number of the replica that has each slot; 0 for none. Empty before the first request with a key.
    private(set) var slots: [UInt8] = []
    /// The place in `members` of the replica that was chosen last.
    private var last = 0

    /// The walk over the requests that wait at the group, if one is under way.
    var walk: Walk?

    /// A walk over waiting requests, which may take several batches.
    struct Walk {
        /// The place of the next request.
        var place = 0
        /// The keys of requests that were passed over. Later ones with the same key stay behind them.
        var blocked: Set<[UInt8]> = []
        /// Whether a replica has got ready or has got room since it began. Then another walk follows.
        var isToRepeat = false
    }

    /// Sets the replicas, after a reload. Those that are gone lose their slots.
    mutating func take(_ members: [ModuleRecord], leaving: [ModuleRecord]) {
        self.leaving = leaving
        let kept = Set(members.compactMap { $0.row?.replica?.number })
        for former in self.members {
            if let number = former.row?.replica?.number, !kept.contains(number) { sessionEnded(number) }
        }
        self.members = members
        last = 0
    }

    /// Continues with the slots that the previous program's bus had.
    mutating func resume(slots: [UInt8]) {
        guard slots.count == Self.slotCount else { return }
        self.slots = slots.map { Int($0) <= ReplicaName.most ? $0 : 0 }
    }

    /// Frees the slots of a replica whose session has ended or takes no further requests.
    mutating func sessionEnded(_ number: Int) {
        for place in slots.indices where slots[place] == number { slots[place] = 0 }
    }

    /// Chooses a replica.
    /// - Parameters:
    ///   - key: the request's key; empty if it has none.
    ///   - canTake: whether a replica provides what is requested.
    /// - Returns: nil if none is ready, or if the one that has the key doesn't take requests yet.
    mutating func choose(for key: UnsafeRawBufferPointer, _ canTake: (ModuleRecord) -> Bool) -> ModuleRecord? {
        guard !key.isEmpty else { return choose(by: \.servedCount, canTake) }
        if slots.isEmpty { slots = Array(repeating: 0, count: Self.slotCount) }
        let slot = Self.slot(of: key)
        if slots[slot] > 0, let owner = members.first(where: { $0.row?.replica?.number == Int(slots[slot]) }),
            owner.peer != nil, canTake(owner)
        {
            return owner.receiver == nil ? nil : owner
        }
        var counts = [Int](repeating: 0, count: ReplicaName.most + 1)
        for number in slots { counts[Int(number)] += 1 }
        let chosen = choose(by: { counts[$0.module?.row?.replica?.number ?? 0] }, canTake)
        guard let chosen, let number = chosen.row?.replica?.number else { return nil }
        slots[slot] = UInt8(number)
        return chosen
    }

    /// Returns the ready replica with the least load. Equals take turns.
    private mutating func choose(by load: (Peer) -> Int, _ canTake: (ModuleRecord) -> Bool) -> ModuleRecord? {
        var best: (place: Int, load: Int)?
        for step in members.indices {
            let place = (last + 1 + step) % members.count
            guard let peer = members[place].receiver, canTake(members[place]) else { continue }
            let load = load(peer)
            if best.map({ load < $0.load }) ?? true { best = (place, load) }
        }
        guard let best else { return nil }
        last = best.place
        return members[best.place]
    }

    /// Returns a key's slot, by its FNV-1a hash: the next program's bus must find the same one.
    private static func slot(of key: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int((hash ^ hash >> 32) % UInt64(slotCount))
    }
}
