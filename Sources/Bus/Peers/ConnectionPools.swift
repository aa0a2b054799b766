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
        let user = peer.credentials.uid
        switch peer.life {
        case .greeting, .waitingForVouch:
            if peer.greeting.pool == .known {
                known.add(peer.number, of: user)
            } else {
                others.add(peer.number, of: user)
            }
        case .open: if peer.role == .module { modules += 1 }
        case .ending: lingering.add(peer.number, of: user)
        case .closed: break
        }
    }

    /// A peer leaves its present phase.
    mutating func left(_ peer: Peer) {
        let user = peer.credentials.uid
        switch peer.life {
        case .greeting, .waitingForVouch:
            if peer.greeting.pool == .known {
                known.remove(peer.number, of: user)
            } else {
                others.remove(peer.number, of: user)
            }
        case .open: if peer.role == .module { modules -= 1 }
        case .ending: lingering.remove(peer.number, of: user)
        case .closed: break
        }
    }
}
