import StrataCore

/// One connection: `Peer`.
struct PeerState: StatePart {
    var number: UInt64 = 0
    var descriptor: Int32 = -1
    var credentials = PeerCredentials()
    var vouched: ProcessIdentity?
    /// The message of its `shutting-down`.
    var farewell: String?
    var life = PeerLife.greeting
    var role = Peer.Role.none
    /// Its module's number; -1 for none.
    var module = -1
    var rank = 0
    /// Input that was read and is not handled: the beginning of a frame, or
    /// frames of one that is paused.
    var kept = WaitingBytes()
    var output = Outbox.Contents()
    var observations: [ObservationState] = []
    var nextSubscription: UInt64 = 0
    var owesCredit = false
    var openReleases = 0
    var assemblyDeadline: UInt64 = 0
    var lastRequest: UInt64 = 0
    var stopAttempts = 0
    /// The number of the module whose vouch its hello waits for; -1 for none.
    var awaitedRow = -1
    var helloID: UInt64 = 0
    var offering = Peer.Offering.over
    var wantsRetiring = false
    /// The slots of its requests and of those that it serves, newest first.
    var made: [UInt32] = []
    var served: [UInt32] = []

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&number)
        try file(&descriptor)
        try file(&credentials)
        try file(&vouched)
        try file(&farewell)
        try file(&life)
        try file(&role)
        try file(&module)
        try file(&rank)
        try file(&kept)
        try file(&output)
        try file(&observations)
        try file(&nextSubscription)
        try file(&owesCredit)
        try file(&openReleases)
        try file(&assemblyDeadline)
        try file(&lastRequest)
        try file(&stopAttempts)
        try file(&awaitedRow)
        try file(&helloID)
        try file(&offering)
        try file(&wantsRetiring)
        try file(&made)
        try file(&served)
    }
}

extension PeerCredentials: StatePart {
    init() { self.init(pid: 0, uid: 0, gid: 0, seenAt: 0) }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var (pid, uid, gid, seenAt) = (pid, uid, gid, seenAt)
        try file(&pid)
        try file(&uid)
        try file(&gid)
        try file(&seenAt)
        self = PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: seenAt)
    }
}

extension PeerLife: StatePart {
    init() { self = .greeting }

    /// Why an open one isn't read is found anew.
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var number: UInt8 =
            switch self {
            case .greeting: 0
            case .waitingForVouch: 1
            case .open(.read): 2
            case .open(.answersUnread), .open(.idleWork): 3
            case .ending: 4
            case .closed: 5
            }
        try file(&number)
        let all: [PeerLife] = [.greeting, .waitingForVouch, .open(.read), .open(.answersUnread), .ending, .closed]
        guard number < all.count else { throw StateError("a connection's life has no state \(number)") }
        self = all[Int(number)]
    }
}

extension Outbox.Contents: StatePart {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&written)
        try file(&end)
        try file.numbers(&frames)
        try file(&bytes)
    }
}

/// `Observation`.
struct ObservationState: StatePart {
    var id: UInt64 = 0
    var name: [UInt8] = []
    var object: BytesState?
    var keepsLatest = false
    var rank = 0
    var isOfRow = false
    var waitingEnd: UInt64 = 0
    var missed = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&id)
        try file.bytes(&name)
        try file(&object)
        try file(&keepsLatest)
        try file(&rank)
        try file(&isOfRow)
        try file(&waitingEnd)
        try file(&missed)
    }
}

/// Bytes that may be missing.
struct BytesState: StatePart {
    var bytes: [UInt8] = []

    init() {}
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func pass(_ file: inout StateFile) throws(StateError) { try file.bytes(&bytes) }
}
