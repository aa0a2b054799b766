/// Work that takes long, and is done a batch a round: so nobody waits for all of it.
struct IdleWork {
    /// So many gone peers end in pieces at a time; where one more comes, the first ends at once.
    private static let mostDeferredCloses = 64

    /// The broadcast that goes out in pieces, if one does.
    private(set) var fanOut: FanOut?
    /// Answers that are made in pieces; longest wait first.
    private(set) var listings: [Listing] = []
    /// Closed peers whose requests end in pieces, longest gone first.
    private(set) var deferredCloses: [Peer] = []
    /// Peers that go on as soon as no fan-out is under way: they waited for it, or their
    /// listing is done. Each of them once, longest wait first.
    private(set) var waiting: [Peer] = []

    var isEmpty: Bool { fanOut == nil && waiting.isEmpty && deferredCloses.isEmpty && listings.isEmpty }

    /// How many there are of each, by what they are.
    var counts: [(String, Int)] {
        [
            ("fan-outs", fanOut == nil ? 0 : 1), ("listings", listings.count), ("deferred closes", deferredCloses.count),
            ("peers that wait for one", waiting.count),
        ]
    }

    // MARK: The fan-out

    mutating func begin(_ fanOut: FanOut) { self.fanOut = fanOut }

    /// Takes the next batch of the fan-out; nil where none is left.
    /// - Parameter most: of so many observations.
    mutating func takeBatch(_ most: Int) -> FanOut.Batch? { fanOut?.takeBatch(most) }

    /// A batch was delivered to so many.
    /// - Returns: the fan-out, where it is done; it is under way no more.
    mutating func delivered(to recipients: Int) -> FanOut? {
        guard fanOut?.delivered(to: recipients) == true else { return nil }
        defer { fanOut = nil }
        return fanOut
    }

    // MARK: Listings

    mutating func add(_ listing: Listing) { listings.append(listing) }

    /// Its peer goes on with the next batch of idle work: what it has sent meanwhile may
    /// begin more of that.
    mutating func endFirstListing() { waiting.append(listings.removeFirst().peer) }

    /// Nobody waits for a peer's listings any more.
    mutating func removeListings(of peer: Peer) { listings.removeAll { $0.peer === peer } }

    // MARK: Departures

    /// - Returns: the peer that has to end at once.
    mutating func add(deferredClose peer: Peer) -> Peer? {
        deferredCloses.append(peer)
        return deferredCloses.count > Self.mostDeferredCloses ? deferredCloses.removeFirst() : nil
    }

    mutating func remove(deferredClose peer: Peer) { deferredCloses.removeAll { $0 === peer } }

    mutating func takeDeferredCloses() -> [Peer] {
        defer { deferredCloses = [] }
        return deferredCloses
    }

    // MARK: Peers that wait

    mutating func wait(_ peer: Peer) { waiting.append(peer) }

    /// The peer that has waited the longest; nil while a fan-out is under way.
    mutating func takeFirstWaiting() -> Peer? {
        fanOut == nil && !waiting.isEmpty ? waiting.removeFirst() : nil
    }
}
