import StrataCore

/// Taking connections, and which of them goes where there are too many.
///
/// Until its hello is answered a connection is counted in one of two pools, by user: the
/// broker's user, root and vouched processes have one, all other users together the other.
/// At a pool's bound the oldest connection of the user that has the most is ended, and the
/// new one taken. So nobody else's connections keep a user out.
extension Broker {
    /// The last so many connections are for operators and the launcher alone.
    static let keptConnections = 16
    /// Descriptors that no connection gets: the standard ones, the listener, the loop's, the
    /// lifeline, and for a while files of `/proc` and of a replacement.
    static let ownDescriptors = 32
    /// What is read at most of a connection that is about to go, in bytes: a hello.
    private static let mostLookedAt = 2 * ReadBuffer.turn

    /// How many connections there may be.
    var mostConnections: Int { min(table.limits.connections, max(1, mostDescriptors - Self.ownDescriptors)) }

    /// What keeps `limits.connections` from being met; nil where nothing does.
    var descriptorProblem: String? {
        guard mostConnections < table.limits.connections else { return nil }
        return
            "this process may open \(mostDescriptors) descriptors (RLIMIT_NOFILE) and keeps \(Self.ownDescriptors) of "
            + "them, so it takes \(mostConnections) connections, and not the \(table.limits.connections) of "
            + "limits.connections: raise ulimit -n"
    }

    func accepted(_ socket: Socket) {
        defer { settle() }
        eventBegins()
        if shares.isShared(at: time) { listener?.endTurn() }
        guard stage != .stopped, let peer = admit(socket) else {
            socket.close()
            return
        }
        socket.watch(.readable)
        setAlarm(.hello, of: peer, after: table.hello)
        while pools[peer.pool].count > table.limits.unregistered, let surplus = pools[peer.pool].surplus {
            endSurplus(surplus, of: peer.pool)
        }
        if peers.count > mostConnections { makeRoom(for: peer) }
    }

    /// The process had no descriptor for it, but for one that is wanted back at once.
    func refused(_ socket: Socket) {
        defer { settle() }
        eventBegins()
        guard stage != .stopped, let peer = admit(socket) else { return }
        end(
            peer,
            BusError(
                .overloaded,
                "the broker has no descriptor for one more connection (RLIMIT_NOFILE): close some, or raise ulimit -n "
                    + "for it"))
        settle()
        close(peer, reason: "")
    }

    private func admit(_ socket: Socket) -> Connection? {
        guard let credentials = try? socket.credentials() else { return nil }
        let peer = Connection(
            number: nextPeer, socket: socket, credentials: credentials, limits: helloLimits, pool: pool)
        nextPeer += 1
        peers[peer.number] = peer
        count(peer)
        attend(peer)
        return peer
    }

    /// Counts a peer that is new to this broker.
    func count(_ peer: Peer) {
        let (uid, pid) = (peer.credentials.uid, peer.credentials.pid)
        let isKnown =
            uid == user || uid == 0
            || modules.rows.contains { row in
                row.vouch.map { $0.process.pid == pid && $0.process.isAlive } ?? false
            }
        peer.pool = isKnown ? .known : .others
        pools.entered(peer)
    }

    // MARK: Too many

    private func endSurplus(_ surplus: ConnectionsByUser.Surplus, of pool: ConnectionPools.Pool) {
        // because what is counted is among the peers
        let peer = peers[surplus.number]!
        guard !looksRegistered(peer) else { return }
        let others = pool == .others ? " of users who are not the broker's" : ""
        end(
            peer,
            BusError(
                .overloaded,
                "\(surplus.count) connections of user \(surplus.user) have not said hello, this is the oldest of them, "
                    + "and \(table.limits.unregistered)\(others) may (limits.unregistered): say hello at once after "
                    + "connecting"),
            id: peer.helloID)
    }

    /// All connections are taken: one that nobody reads any more goes, or one without hello,
    /// or the new one.
    private func makeRoom(for newcomer: Peer) {
        if let surplus = pools.lingering.surplus, let peer = peers[surplus.number] {
            effects.append(.close(peer))
            return
        }
        let surplus = pools.others.surplus ?? pools.known.surplus
        if let peer = surplus.flatMap({ peers[$0.number] }), peer !== newcomer, !looksRegistered(peer) {
            end(peer, tooManyConnections, id: peer.helloID)
        } else {
            end(newcomer, tooManyConnections)
        }
    }

    /// Handles what a connection has sent by now: its hello may stand in its socket.
    /// - Returns: whether it is none any more that waits for hello's answer.
    private func looksRegistered(_ peer: Peer) -> Bool {
        var left = Self.mostLookedAt
        while peer.phase == .greeting, left > 0 {
            let count = read(peer.connection)
            guard count > 0 else { break }
            left -= count
        }
        return peer.phase != .greeting && peer.phase != .waitingForVouch
    }

    private var tooManyConnections: BusError {
        BusError(
            .overloaded,
            "the broker has its \(mostConnections) connections (\(connectionLimit)): close some, or raise that limit")
    }

    /// What bounds the connections.
    private var connectionLimit: String {
        mostConnections < table.limits.connections
            ? "RLIMIT_NOFILE, \(mostDescriptors) descriptors" : "limits.connections"
    }

    /// Closes the ended connection that has waited the longest, of the user that has the most.
    func closeLingering() {
        if let peer = pools.lingering.surplus.flatMap({ peers[$0.number] }) { effects.append(.close(peer)) }
    }

    // MARK: Places of modules

    /// Refuses a module where what is left is kept: the last connections for operators and
    /// the launcher, and before them one for each row without a session, but half of the rest
    /// at most, which no guest gets.
    func checkPlace(_ row: ModuleRecord?) throws(BusError) {
        let places = mostConnections - Self.keptConnections
        guard pools.modules < places else {
            throw BusError(
                .overloaded,
                "the last \(Self.keptConnections) of \(mostConnections) connections (\(connectionLimit)) are kept for "
                    + "operators and the launcher")
        }
        guard row == nil, pools.modules + modules.rows.count >= places else { return }
        let absent = min(modules.rows.count { $0.peer == nil }, places / 2)
        guard pools.modules + absent < places else {
            throw BusError(
                .overloaded,
                "the last \(absent + Self.keptConnections) of \(mostConnections) connections (\(connectionLimit)) are kept "
                    + "for the manifest's modules, operators and the launcher: have fewer guests")
        }
    }
}
