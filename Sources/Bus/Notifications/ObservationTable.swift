import StrataCore

/// The observations, by the name or the pattern that they are of. Looking a name up costs the same however many names
/// there are.
struct ObservationTable: ~Copyable {
    /// The observations of one name or pattern, in the order in which they were made.
    final class List {
        /// Retained here, so walking them for each broadcast takes no further references. Removed
        /// ones move to `spent`.
        fileprivate(set) var observations: [Unmanaged<Observation>] = []
        /// The highest `Observation.subscription` there was among them.
        fileprivate(set) var subscription: UInt64 = 0

        /// The latest rank of an observer.
        var latestRank: Int? { observations.lazy.map { $0._withUnsafeGuaranteedRef { $0.terms.rank } }.max() }

        deinit { for observation in observations { observation.release() } }

        /// Takes an observation out by binary search, because many may observe one name, and all of
        /// them may end at once.
        fileprivate func takeOut(_ observation: Observation) -> Observation? {
            let place = observations.place { $0._withUnsafeGuaranteedRef { $0.place } < observation.place }
            guard place < observations.count,
                observations[place].toOpaque() == Unmanaged.passUnretained(observation).toOpaque()
            else { return nil }
            return observations.remove(at: place).takeRetainedValue()
        }
    }

    private var byName = NameTable<List>()
    /// Observations that were removed in this round of the loop, or during a fan-out.
    private var spent: [Observation] = []
    private var nextPlace: UInt64 = 1
    /// The observations that replicas of a row share. The first of each is in the table for all.
    private var shared: [Sharing.Key: Sharing] = [:]
    /// The part of the current notice that all its observers share.
    var frame = NoticeFrame()
    /// Whether a broadcast may reach more than the observations of its own name: some are of patterns, or adapters give
    /// names to notifications. One answer for both, because it is checked for each broadcast.
    private(set) var hasFurther = false
    /// Whether adapters give names to notifications.
    var hasAliases = false { didSet { noteFurther() } }
    /// Whether it keeps the names of which an observation was added or removed, for other nodes.
    var keepsChanges = false
    private var changes: Set<ObservedName> = []

    var hasChanges: Bool { !changes.isEmpty }

    mutating func takeChanges() -> Set<ObservedName> {
        defer { changes = [] }
        return changes
    }

    /// Returns the observations of a name.
    func find(_ name: UnsafeRawBufferPointer) -> List? { byName.find(name) }

    /// Returns the observations of exactly this name or pattern.
    func find(_ observed: ObservedName) -> List? { byName.find(observed) }

    /// Whether some patterns begin like a name.
    func mayHavePattern(of name: UnsafeRawBufferPointer) -> Bool { byName.mayHavePattern(of: name) }

    /// Calls `use` with the observations of each pattern that matches a name.
    func forEachPattern(of name: UnsafeRawBufferPointer, _ use: (List) -> Void) { byName.forEachPattern(of: name, use) }

    private mutating func noteFurther() { hasFurther = hasAliases || byName.hasPatterns }

    mutating func add(_ observation: Observation) {
        observation.isEnded = false
        if observation.terms.share, let group = observation.peer.module?.group {
            let target = observation.terms.target
            let earlier = observation.peer.observations.all.prefix { $0 !== observation }
            let key = Sharing.Key(
                group: group.number, target: target,
                nth: earlier.count { $0.terms.share && $0.terms.target == target })
            let sharing = shared[key] ?? Sharing(key)
            shared[key] = sharing
            sharing.add(observation)
            guard sharing.first === observation else { return }
        }
        insert(observation)
    }

    private mutating func insert(_ observation: Observation) {
        let observed = observation.terms.target.observed
        if keepsChanges { changes.insert(observed) }
        observation.place = nextPlace
        nextPlace += 1
        let list = byName.find(observed) ?? List()
        if list.observations.isEmpty {
            byName.set(observed, list)
            noteFurther()
        }
        list.observations.append(.passRetained(observation))
        list.subscription = max(list.subscription, observation.subscription)
    }

