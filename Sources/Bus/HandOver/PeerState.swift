import StrataCore

/// One connection: `Peer`.
struct PeerState: StatePart {
    var number: UInt64 = 0
    var descriptor: Int32 = -1
    var pid: Int32 = 0
    var uid: UInt32 = 0
    var gid: UInt32 = 0
    var seenAt: UInt64 = 0
    var vouched: ProcessState?
    /// The message of its `shutting-down`.
    var farewell: String?
    var phase = Peer.Phase.greeting
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
    var isPaused = false
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
        try file(&pid)
        try file(&uid)
        try file(&gid)
        try file(&seenAt)
        try file(&vouched)
        try file(&farewell)
        try file(&phase)
        try file(&role)
        try file(&module)
        try file(&rank)
        try file(&kept)
        try file(&output)
        try file(&observations)
        try file(&nextSubscription)
        try file(&isPaused)
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
