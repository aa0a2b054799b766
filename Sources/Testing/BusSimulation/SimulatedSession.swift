import StrataBus
import StrataCore

/// A connection of a simulated peer, from its connecting to its end, and what passed over it.
final class SimulatedSession {
    /// Who it says it is.
    enum Role: Equatable {
        case module(Int)
        case guest(String)
        case `operator`
        case launcher
    }

    /// A frame that was sent and that the bus has not handled yet.
    struct Sent {
        /// Where it ends in the stream of all that the session sends.
        let end: UInt64
        let meaning: Meaning
    }

    /// What the referee must know of a frame when the bus has handled it.
    enum Meaning {
        case hello
        case request(Int)
        case answer(serving: UInt64, request: Int, SimulatedAnswer)
        /// The authorizer's.
        case verdict(request: Int, isAllowed: Bool)
        case cancel(Int)
        case credit(Int, Int)
        /// The launcher's new table.
        case table(AppTable)
        case other
    }

    /// A call or a reported notice that came to it.
    struct Served {
        let id: UInt64
        /// -1 where the bus asks.
        let request: Int
        let to: String
        var isCancelled = false
    }

    /// The instances that it has created, and that others have created at it.
    struct Instances {
        /// Those that it has created, each with the request that has released it, by its order.
        var created: [String: Int] = [:]
        /// The last one that it has created and not released.
        var last: String?
        /// Those at it that have ended, as it was told.
        var released: Set<String> = []
    }

    /// What is known of the order in which frames came.
    struct Arrivals {
        /// The last broadcast that came.
        var lastBroadcast = -1
        /// By sender, the order of the last frame that arrived from it. Requests that may have waited
        /// have a key of their own.
        var lastFrom: [Int: Int] = [:]
        /// By the number of a call that it serves.
        var creditOf: [UInt64: Int] = [:]
    }

    /// What the bus has done with it.
    struct Life {
        /// When its hello was taken, by the count of events.
        var joinedAt = Int.max
        var isWelcome = false
        /// It has answered `module/initialize`.
        var isReady = false
        var endedAt = Int.max
    }

    let number: Int
    let role: Role
    let name: String
    let rank: Int
    let pipe: MemoryPipe
    /// Nil when it has closed: what waits for it goes with it.
    var connection: MemoryConnection?
    let pid: Int32
    /// What the launcher gave its process; nil where it was started by hand.
    let token: String?
    /// What is observed from hello on.
    let observed: [SimulatedApp.Observed]

    // What it sends.
    var bytesSent: UInt64 = 0
    var sent: [Sent] = []
    var nextID: UInt64 = 2
    /// Its requests without a final answer, by their numbers.
    var open: [UInt64: Int] = [:]
    /// Its requests that have ended.
    var ended: [Int] = []
    var served: [Served] = []
    /// Calls and notices that it has read and not answered.
    var pending: [Served] = []
    var instances = Instances()
    /// Numbers that it has used for a second request, which may have been free.
    var reused: Set<UInt64> = []

    // What comes.
    var input = SimulatedInput()
    var bytesSeen: UInt64 = 0
    var inbox: [SimulatedFrame] = []
    var isStalled = false
    var arrivals = Arrivals()

    // What the bus has done with it.
    var life = Life()
    var observations: [SimulatedObservation] = []

    init(
        _ number: Int, _ role: Role, _ name: String, rank: Int, _ connection: MemoryConnection,
        pid: Int32, token: String?, observed: [SimulatedApp.Observed]
    ) {
        self.number = number
        self.role = role
        self.name = name
        self.rank = rank
        self.pid = pid
        self.token = token
        self.connection = connection
        pipe = connection.pipe
        self.observed = observed
    }

    /// The peer may still send and get something.
    var isUsable: Bool { !pipe.isClosed && !pipe.isClosedByBroker && !pipe.hasEndedWriting }
    /// Its session is there, as far as was seen.
    var isLive: Bool { life.joinedAt != .max && life.endedAt == .max }

    /// How many of its requests have ended since the bus had handled so many frames.
    func endedSince(_ order: Int, _ requests: [SimulatedRequest]) -> Int {
        ended.count { requests[$0].end.order >= order }
    }

    var isModule: Bool {
        switch role {
        case .module, .guest: true
        case .operator, .launcher: false
        }
    }

    /// The place of its row; -1 where it is no row's.
    var place: Int { if case .module(let place) = role { place } else { -1 } }
}

/// An observation of a session's, and what came for it.
struct SimulatedObservation {
    /// 0 until its number is known.
    var number: Int
    let what: SimulatedApp.Observed
    let since: Int
    var until = Int.max
    var broadcasts = 0
}

/// A final or partial answer of a simulated callee.
struct SimulatedAnswer: Equatable {
    enum Kind: Equatable { case reply, error(code: String, ran: BusError.Ran), partial }
    let kind: Kind
    let number: Int
}
