import StrataCore

/// One connection as the bus sees it: who it is, what waits for it, and what is open in its
/// name. What it may do is decided elsewhere.
package class Peer {
    /// Whether a module's session still says what it brings, and what begins after that.
    enum Offering: UInt8 { case over, starting, resuming }

    typealias Role = PeerRole

    package final let number: UInt64
    final let credentials: PeerCredentials
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    final var outbox: Outbox
    @exclusivity(unchecked)  // the same
    final var requests = NumberTable<CallPointer>()
    @exclusivity(unchecked)  // the same
    final private(set) var firstMade: CallPointer?
    @exclusivity(unchecked)  // the same
    final private(set) var firstServed: CallPointer?
    /// How many calls it serves.
    @exclusivity(unchecked)  // the same
    final private(set) var servedCount = 0
    @exclusivity(unchecked)  // the same
    final private(set) var life = PeerLife.greeting
    /// When a request of somebody's was sent to it last.
    @exclusivity(unchecked)  // the same
    final private(set) var lastRequest: UInt64 = 0
    final private(set) var role = Role.none
    /// Set where the role is `module`.
    final private(set) var module: ModuleRecord?
    /// The process that the launcher had vouched for when its hello was taken; nil where
    /// nobody had.
    final private(set) var vouched: ProcessIdentity?
    /// A module's; an operator and the launcher have none.
    final private(set) var rank = 0
    /// What `from` says of it; empty before hello.
    final private(set) var from = UnsafeRawBufferPointer.none
    final var observations = PeerObservations()
    final var instances = InstanceCounts()
    /// Bytes of its requests that wait for a module.
    final private(set) var heldBytes = 0

    /// Is in the bus's list of those with something to write.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    final var isDirty = false
    /// It has a monitor open.
    @exclusivity(unchecked)  // the same
    final private(set) var isMonitoring = false
    /// What it has sent is still handled, and then it is closed or, with this, ended.
    final private(set) var farewell: BusError?
    final var greeting = PeerGreeting()
    /// Credit for calls that it serves waits for room in its outbox.
    final private(set) var owesCredit = false
    /// How often the launcher was asked to stop it, as it idled.
    final private(set) var stopAttempts = 0
    final private(set) var offering = Offering.over
    /// It wants to be told when another process takes over from it.
    final private(set) var wantsRetiring = false

    init(number: UInt64, credentials: PeerCredentials, outbox: consuming Outbox) {
        self.number = number
        self.credentials = credentials
        self.outbox = outbox
    }

    deinit { from.deallocate() }

    // MARK: Who it is

    /// Says who it is, once.
    /// - Parameters:
    ///   - module: where the role is `module`.
    ///   - rank: its session's.
    final func identify(as role: Role, _ module: ModuleRecord?, rank: Int) {
        self.role = role
        self.module = module
        self.rank = rank
        let name = role == .none ? "" : displayName
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 8)
        memory.copyBytes(from: name.utf8)
        from = UnsafeRawBufferPointer(memory)
    }

    /// The launcher has vouched for its process.
    final func noteVouch(_ process: ProcessIdentity) { vouched = process }

    /// How messages name it.
    final var displayName: String {
        switch role {
        case .none: "a connection without hello (pid \(credentials.pid))"
        case .module: module?.name ?? "a module"
        case .operator: "operator"
        case .launcher: "launcher"
        }
    }

    final var isOpen: Bool { life.isOpen }

    /// Whether it is there and not read for now.
    final var isPaused: Bool { !life.isRead && !life.isOver }

    /// Whether it waits for work that goes in pieces.
    final var awaitsIdleWork: Bool { life == .open(.idleWork) }

    /// Something has happened to it.
    final func take(_ event: PeerLife.Event) { life.take(event) }

    /// Its hello waits for the row's vouch, until that event is over.
    final func waits(for row: ModuleRecord, helloID: UInt64) {
        greeting.wait(for: row, helloID: helloID)
        row.addAwaitingVouch(number)
    }

    /// Its session says what it brings in parts.
    final func setOffering(_ offering: Offering) { self.offering = offering }

    /// It is to be told when another process takes over.
    final func setWantsRetiring(_ wants: Bool) { wantsRetiring = wants }

    /// What it has sent is handled, and then it is ended with this.
    final func setFarewell(_ farewell: BusError) { self.farewell = farewell }

    /// It has a monitor open, or none any more.
    final func setMonitoring(_ isMonitoring: Bool) { self.isMonitoring = isMonitoring }

    // MARK: Requests made and served

    final func addMade(_ call: CallPointer) { firstMade.push(call, \.made) }
    final func removeMade(_ call: CallPointer) { firstMade.remove(call, \.made) }

    final func addServed(_ call: CallPointer) {
        firstServed.push(call, \.served)
        servedCount &+= 1
    }

    final func removeServed(_ call: CallPointer) {
        servedCount &-= 1
        firstServed.remove(call, \.served)
    }

    /// Bytes of its requests wait, or wait no more.
    final func countHeld(_ change: Int) { heldBytes += change }

    /// A request of somebody's was sent to it, or has ended.
    @inline(__always)
    final func wasUsed(at now: UInt64) { lastRequest = now }

    final func setOwesCredit(_ owes: Bool) { owesCredit = owes }

    /// - Returns: how often the launcher was asked to stop it before.
    final func countStop() -> Int {
        defer { stopAttempts += 1 }
        return stopAttempts
    }

    /// Goes on where another program was.
    final func resume(_ state: PeerState) {
        life = state.life
        observations = PeerObservations(next: state.nextSubscription)
        instances = InstanceCounts(openReleases: state.openReleases)
        greeting.wait(for: nil, helloID: state.helloID)
        vouched = state.vouched
        offering = state.offering
        wantsRetiring = state.wantsRetiring
        lastRequest = state.lastRequest
        owesCredit = state.owesCredit
        stopAttempts = state.stopAttempts
    }
}

/// What is kept of a connection until its hello is answered.
struct PeerGreeting {
    /// Where it is counted.
    private(set) var pool = ConnectionPools.Pool.others
    /// The row whose vouch its hello waits for.
    private(set) var row: ModuleRecord?
    /// The number of the hello that waits, or has waited; 0 for none.
    private(set) var helloID: UInt64 = 0

    mutating func count(in pool: ConnectionPools.Pool) { self.pool = pool }

    mutating func wait(for row: ModuleRecord?, helloID: UInt64) { (self.row, self.helloID) = (row, helloID) }

    /// - Returns: the row that it has waited for.
    mutating func takeRow() -> ModuleRecord? {
        defer { row = nil }
        return row
    }
}

/// What one peer observes.
struct PeerObservations {
    private(set) var all: [Observation] = []
    /// How many of them keep all.
    private(set) var keepingAll = 0
    /// Bytes of their names and objects.
    private(set) var bytes = 0
    /// The number that its next one gets.
    private(set) var next: UInt64 = 1

    init() {}

    /// Goes on with the numbers of another program's.
    init(next: UInt64) { self.next = next }

    var count: Int { all.count }

    mutating func add(_ observation: Observation) {
        all.append(observation)
        bytes += observation.cost
        if observation.terms.keep == .all { keepingAll += 1 }
        next = max(next, observation.terms.id + 1)
    }

    mutating func remove(_ observation: Observation) {
        all.removeAll { $0 === observation }
        bytes -= observation.cost
        if observation.terms.keep == .all { keepingAll -= 1 }
    }

    /// Its session has ended.
    mutating func removeAll() { (all, keepingAll, bytes) = ([], 0, 0) }
}
