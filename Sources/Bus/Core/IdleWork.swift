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
    /// Peers that continue when no fan-out is under way: they waited for one, or their listing is
    /// done. Each peer is in the list once, oldest first.
    private(set) var waiting: [Peer] = []

    /// Instances that ended with their owner, and whose creators are notified in batches.
    private var endedInstances: [EndedInstance] = []
    /// How many of them were taken.
    private var endedTaken = 0

    var isEmpty: Bool {
        fanOut == nil && waiting.isEmpty && deferredCloses.isEmpty && listings.isEmpty && !hasEndedInstances
    }

    /// The number of items of each kind, with the kind's name.
    var counts: [(String, Int)] {
        [
            ("fan-outs", fanOut == nil ? 0 : 1), ("listings", listings.count),
            ("deferred closes", deferredCloses.count), ("ended instances", endedInstances.count - endedTaken),
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
    mutating func endFirstListing() { waiting.append(listings.removeFirst().peer) }

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

    // MARK: Ended instances

    var hasEndedInstances: Bool { !endedInstances.isEmpty }

    mutating func add(_ ended: [EndedInstance]) { endedInstances += ended }

    /// Takes the instance that ended first; nil if there is none.
    mutating func takeEndedInstance() -> EndedInstance? {
        guard endedTaken < endedInstances.count else { return nil }
        defer {
            endedTaken += 1
            if endedTaken == endedInstances.count { (endedInstances, endedTaken) = ([], 0) }
        }
        return endedInstances[endedTaken]
    }

    // MARK: Peers that wait

    mutating func wait(_ peer: Peer) { waiting.append(peer) }

    /// Takes the peer that has waited the longest; nil while a fan-out is under way.
    mutating func takeFirstWaiting() -> Peer? {
        fanOut == nil && !waiting.isEmpty ? waiting.removeFirst() : nil
    }
}

/// An instance that has ended with its owner.
struct EndedInstance {
    /// The number of the peer that created it, which may have closed meanwhile.
    let creator: UInt64
    /// `Interface#NUMBER`, as its creator knows it.
    let name: String
}