    /// Removes all observations of a peer.
    mutating func removeAll(of peer: Peer) {
        for observation in peer.observations.all { remove(observation) }
    }

    /// Removes an observation. It lives until `dropSpent`, because a walk over a list may still
    /// meet it.
    mutating func remove(_ observation: Observation) {
        let next = leaveSharing(observation)
        defer { if let next { insert(next) } }
        let observed = observation.terms.target.observed
        if keepsChanges { changes.insert(observed) }
        guard let list = byName.find(observed), let out = list.takeOut(observation) else { return }
        out.isEnded = true
        spent.append(out)
        if list.observations.isEmpty {
            byName.remove(observed)
            noteFurther()
        }
    }

    /// Ends an observation's part in sharing notices.
    /// - Returns: the one that is in the table for them from now on, if that has changed.
    private mutating func leaveSharing(_ observation: Observation) -> Observation? {
        guard let sharing = observation.sharing, !observation.isEnded else { return nil }
        let wasFirst = sharing.first === observation
        sharing.remove(observation)
        observation.isEnded = true
        if sharing.first == nil { shared[sharing.key] = nil }
        return wasFirst ? sharing.first : nil
    }

    /// Frees the removed observations, because no code walks a list any more.
    mutating func dropSpent() {
        if !spent.isEmpty { spent.removeAll() }
    }
}

/// One observation of one module. It ends with the module's connection.
final class Observation {
    let terms: Terms
    /// Unretained, because a peer's observations are removed before the peer is freed.
    let unretainedPeer: Unmanaged<Peer>
    var peer: Peer { unretainedPeer.takeUnretainedValue() }

    /// For `keep: latest`: the position behind the notice that waits in the outbox.
    var waitingEnd: UInt64 = 0
    /// The number of notices that the waiting one has replaced.
    var missed = 0
    /// The number of notices that were lost before the next one, while the module was away.
    @exclusivity(unchecked)  // each notice reads it
    var gap = 0
    /// Its place in the order in which observations were added to the table.
    var place: UInt64 = 0
    /// The number under which the other nodes know of it (`SubscriptionNumbers`); 0 without nodes.
    var subscription: UInt64 = 0
    /// The observations with which it shares notices, or has shared them; nil if it gets all.
    fileprivate(set) var sharing: Sharing?
    /// Whether its notices take more than a place in the queue: it keeps the latest only, or shares.
    let isSpecial: Bool
    /// Whether it isn't in the table any more, or not yet: nothing is delivered to it. The row's
    /// mailbox may take its notices meanwhile.
    var isEnded = false

    init(_ terms: Terms, of peer: Peer) {
        self.terms = terms
        isSpecial = terms.keep == .latest || terms.share
        unretainedPeer = .passUnretained(peer)
    }

    /// The terms of an observation: what was asked for, and its observer's rank.
    struct Terms: StatePart {
        /// The observer's number of the observation.
        var id: UInt64 = 0
        var target = Target()
        var keep = AppTable.Keep.all
        /// The observer's rank.
        var rank = 0
        /// Whether only the observer's row asked for it.
        var isOfRow = false
        /// Whether one replica of the observer's row gets each notice.
        var share = false

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &id)
            try file(2, &target)
            try file(3, &keep)
            try file(4, &rank)
            try file(5, &isOfRow)
            try file(6, &share)
        }
    }

    /// The target of an observation. Two observations of the same target get the same notices.
    struct Target: Hashable, StatePart {
        /// The notification's name, or a pattern of names.
        var name: [UInt8] = []
        var isPattern = false
        /// The object that must match; nil for any object.
        var object: [UInt8]?

        var observed: ObservedName { ObservedName(text: name, isPattern: isPattern) }

        init() {}

        init(_ observed: ObservedName, object: [UInt8]?) {
            (name, isPattern, self.object) = (observed.text, observed.isPattern, object)
        }

        init(_ observed: AppTable.Observed) {
            name = Array(observed.name.utf8)
            isPattern = observed.isPattern
            object = observed.object.map { Array($0.utf8) }
        }

        /// Whether it is of notifications of this name.
        func isOf(_ name: UnsafeRawBufferPointer) -> Bool {
            observed.matches(name)
        }

        /// Whether a notice with this object is for it.
        func matches(_ object: UnsafeRawBufferPointer?) -> Bool {
            guard let wanted = self.object else { return true }
            guard let object else { return false }
            return wanted.count == object.count && wanted.elementsEqual(object)
        }

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &name)
            try file(2, &object)
            try file(3, &isPattern)
        }
    }

    /// The bytes that count against the observer's limit.
    var cost: Int { terms.target.name.count + (terms.target.object?.count ?? 0) }

    @inline(__always)
    func matches(_ object: UnsafeRawBufferPointer?) -> Bool { terms.target.matches(object) }

    /// Returns what the next notice says in `missed`.
    @inline(__always)
    func takeGap() -> Int {
        guard gap != 0 else { return 0 }
        defer { gap = 0 }
        return gap
    }
}

