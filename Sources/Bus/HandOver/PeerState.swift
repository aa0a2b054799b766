import StrataCore

/// The state of one connection: a `Peer`.
struct PeerState: StatePart {
    var number: UInt64 = 0
    var descriptor: Int32 = -1
    var credentials = PeerCredentials()
    var vouched: ProcessIdentity?
    /// The message of the `shutting-down` that it will be ended with.
    var farewell: String?
    var life = PeerLife.greeting
    var role = Peer.Role.none
    /// Its module's number; -1 if there is none.
    var module = -1
    var rank = 0
    /// Input that was read but not handled: the beginning of a frame, or the frames of a paused
    /// peer.
    var kept = WaitingBytes()
    var output = Outbox.Contents()
    var observations: [ObservationState] = []
    var nextSubscription: UInt64 = 0
    var owesCredit = false
    var openReleases = 0
    var assemblyDeadline: UInt64 = 0
    var lastRequest: UInt64 = 0
    var stopAttempts = 0
    /// The number of the module whose vouch its hello waits for; -1 if there is none.
    var awaitedRow = -1
    var helloID: UInt64 = 0
    var offering = Peer.Offering.over
    var wantsRetiring = false
    /// The other app whose broker it is, as `from` names it.
    var otherApp = ""
    /// What a link to another app has besides.
    var link: LinkState?
    var settings: SessionSettings?
    var retainedWalks: [RetainedWalkState] = []
    var takesDescriptors = false
    var takesMemory = false
    /// The descriptors that came with its kept input.
    var received: [DescriptorState] = []
    /// The slots of the requests that it made, newest first.
    var made: [UInt32] = []
    /// The slots of the requests that it serves, newest first.
    var served: [UInt32] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &number)
        try file(2, &descriptor)
        try file(3, &credentials)
        try file(4, &vouched)
        try file(5, &farewell)
        try file(6, &life)
        try file(7, &role)
        try file(8, &module)
        try file(9, &rank)
        try file(10, &kept)
        try file(11, &output)
        try file(12, &observations)
        try file(13, &nextSubscription)
        try file(14, &owesCredit)
        try file(15, &openReleases)
        try file(16, &assemblyDeadline)
        try file(17, &lastRequest)
        try file(18, &stopAttempts)
        try file(19, &awaitedRow)
        try file(20, &helloID)
        try file(21, &offering)
        try file(22, &wantsRetiring)
        try file(23, &made)
        try file(24, &served)
        try file(25, &otherApp)
        try file(26, &link)
        try file(27, &settings)
        try file(28, &retainedWalks)
        try file(29, &takesDescriptors)
        try file(30, &received)
        try file(31, &takesMemory)
    }
}

extension PeerCredentials: StatePart {
    init() { self.init(pid: 0, uid: 0, gid: 0, seenAt: 0) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        var (pid, uid, gid, seenAt) = (pid, uid, gid, seenAt)
        try file(1, &pid)
        try file(2, &uid)
        try file(3, &gid)
        try file(4, &seenAt)
        self = PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: seenAt)
    }
}

extension PeerLife: StatePart {
    init() { self = .greeting }

    /// Passes the life without the reason of a pause, which the next program determines again.
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        var number: UInt8 =
            switch self {
            case .greeting: 0
            case .waitingForVouch: 1
            case .open(.read): 2
            case .open(.answersUnread), .open(.idleWork): 3
            case .ending: 4
            case .closed: 5
            }
        try file(1, &number)
        let all: [PeerLife] = [.greeting, .waitingForVouch, .open(.read), .open(.answersUnread), .ending, .closed]
        guard number < all.count else { throw StateError("a connection's life has no state \(number)") }
        self = all[Int(number)]
    }
}

extension Outbox.Contents: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &written)
        try file(2, &end)
        try file(3, &frames)
        try file(4, &bytes)
    }
}

/// The state of an `Observation`.
struct ObservationState: StatePart {
    var terms = Observation.Terms()
    var waitingEnd: UInt64 = 0
    var missed = 0
    var gap = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &terms)
        try file(2, &waitingEnd)
        try file(3, &missed)
        try file(4, &gap)
    }
}
