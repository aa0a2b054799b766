import StrataBus
import StrataCore

/// A connection of a module, an operator or the launcher to the broker of a node, from its start to
/// its end.
final class JoinedPeer {
    enum Role: Equatable {
        case row(Int)
        case `operator`
        case launcher
    }

    /// What it has asked the broker for.
    enum Ask {
        case hello
        /// An observation of the broadcasts of a row, by its name or by a pattern.
        case observe(Int, byPattern: Bool)
        case unobserve(Int)
        /// The word for the link of this number.
        case vouch(UInt64)
        case other
    }

    /// A request that it serves.
    struct Served {
        let id: UInt64
        let request: Int
        var credit: Int
    }

    let number: Int
    let node: Int
    /// Which broker of the node it is connected to.
    let brokerLife: Int
    let role: Role
    let name: String
    /// Its number, if it is a replica of its row; 0 if it isn't.
    let replica: Int
    let rank: Int
    let pid: Int32
    let connection: UInt64
    let pipe: MemoryPipe
    /// The rows whose broadcasts its hello observes, by their names or by patterns.
    let observed: [(row: Int, byPattern: Bool)]

    // What it sends.
    var nextID: UInt64 = 2
    var bytesSent: UInt64 = 0
    /// The broadcasts that the broker has not handled yet, each with the offset of its end.
    var broadcasts: [(end: UInt64, number: Int)] = []
    var asked: [UInt64: Ask] = [1: .hello]
    /// Its requests without a final answer, by id.
    var open: [UInt64: Int] = [:]
    var pending: [Served] = []

    // What it receives.
    var input = SimulatedInput()
    var isWelcome = false
    /// The code with which the broker has ended the connection; empty if it hasn't.
    var farewell = ""
    var observations: [JoinedObservation] = []
    /// The numbers of observations that it has ended.
    var formerObservations: Set<Int> = []
    /// The last request and the last broadcast that came from each peer, as numbers of what was sent.
    var last: [Int: (request: Int, broadcast: Int)] = [:]
    /// The last request with a key that came from each peer, by its number and the key.
    var lastKeyed: [[Int]: Int] = [:]

    init(
        _ number: Int, _ role: Role, _ name: String, rank: Int, on node: JoinedNode, pid: Int32,
        observed: [(row: Int, byPattern: Bool)],
        _ connection: MemoryConnection
    ) {
        (self.number, self.role, self.name, self.rank, self.pid) = (number, role, name, rank, pid)
        (self.node, brokerLife, self.observed) = (node.index, node.brokerLife, observed)
        replica = ReplicaName(name)?.number ?? 0
        (self.connection, pipe) = (connection.number, connection.pipe)
    }

    /// Whether its process lives and the broker has not closed the connection.
    var isUsable: Bool { !pipe.isClosed && !pipe.isClosedByBroker }
    /// The index of its row; nil if it has none.
    var row: Int? { if case .row(let row) = role { row } else { nil } }
    var label: String { "\(name)\(number)" }
}

/// An observation of the broadcasts of a row, and what has come for it.
struct JoinedObservation {
    /// What is known of a node that the row runs on.
    struct Source {
        /// The next broadcast at the time from which the node's broker knows of the observation, and the
        /// life of that broker.
        var known: (sequence: Int, brokerLife: Int)?
        /// Whether the observer's broker had the counts of the node's broker then.
        var isCounted = true
        /// The last broadcast that came, and the life of the broker that sent it.
        var last: (sequence: Int, brokerLife: Int)?
        /// The position in the stream to the node's broker behind which it knows of the observation, and
        /// the session between the links.
        var isToldAt: (position: Int, session: UInt64)?
    }

    let number: Int
    let row: Int
    let byPattern: Bool
    /// By node.
    var sources: [Source]
    /// The fewest that it must have been told of as missed, and of how many it was told.
    var mustHaveMissed = 0
    var saidMissed = 0
    /// How many of these retained notices told of, since the last other one.
    var saidByRetained = 0
    /// The last broadcast that came from each sender, by their numbers.
    var latest: [Int: Int] = [:]
    /// Whether it is being ended.
    var isEnding = false
}
