import StrataCore

/// The counters of the broker's connections: three pools, each counted by user, and the modules'
/// sessions. All of it follows from the peers, so a broker that was replaced counts them again.
struct ConnectionPools {
    /// The pools of connections whose hello isn't answered yet.
    enum Pool: UInt8 {
        /// The broker's user, root, and processes that the launcher has vouched for.
        case known
        /// All other users together.
        case others
    }

    /// Connections whose hello isn't answered yet.
    private(set) var known = ConnectionsByUser()
    private(set) var others = ConnectionsByUser()
    /// Ended connections whose last bytes have not been read yet.
    private(set) var lingering = ConnectionsByUser()
    /// The number of sessions that leave the kept connections alone: of rows, guests and other apps.
    private(set) var modules = 0

    subscript(pool: Pool) -> ConnectionsByUser { pool == .known ? known : others }

    /// Counts a peer in its new phase.
    mutating func entered(_ peer: Peer) {
        if let pool = Self.pool(of: peer) { self[keyPath: pool].add(peer.number, of: peer.credentials.uid) }
        if peer.isOpen, Self.isBounded(peer) { modules += 1 }
    }

    /// Stops counting a peer in the phase that it leaves.
    mutating func left(_ peer: Peer) {
        if let pool = Self.pool(of: peer) { self[keyPath: pool].remove(peer.number, of: peer.credentials.uid) }
        if peer.isOpen, Self.isBounded(peer) { modules -= 1 }
    }

    private static func isBounded(_ peer: Peer) -> Bool {
        peer.role == .module || peer.role == .app || peer.role == .link || peer.role == .node
    }

    private static func pool(of peer: Peer) -> WritableKeyPath<ConnectionPools, ConnectionsByUser>? {
        switch peer.life {
        // This broker says hello to a link, which is therefore none of those.
        case .greeting where peer.role == .link: nil
        case .greeting, .waitingForVouch: peer.greeting.pool == .known ? \.known : \.others
        case .ending: \.lingering
        case .open, .closed: nil
        }
    }
}

/// Connections in the order in which they came, counted by user. It picks the connection to end if
/// there are too many, so that no user can crowd out another.
///
/// It knows no peers: connections and users are numbers.
struct ConnectionsByUser {
    /// The number of connections of all users.
    private(set) var count = 0
    /// Each user's connections, oldest first.
    private var byUser: [UInt32: [UInt64]] = [:]

    /// The connection that ends first.
    struct Surplus: Equatable {
        let number: UInt64
        let user: UInt32
        /// The number of connections of that user.
        let count: Int
    }

    mutating func add(_ number: UInt64, of user: UInt32) {
        byUser[user, default: []].append(number)
        count += 1
    }

    mutating func remove(_ number: UInt64, of user: UInt32) {
        guard let index = byUser[user]?.firstIndex(of: number) else { return }
        byUser[user]?.remove(at: index)
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        count -= 1
    }

    /// The oldest connection of the user that has the most. If several users have the most, it is
    /// the oldest connection among theirs. The cost grows only with the number of users.
    var surplus: Surplus? {
        let most = byUser.max { one, other in
            (one.value.count, other.value[0]) < (other.value.count, one.value[0])
        }
        return most.map { Surplus(number: $0.value[0], user: $0.key, count: $0.value.count) }
    }
}
