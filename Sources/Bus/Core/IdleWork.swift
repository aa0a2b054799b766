import StrataCore

/// The work that takes long. A batch of it is done in each round, so no peer waits for all of it.
struct IdleWork {
    /// The most closed peers that may end in batches. If one more closes, the first ends at once.
    private static let mostDeferredCloses = 64

    /// The broadcast that is being delivered in batches; nil if there is none.
    private(set) var fanOut: FanOut?
    /// Answers that are made in batches, oldest first.
    private(set) var listings: [Listing] = []
    /// Closed peers whose requests end in batches, oldest first.
    private(set) var deferredCloses: [Peer] = []
    /// Ended peers whose calls end in batches, oldest first.
    private var endedCallees: [EndedCallee] = []
    /// Peers that continue when no fan-out is under way: they waited for one, or their listing is
    /// done. Each peer is in the list once, oldest first.
    private(set) var waiting: [Peer] = []

    /// Groups of instances that ended with a session, oldest first.
    private var endedInstances: [EndedInstances] = []
    /// How many instances of the first group were taken.
    private var endedTaken = 0
    /// Modules that get the next batch of what waited for them, longest wait first.
    private var catchingUp: [ModuleRecord] = []
    /// Peers whose observations get the next batch of retained notices, longest wait first.
    private var retainedFor: [Peer] = []
    /// Rows of other nodes for which requests waited that go on now, longest wait first.
    private var joined: [ModuleRecord] = []
    /// Modules that the launcher is still to be asked to start, in order.
    private var starts: [ModuleRecord] = []
    /// Modules that can't be waited for any more, and for which something waits.
    private var abandoned: [ModuleRecord] = []

    /// The peers whose settings are compared with a new table in batches, the next one last.
    private var settingsToCompare: [UInt64] = []

    var isEmpty: Bool {
        fanOut == nil && waiting.isEmpty && deferredCloses.isEmpty && listings.isEmpty && !hasEndedInstances
            && endedCallees.isEmpty && catchingUp.isEmpty && retainedFor.isEmpty && joined.isEmpty && !hasStarts
            && !hasAbandoned && !hasSettingsToCompare
    }

    /// The number of items of each kind, with the kind's name.
    var counts: [(String, Int)] {
        [
            ("fan-outs", fanOut == nil ? 0 : 1), ("listings", listings.count),
            ("deferred closes", deferredCloses.count), ("groups of ended instances", endedInstances.count),
            ("ended callees", endedCallees.count), ("modules that catch up", catchingUp.count),
            ("observers that get retained notices", retainedFor.count),
            ("rows of nodes that joined", joined.count),
            ("starts", starts.count), ("abandoned", abandoned.count),
            ("sessions with settings to compare", settingsToCompare.count),
            ("peers that wait for one", waiting.count),
        ]
    }

    // MARK: The fan-out

    mutating func begin(_ fanOut: FanOut) { self.fanOut = fanOut }

    /// Takes the next batch of the fan-out; nil if none is left.
    /// - Parameter most: the most observations in the batch.
    mutating func takeBatch(_ most: Int) -> FanOut.Batch? { fanOut?.takeBatch(most) }

    /// Counts a delivered batch.
    /// - Returns: the fan-out if this was its last batch, which also removes it.
    mutating func delivered(to recipients: Int) -> FanOut? {
        guard fanOut?.delivered(to: recipients) == true else { return nil }
        defer { fanOut = nil }
        return fanOut
    }

    // MARK: Listings

    mutating func add(_ listing: Listing) { listings.append(listing) }

    /// Ends the first listing. Its peer continues only with the next batch of idle work, because
    /// the frames that it has sent meanwhile may begin another listing.
    mutating func endFirstListing() { waiting.append(listings.removeFirst().peer.line) }

    /// Removes all listings of a peer, because no peer waits for them any more.
    mutating func removeListings(of peer: Peer) { listings.removeAll { $0.peer === peer } }

    // MARK: Deferred closes

    /// - Returns: the peer that has to end at once, if there are too many.
    mutating func add(deferredClose peer: Peer) -> Peer? {
        deferredCloses.append(peer)
        return deferredCloses.count > Self.mostDeferredCloses ? deferredCloses.removeFirst() : nil
    }

