import StrataCore

/// One connection as the bus sees it: its identity, its outbox, and the requests that it has made
/// and serves. What it may do is decided elsewhere.
package class Peer {
    /// Whether a module's session is still registering what it brings, and what begins after that.
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
    /// The number of calls that it serves.
    @exclusivity(unchecked)  // the same
    final private(set) var servedCount = 0
    @exclusivity(unchecked)  // the same
    final private(set) var life = PeerLife.greeting
    /// When a request was last sent to it, in milliseconds of the loop's clock.
    @exclusivity(unchecked)  // the same
    final private(set) var lastRequest: UInt64 = 0
    final private(set) var role = Role.none
    /// The module that it is; nil unless the role is `module`.
    final private(set) var module: ModuleRecord?
    /// The process that the launcher had vouched for when this hello was accepted; nil if there was
    /// no vouch.
    final private(set) var vouched: ProcessIdentity?
    /// A module's rank; 0 for an operator and the launcher, which have none.
    final private(set) var rank = 0
    /// The other app or node whose broker it is, as `from` names it; empty unless the role is `app`,
    /// `link` or `node`.
    final private(set) var otherApp = ""
    /// Its name in `from`; empty before hello.
    final private(set) var from = UnsafeRawBufferPointer.none
    /// The number of its name in what `bus/traffic` counts.
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    final var textSlot = TextSlot()
    /// What it was last counted to receive there.
    @exclusivity(unchecked)  // the same
    final var recentEdge = RecentEdge()
    /// The name of its node in `node`; empty for a peer of this one.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    final private(set) var node = UnsafeRawBufferPointer.none
    /// The connection that carries its frames, if it is a module of another node; nil if it is a
    /// connection itself. Unretained, because the node ends its modules' peers before its connection.
    @exclusivity(unchecked)  // the same
    final private(set) var carrier: Unmanaged<Peer>?
    final var observations = PeerObservations()
    /// What its observations are still to get of the retained notices.
    final var retainedWalks = RetainedWalks()
    final var instances = InstanceCounts()
    /// The bytes of its requests that wait for modules.
    final private(set) var heldBytes = 0
    /// The bytes of the roots of calls that it serves.
    final private(set) var rootBytes = 0

    /// Whether it is in the bus's list of peers with something to write.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    final var isDirty = false
    /// Whether it has a monitor open.
    @exclusivity(unchecked)  // the same
    final private(set) var isMonitoring = false
    /// The error that ends it once everything it has sent is handled; nil if it isn't to end.
    @Seldom final private(set) var farewell: BusError?
    final var greeting = PeerGreeting()
    /// Whether credit for calls that it serves waits for room in its outbox.
    final private(set) var owesCredit = false
    /// How often the launcher was asked to stop it for being idle.
    final private(set) var stopAttempts = 0
    final private(set) var offering = Offering.over
    /// Whether it wants to be notified when another process takes over from it.
    final private(set) var wantsRetiring = false
    /// The settings that its hello declared; nil if it declared none.
    @Seldom final var settings: SessionSettings?
    /// Its descriptors; nil if its hello didn't say that it takes some.
    final var descriptors: PeerDescriptors?

    init(number: UInt64, credentials: PeerCredentials, outbox: consuming Outbox) {
        self.number = number
        self.credentials = credentials
        self.outbox = outbox
    }

    deinit {
        from.deallocate()
        node.deallocate()
    }

    // MARK: Who it is

    /// Sets its identity, once.
    /// - Parameters:
    ///   - module: its record, if the role is `module`.
    ///   - rank: its session's rank.
    final func identify(as role: Role, _ module: ModuleRecord?, rank: Int) {
        self.role = role
        self.module = module
        self.rank = rank
        from = Self.bytes(of: role == .none ? "" : name)
    }

    /// Makes it a peer of another node, whose frames that node's connection carries; before
    /// `identify`.
    final func belongs(to node: String, over carrier: Peer) {
        self.node = Self.bytes(of: node)
        self.carrier = .passUnretained(carrier)
    }

    /// Returns memory with a name, because the headers of forwarded frames contain it as bytes.
    private static func bytes(of name: String) -> UnsafeRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 8)
        memory.copyBytes(from: name.utf8)
        return UnsafeRawBufferPointer(memory)
    }

    /// The connection that carries its frames.
    final var line: Peer { carrier?.takeUnretainedValue() ?? self }

    /// Whether it is a peer of another node.
    final var isRemote: Bool { carrier != nil }

    /// Sets the other app whose broker it is, before `identify`.
    final func setOtherApp(_ name: String) { otherApp = name }

    /// Notes the process that the launcher has vouched for.
    final func noteVouch(_ process: ProcessIdentity) { vouched = process }

    /// How messages name it.
    final var displayName: String { node.isEmpty || role == .node ? name : "\(name)@\(node.text)" }

    /// Its name on its own node.
    private var name: String {
        switch role {
        case .none: "a connection without hello (pid \(credentials.pid))"
        case .module: module?.name ?? "a module"
        case .operator: "operator"
        case .launcher: "launcher"
        case .nodeLink: "link"
        case .app, .link, .node: otherApp
        }
    }

    final var isOpen: Bool { life.isOpen }

    /// Whether it is connected but not read at present.
    final var isPaused: Bool { !life.isRead && !life.isOver }

    /// Whether it waits for work that is done in batches.
    final var awaitsIdleWork: Bool { life == .open(.idleWork) }

    /// Takes an event of its life.
    final func take(_ event: PeerLife.Event) { life.take(event) }

    /// Makes its hello wait for the row's vouch; ends with the next change of its life.
    final func waits(for row: ModuleRecord, helloID: UInt64) {
        greeting.wait(for: row, helloID: helloID)
        row.addAwaitingVouch(number)
    }

    /// Sets whether its session registers what it brings in parts.
    final func setOffering(_ offering: Offering) { self.offering = offering }

    /// Sets whether it is notified when another process takes over.
    final func setWantsRetiring(_ wants: Bool) { wantsRetiring = wants }

    /// Sets the error that ends it once everything it has sent is handled.
    final func setFarewell(_ farewell: BusError) { self.farewell = farewell }

    /// Sets whether it has a monitor open.
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

    /// Adds to the bytes of its requests that wait; `change` is negative when they stop waiting.
    final func countHeld(_ change: Int) { heldBytes += change }

    /// Adds to the bytes of the roots of calls that it serves.
    final func countRoots(_ change: Int) { rootBytes += change }

    /// Notes that a request was sent to it, or that one of its requests has ended.
    @inline(__always)
    final func wasUsed(at now: UInt64) { lastRequest = now }

    final func setOwesCredit(_ owes: Bool) { owesCredit = owes }

    /// - Returns: how often the launcher was asked to stop it before.
    final func countStop() -> Int {
        defer { stopAttempts += 1 }
        return stopAttempts
    }

    /// Restores the state that the previous program's bus saved.
    final func resume(_ state: PeerState) {
        life = state.life
        observations = PeerObservations(next: state.nextSubscription)
        instances = InstanceCounts(openReleases: state.openReleases)
        greeting.wait(for: nil, helloID: state.helloID)
        vouched = state.vouched
        offering = state.offering
        wantsRetiring = state.wantsRetiring
        settings = state.settings
        lastRequest = state.lastRequest
        owesCredit = state.owesCredit
        stopAttempts = state.stopAttempts
    }
}

/// The state of a connection until its hello is answered.
struct PeerGreeting {
    /// The pool that counts it.
    private(set) var pool = ConnectionPools.Pool.others
    /// The row whose vouch its hello waits for.
    private(set) var row: ModuleRecord?
    /// The number of the hello that waits or has waited; 0 if there is none.
    private(set) var helloID: UInt64 = 0

    mutating func count(in pool: ConnectionPools.Pool) { self.pool = pool }

    mutating func wait(for row: ModuleRecord?, helloID: UInt64) { (self.row, self.helloID) = (row, helloID) }

    /// - Returns: the row that it waited for.
    mutating func takeRow() -> ModuleRecord? {
        defer { row = nil }
        return row
    }
}

/// The observations of one peer.
struct PeerObservations {
    private(set) var all: [Observation] = []
    /// The number of them with `keep: all`.
    private(set) var keepingAll = 0
    /// The bytes of their names and objects.
    private(set) var bytes = 0
    /// The number of the next observation.
    private(set) var next: UInt64 = 1

    init() {}

    /// Continues the numbers of the previous program's bus.
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

    /// Removes all observations, because the session has ended.
    mutating func removeAll() { (all, keepingAll, bytes) = ([], 0, 0) }
}
