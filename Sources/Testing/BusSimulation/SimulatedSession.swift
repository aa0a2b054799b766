import StrataBus
import StrataCore

/// A connection of a simulated peer, from its start to its end, and what passed over it.
final class SimulatedSession {
    /// The role that its hello claims.
    enum Role: Equatable {
        case module(Int)
        case guest(String)
        case `operator`
        case launcher
        /// The broker of another app.
        case app(String)
        /// The broker of the other app at this index, to which the bus has connected.
        case link(Int)
    }

    /// A frame that was sent, and that the bus has not handled yet.
    struct Sent {
        /// The offset of its end in the stream of all bytes that the session sends.
        let end: UInt64
        let meaning: Meaning
    }

    /// What a frame means to the referee, once the bus has handled it.
    enum Meaning {
        case hello
        case request(Int)
        case answer(serving: UInt64, request: Int, SimulatedAnswer)
        /// The authorizer's answer.
        case verdict(request: Int, isAllowed: Bool)
        case cancel(Int)
        case credit(Int, Int)
        /// The launcher's new table.
        case table(AppTable)
        /// Another app's answer to the bus's hello: the header limit in it; nil if it is none that the
        /// bus accepts.
        case greeting(header: Int?)
        case other
    }

    /// A call or a reported notice that came to the session.
    struct Served {
        let id: UInt64
        /// The number of the request; -1 if the bus itself asks.
        let request: Int
        let to: String
        var isCancelled = false
    }

    /// The instances that the session has created, and those that other peers have created at it.
    struct Instances {
        /// The instances that it has created, each with the order of the request that released
        /// it; `max` for none.
        var created: [String: Int] = [:]
        /// The last instance that it has created and not released.
        var last: String?
        /// The instances at it that have ended, as far as it was notified.
        var released: Set<String> = []
    }

    /// The order in which frames arrived.
    struct Arrivals {
        /// The order of the last broadcast that arrived.
        var lastBroadcast = -1
        /// The same of those that may have been held.
        var lastWaking = -1
        /// The order of the last frame from each sender. Requests that may have waited have a key
        /// of their own.
        var lastFrom: [Int: Int] = [:]
        /// The order of the last request with each key from each sender.
        var lastWithKey: [KeyOfSender: Int] = [:]
        /// The credit for each call that the session serves, by the call's id.
        var creditOf: [UInt64: Int] = [:]
    }

    struct KeyOfSender: Hashable {
        let sender, key: Int
    }

    /// What the bus has done with the session.
    struct Life {
        /// When its hello was taken, as a number of handled frames.
        var joinedAt = Int.max
        var isWelcome = false
        /// Whether it has answered `module/setUp`.
        var isSetUp = false
        /// Whether it has answered `module/initialize`.
        var isReady = false
        /// When it did so, as a number of handled frames.
        var readyAt = Int.max
        /// The session that has taken over from it under `overlap`; -1 for none.
        var replacedBy = -1
        /// Whether it is a replica that gets no further requests.
        var isRetired = false
        /// Whether it didn't fit a live session when the bus judged it.
        var isMisfit = false
        var endedAt = Int.max
    }

    let number: Int
    let role: Role
    let name: String
    let rank: Int
    let pipe: MemoryPipe
    /// The broker's connection; nil once the broker has closed it, so that its memory is freed.
    var connection: MemoryConnection?
    let pid: Int32
    /// The token that the launcher gave its process; nil if the process was started by hand.
    let token: String?
    /// The observations in its hello.
    let observed: [SimulatedApp.Observed]
    /// The versions in its hello.
    let versions: SimulatedVersions

    // What it sends.
    var bytesSent: UInt64 = 0
    var sent: [Sent] = []
    var nextID: UInt64 = 2
    /// Its requests without a final answer: their numbers by their ids.
    var open: [UInt64: Int] = [:]
    /// The numbers of its requests that have ended.
    var ended: [Int] = []
    var served: [Served] = []
    /// The calls and notices that it has read and not answered.
    var pending: [Served] = []
    var instances = Instances()
    /// The ids that it has used for a second request. An id may have been free again by then.
    var reused: Set<UInt64> = []

    // What it receives.
    var input = SimulatedInput()
    var bytesSeen: UInt64 = 0
    var inbox: [SimulatedFrame] = []
    var isStalled = false
    var arrivals = Arrivals()

    // What the bus has done with it.
    var life = Life()
    var observations: [SimulatedObservation] = []
    /// What is known of it as a connection of the bus to another app.
    var link = SimulatedLink()

    init(
        _ number: Int, _ role: Role, _ name: String, rank: Int, _ connection: MemoryConnection,
        pid: Int32, token: String?, observed: [SimulatedApp.Observed], versions: SimulatedVersions
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
        self.versions = versions
    }

    /// Whether the peer may still send and receive.
    var isUsable: Bool { !pipe.isClosed && !pipe.isClosedByBroker && !pipe.hasEndedWriting }
    /// Whether its session exists, as far as the referee has seen.
    var isLive: Bool { life.joinedAt != .max && life.endedAt == .max }

    /// Returns how many of its requests have ended since the bus had handled `order` frames.
    func endedSince(_ order: Int, _ requests: [SimulatedRequest]) -> Int {
        ended.count { requests[$0].end.order >= order }
    }

    var isModule: Bool {
        switch role {
        case .module, .guest: true
        case .operator, .launcher, .app, .link: false
        }
    }

    var isOtherApp: Bool { if case .app = role { true } else { false } }

    var isLink: Bool { if case .link = role { true } else { false } }

    /// The index of its row; -1 if it has no row.
    var place: Int { if case .module(let place) = role { place } else { -1 } }
}

/// A session's observation, and what arrived for it.
struct SimulatedObservation {
    /// The number of the observation; 0 until it is known.
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