    mutating func remove(deferredClose peer: Peer) { deferredCloses.removeAll { $0 === peer } }

    mutating func takeDeferredCloses() -> [Peer] {
        defer { deferredCloses = [] }
        return deferredCloses
    }

    // MARK: Ended callees

    var firstEndedCallee: EndedCallee? { endedCallees.first }

    mutating func add(_ ended: EndedCallee) { endedCallees.append(ended) }

    mutating func removeFirstEndedCallee() { endedCallees.removeFirst() }

    // MARK: Ended instances

    var hasEndedInstances: Bool { !endedInstances.isEmpty }

    mutating func add(_ ended: [EndedInstances]) { endedInstances += ended }

    /// Takes the instance that ended first; nil if there is none.
    mutating func takeEndedInstance() -> (number: UInt64, ended: EndedInstances)? {
        guard let first = endedInstances.first else { return nil }
        let number = first.group.numbers[endedTaken]
        endedTaken += 1
        if endedTaken == first.group.numbers.count {
            endedInstances.removeFirst()
            endedTaken = 0
        }
        return (number, first)
    }

    // MARK: Modules

    /// Adds a module that catches up, once.
    mutating func add(catchingUp module: ModuleRecord) {
        if !catchingUp.contains(where: { $0 === module }) { catchingUp.append(module) }
    }

    mutating func takeCatchingUp() -> ModuleRecord? { catchingUp.isEmpty ? nil : catchingUp.removeFirst() }

    /// Adds a peer whose observations get retained notices, once.
    mutating func add(retainedFor peer: Peer) {
        if !retainedFor.contains(where: { $0 === peer }) { retainedFor.append(peer) }
    }

    mutating func takeRetainedFor() -> Peer? { retainedFor.isEmpty ? nil : retainedFor.removeFirst() }

    /// Adds a row of another node for which requests waited, once.
    mutating func add(joined module: ModuleRecord) {
        if !joined.contains(where: { $0 === module }) { joined.append(module) }
    }

    var firstJoined: ModuleRecord? { joined.first }

    mutating func removeFirstJoined() { joined.removeFirst() }

    var hasStarts: Bool { !starts.isEmpty }

    mutating func add(start module: ModuleRecord) { starts.append(module) }

    /// - Parameter most: the most modules that are taken.
    mutating func takeStarts(_ most: Int) -> ArraySlice<ModuleRecord> {
        defer { starts.removeFirst(min(most, starts.count)) }
        return starts.prefix(most)
    }

    var hasAbandoned: Bool { !abandoned.isEmpty }

    mutating func add(abandoned module: ModuleRecord) { abandoned.append(module) }

    mutating func takeAbandoned() -> ModuleRecord? { abandoned.isEmpty ? nil : abandoned.removeFirst() }

    // MARK: Settings

    var hasSettingsToCompare: Bool { !settingsToCompare.isEmpty }

    /// - Parameter peers: all peers with settings, by their numbers.
    mutating func compareSettings(of peers: [UInt64]) { settingsToCompare = peers.reversed() }

    /// Takes the number of the peer that is next; nil if none is left.
    mutating func takeSettingsToCompare() -> UInt64? { settingsToCompare.popLast() }

    // MARK: Peers that wait

    mutating func wait(_ peer: Peer) { waiting.append(peer) }

    /// Takes the peer that has waited the longest; nil while a fan-out is under way.
    mutating func takeFirstWaiting() -> Peer? {
        fanOut == nil && !waiting.isEmpty ? waiting.removeFirst() : nil
    }
}

/// A peer that has ended, and the error for the calls that it served.
struct EndedCallee {
    let peer: Peer
    let error: BusError
}

/// Instances that have ended with their creator's or their owner's session.
struct EndedInstances {
    /// The peer that is notified of each.
    enum Told {
        case nobody
        /// The session with this number, which may have closed meanwhile.
        case session(UInt64)
        case remote(RemotePeer)
    }

    /// Never empty.
    let group: InstanceGroup
    let told: Told
    /// Whether that is the owner.
    let isOwner: Bool
}
