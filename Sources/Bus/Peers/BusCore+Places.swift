import StrataCore

/// Accepting connections, and ending some when there are too many.
///
/// Until its hello is answered, a connection counts in one of two pools, by user. One pool is for
/// the broker's user, root and vouched processes, the other for all other users together. When a
/// pool is full, the oldest connection of the user that has the most is ended, and the new one is
/// accepted. So no user's connections keep another user out.
extension BusCore {
    /// The last connections, which only operators and the launcher may have.
    static let keptConnections = 16
    /// The most connections that there may be.
    var mostConnections: Int { connections.limit.most(table.limits.connections) }

    /// Whether there are more connections than that.
    private var isOverfull: Bool { connections.count > mostConnections }

    /// Adds a new connection.
    /// - Parameter peer: has the number `connections.next`.
    func connected(_ peer: Peer) {
        connections.add(peer)
        count(peer)
        setAlarm(.hello, of: peer, after: table.hello)
    }

    /// Refuses a connection for which the process had only its spare descriptor, which it needs
    /// back at once.
    func refuseWithoutDescriptor(_ peer: Peer) {
        end(
            peer, .overloaded,
            "the broker has no descriptor for one more connection (RLIMIT_NOFILE): close some, or raise its ulimit -n")
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

    // MARK: Too many connections

    /// Ends a connection for each one that a new one makes too many.
    /// - Parameter looksRegistered: handles what a connection has sent so far, and returns whether
    ///   its hello was answered.
    func makeRoom(for newcomer: Peer, _ looksRegistered: (Peer) -> Bool) {
        while let surplus = surplus(of: newcomer.greeting.pool) {
            if !looksRegistered(surplus.peer) { endSurplus(surplus) }
        }
        // The first choice is an ended connection that only waits to be read, then one without
        // hello, then the new one.
        guard isOverfull, !closeLingering() else { return }
        if let peer = leastWanted, peer !== newcomer, !looksRegistered(peer) {
            endForRoom(peer)
        } else {
            endForRoom(newcomer)
        }
    }

    /// A connection that is to end, and how many connections without hello its user has.
    private typealias Surplus = (peer: Peer, count: Int)

    /// Returns the connection to end if a pool is too full. Its hello may be waiting to be read.
    private func surplus(of pool: ConnectionPools.Pool) -> Surplus? {
        guard connections.pools[pool].count > table.limits.unregistered, let surplus = connections.pools[pool].surplus
        else { return nil }
        return connections[surplus.number].map { ($0, surplus.count) }
    }

    /// Ends a connection because its pool is too full.
    private func endSurplus(_ surplus: Surplus) {
        let peer = surplus.peer
        let others = peer.greeting.pool == .others ? " for users other than the broker's" : ""
        end(
            peer, .overloaded,
            "\(surplus.count) connections of user \(peer.credentials.uid) have not said hello, and this is the "
                + "oldest; the limit\(others) is \(table.limits.unregistered) (limits.unregistered): say hello right "
                + "after connecting", id: peer.greeting.helloID)
    }

    /// Closes an ended connection whose last bytes have not been read, to make room.
    /// - Returns: false if there is none.
    func closeLingering() -> Bool {
        guard let peer = connections.pools.lingering.surplus.flatMap({ connections[$0.number] }) else { return false }
        event.add(.close(peer))
        return true
    }

    /// The first connection to end of all that have not said hello.
    private var leastWanted: Peer? {
        (connections.pools.others.surplus ?? connections.pools.known.surplus).flatMap { connections[$0.number] }
    }

    private func endForRoom(_ peer: Peer) { end(peer, tooManyConnections, id: peer.greeting.helloID) }

    private var tooManyConnections: BusError {
        BusError(
            .overloaded,
            "the broker has all of its \(mostConnections) connections (\(limitName)): close some, or raise that limit")
    }

    /// The name of the limit that bounds the connections.
    private var limitName: String { connections.limit.name(table.limits.connections) }

    // MARK: Places of modules

    /// Refuses a module if all connections that are left are reserved. The last ones are for
    /// operators and the launcher. Before them, one is reserved for each row without a session,
    /// which no guest gets; these are half of the rest at most.
    func checkPlace(_ row: ModuleRecord?) throws(BusError) {
        let places = mostConnections - Self.keptConnections
        try require(
            connections.pools.modules < places, .overloaded,
            "the last \(Self.keptConnections) of \(mostConnections) connections (\(limitName)) are kept for "
                + "operators and the launcher")
        // With this many places free, every row still finds one.
        guard row == nil, connections.pools.modules + modules.rows.count >= places else { return }
        let absent = min(modules.rows.count { $0.peer == nil }, places / 2)
        try require(
            connections.pools.modules + absent < places, .overloaded,
            "the last \(absent + Self.keptConnections) of \(mostConnections) connections (\(limitName)) are kept "
                + "for the manifest's modules, operators and the launcher: have fewer guests")
    }
}