/// The observations of one target by replicas of one row, of which each notice goes to one.
final class Sharing {
    struct Key: Hashable {
        /// The number of the record that stands for the replicas.
        let group: Int
        let target: Observation.Target
        /// The number of shared observations of this target that each replica has before it.
        let nth: Int
    }

    let key: Key
    private var observations: [Observation] = []
    /// The place of the one that got the last notice.
    private var last = 0

    init(_ key: Key) { self.key = key }

    /// The one that is in the table.
    var first: Observation? { observations.first }

    fileprivate func add(_ observation: Observation) {
        observation.sharing = self
        observations.append(observation)
    }

    /// Removes an observation, which keeps this: a walk may still meet it, and its notice goes to another
    /// one.
    fileprivate func remove(_ observation: Observation) {
        observations.removeAll { $0 === observation }
    }

    /// How well an observer can take a notice.
    private enum Fitness: Int, Comparable {
        case none, open, withRoom, ready
        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// Returns the observation that gets a notice: they take turns, but for those whose module isn't ready or whose
    /// queue is full.
    /// - Parameter fits: whether the notice fits into a peer's queue.
    func next(_ fits: (Peer) -> Bool) -> Observation? {
        var chosen: Int?
        var best = Fitness.none
        for step in observations.indices where best < .ready {
            let place = (last + 1 + step) % observations.count
            let peer = observations[place].peer
            guard peer.isOpen else { continue }
            let fitness: Fitness = !fits(peer) ? .open : peer.module?.receiver === peer ? .ready : .withRoom
            if fitness > best { (chosen, best) = (place, fitness) }
        }
        guard let chosen else { return nil }
        last = chosen
        return observations[chosen]
    }
}

/// A broadcast's notice with its own bytes, for observers that get it after its frame is freed. An
/// object, because it may be held for many rows.
final class KeptNotice {
    let from: [UInt8]
    /// The sender's node; empty if it is this one.
    let node: [UInt8]
    let level: [UInt8]
    let object: [UInt8]?
    let trace: [UInt8]
    let meta: [UInt8]
    let body: Payload

    init(
        from: [UInt8], node: [UInt8] = [], level: [UInt8], object: [UInt8]?, trace: [UInt8], meta: [UInt8],
        body: Payload
    ) {
        (self.from, self.level, self.object, self.trace, self.meta) = (from, level, object, trace, meta)
        (self.node, self.body) = (node, body)
    }
}

/// A notification on its way to observers, made of bytes of the sender's frame.
struct Notice {
    var name: UnsafeRawBufferPointer
    var object: UnsafeRawBufferPointer?
    var from: UnsafeRawBufferPointer
    /// The sender's node; empty if it is this one.
    var node = UnsafeRawBufferPointer.none
    var level: UnsafeRawBufferPointer
    var via: StaticString
    var trace: UnsafeRawBufferPointer
    var meta: UnsafeRawBufferPointer
    var body: UnsafeRawBufferPointer
}
