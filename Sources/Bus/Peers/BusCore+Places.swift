import StrataCore

/// Taking connections, and which of them goes where there are too many.
///
/// Until its hello is answered a connection is counted in one of two pools, by user: the
/// broker's user, root and vouched processes have one, all other users together the other.
/// At a pool's bound the oldest connection of the user that has the most is ended, and the
/// new one taken. So nobody else's connections keep a user out.
extension BusCore {
    /// The last so many connections are for operators and the launcher alone.
    static let keptConnections = 16
    /// How many connections there may be.
    var mostConnections: Int { connections.limit.most(table.limits.connections) }

    /// Whether there are more.
    private var isOverfull: Bool { connections.count > mostConnections }

    /// A connection is there.
    /// - Parameter peer: has the number `connections.next`.
    func connected(_ peer: Peer) {
        connections.add(peer)
        count(peer)
        setAlarm(.hello, of: peer, after: table.hello)
    }

    /// The process had no descriptor for a connection, but for one that is wanted back at once.
    func refuseWithoutDescriptor(_ peer: Peer) {
        end(
            peer, .overloaded,
            "the broker has no descriptor for one more connection (RLIMIT_NOFILE): close some, or raise ulimit -n "
                + "for it")
    }

    /// Counts a peer that is new to this broker.
    func count(_ peer: Peer) {
        let (uid, pid) = (peer.credentials.uid, peer.credentials.pid)
        let isKnown =
            uid == user || uid == 0
            || modules.rows.contains { row in
                row.said.vouch.map { $0.process.pid == pid && host.isAlive($0.process) } ?? false
            }
        peer.greeting.count(in: isKnown ? .known : .others)
        connections.entered(peer)
    }

    // MARK: Too many

    /// Ends a connection for each that a new one makes too many.
    /// - Parameter looksRegistered: handles what a connection has sent by now, and says whether its
    ///   hello was answered.
    func makeRoom(for newcomer: Peer, _ looksRegistered: (Peer) -> Bool) {
        while let surplus = surplus(of: newcomer.greeting.pool) {
            if !looksRegistered(surplus.peer) { endSurplus(surplus) }
        }
        // One that nobody reads any more goes, or one without hello, or the new one.
        guard isOverfull, !closeLingering() else { return }
        if let peer = leastWanted, peer !== newcomer, !looksRegistered(peer) {
            endForRoom(peer)
        } else {
            endForRoom(newcomer)
        }
    }

    /// A connection that is to go, and how many its user has that have not said hello.
    private typealias Surplus = (peer: Peer, count: Int)

    /// The connection that is to go where a pool has too many; it may have said hello by now.
    private func surplus(of pool: ConnectionPools.Pool) -> Surplus? {
        guard connections.pools[pool].count > table.limits.unregistered, let surplus = connections.pools[pool].surplus
        else { return nil }
        return connections[surplus.number].map { ($0, surplus.count) }
    }

    /// Ends the connection that a pool has too many.
    private func endSurplus(_ surplus: Surplus) {
        let peer = surplus.peer
        let others = peer.greeting.pool == .others ? " of users who are not the broker's" : ""
        end(
            peer, .overloaded,
            "\(surplus.count) connections of user \(peer.credentials.uid) have not said hello, this is the oldest of them, "
                + "and \(table.limits.unregistered)\(others) may (limits.unregistered): say hello at once after "
                + "connecting", id: peer.greeting.helloID)
    }

    /// All connections are taken: one that nobody reads any more goes.
    /// - Returns: false where there is none.
    func closeLingering() -> Bool {
        guard let peer = connections.pools.lingering.surplus.flatMap({ connections[$0.number] }) else { return false }
        event.add(.close(peer))
        return true
    }

    /// The connection that goes first of all that have not said hello.
    private var leastWanted: Peer? {
        (connections.pools.others.surplus ?? connections.pools.known.surplus).flatMap { connections[$0.number] }
    }

    private func endForRoom(_ peer: Peer) { end(peer, tooManyConnections, id: peer.greeting.helloID) }

    private var tooManyConnections: BusError {
        BusError(
            .overloaded,
            "the broker has its \(mostConnections) connections (\(limitName)): close some, or raise that limit")
    }

    /// What bounds the connections.
    private var limitName: String { connections.limit.name(table.limits.connections) }

    // MARK: Places of modules

    /// Refuses a module where what is left is kept: the last connections for operators and
    /// the launcher, and before them one for each row without a session, but half of the rest
    /// at most, which no guest gets.
    func checkPlace(_ row: ModuleRecord?) throws(BusError) {
        let places = mostConnections - Self.keptConnections
        try require(
            connections.pools.modules < places, .overloaded,
            "the last \(Self.keptConnections) of \(mostConnections) connections (\(limitName)) are kept for "
                + "operators and the launcher")
        guard row == nil, connections.pools.modules + modules.rows.count >= places else { return }
        let absent = min(modules.rows.count { $0.peer == nil }, places / 2)
        try require(
            connections.pools.modules + absent < places, .overloaded,
            "the last \(absent + Self.keptConnections) of \(mostConnections) connections (\(limitName)) are kept "
                + "for the manifest's modules, operators and the launcher: have fewer guests")
    }
}
