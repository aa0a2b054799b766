import StrataCore

/// What the broker's connections are counted by: three pools, each counted by user, and
/// the modules' sessions. All of it follows from the peers, so that a broker that goes on
/// where another was counts them anew.
struct ConnectionPools {
    /// Who may be without hello's answer beside whom.
    enum Pool: UInt8 {
        /// The broker's user, root, and processes that the launcher has vouched for.
        case known
        /// All other users together.
        case others
    }

    /// Connections without hello's answer.
    private(set) var known = ConnectionsByUser()
    private(set) var others = ConnectionsByUser()
    /// Ended connections whose last bytes nobody has read.
    private(set) var lingering = ConnectionsByUser()
    /// Sessions of rows and guests.
    private(set) var modules = 0

    subscript(pool: Pool) -> ConnectionsByUser { pool == .known ? known : others }

    /// A peer has come to its present phase.
    mutating func entered(_ peer: Peer) {
        if let pool = Self.pool(of: peer) { self[keyPath: pool].add(peer.number, of: peer.credentials.uid) }
        if peer.isOpen, peer.role == .module { modules += 1 }
    }

    /// A peer leaves its present phase.
    mutating func left(_ peer: Peer) {
        if let pool = Self.pool(of: peer) { self[keyPath: pool].remove(peer.number, of: peer.credentials.uid) }
        if peer.isOpen, peer.role == .module { modules -= 1 }
    }

    private static func pool(of peer: Peer) -> WritableKeyPath<ConnectionPools, ConnectionsByUser>? {
        switch peer.life {
        case .greeting, .waitingForVouch: peer.greeting.pool == .known ? \.known : \.others
        case .ending: \.lingering
        case .open, .closed: nil
        }
    }
}

/// Connections in the order in which they came, counted by user: it says which one
/// goes where there are too many, so that no user can take the places of another.
///
/// Knows no peers: connections and users are numbers.
struct ConnectionsByUser {
    /// How many there are, of all users.
    private(set) var count = 0
    /// Each user's connections, oldest first.
    private var byUser: [UInt32: [UInt64]] = [:]

    /// The one that goes first.
    struct Surplus: Equatable {
        let number: UInt64
        let user: UInt32
        /// How many that user has.
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

    /// The oldest connection of the user that has the most; of users that have as many,
    /// of the one whose oldest is the oldest. Its cost grows with the users alone.
    var surplus: Surplus? {
        let most = byUser.max { one, other in
            (one.value.count, other.value[0]) < (other.value.count, one.value[0])
        }
        return most.map { Surplus(number: $0.value[0], user: $0.key, count: $0.value.count) }
    }
}
