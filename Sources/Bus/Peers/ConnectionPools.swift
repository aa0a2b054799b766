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
