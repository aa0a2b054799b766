import StrataCore

/// One connection as the bus sees it: who it is, what waits for it, and what is open in its
/// name. What it may do is decided elsewhere.
class Peer {
    /// Where a connection is in its life.
    enum Phase: UInt8 {
        /// Has not said hello.
        case greeting
        /// Said hello with a token that nobody has vouched for yet.
        case waitingForVouch
        case open
        /// Ended by the broker; what is queued still goes out.
        case ending
        case closed
    }

    /// Why it isn't read for now.
    enum Pause: UInt8 {
        /// It is read.
        case none
        /// It doesn't read its answers.
        case answers
        /// Work that goes in pieces: its own fan-out or listing, or a fan-out that its next
        /// broadcast must not overtake.
        case idleWork
        /// Its hello waits for the launcher's word.
        case vouch
    }

    /// Whether a module's session still says what it brings, and what begins after that.
    enum Offering: UInt8 { case over, starting, resuming }

    enum Role: UInt8 { case none, module, `operator`, launcher }

    final let number: UInt64
    final let credentials: PeerCredentials
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    final var outbox: Outbox
    @exclusivity(unchecked)  // the same
    final var requests = RequestIDs()
    @exclusivity(unchecked)  // the same
    final var firstMade: CallPointer?
    @exclusivity(unchecked)  // the same
    final var firstServed: CallPointer?
    /// How many calls it serves.
    @exclusivity(unchecked)  // the same
    final var servedCount = 0
    @exclusivity(unchecked)  // the same
    final var phase = Phase.greeting
    /// When a request of somebody's was sent to it last.
    @exclusivity(unchecked)  // the same
    final var lastRequest: UInt64 = 0
    final var role = Role.none
    /// Set where the role is `module`.
    final var module: ModuleRecord?
    /// The process that the launcher had vouched for when its hello was taken; nil where
    /// nobody had.
    final var vouched: ProcessIdentity?
    /// A module's; an operator and the launcher have none.
    final var rank = 0
    /// What `from` says of it; empty before hello.
    final private(set) var from = UnsafeRawBufferPointer.none
    final var observations: [Observation] = []
    /// Bytes of their names and objects.
    final var observedBytes = 0
    final var nextSubscription: UInt64 = 1
    /// Instances that it has created and that live.
    final var instanceCount = 0
    /// Instances of its interfaces that others have created and that live.
    final var ownedInstances = 0
    /// Bytes of its requests that wait for a module.
    final var heldBytes = 0

    /// Is in the broker's list of those with something to write.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    final var isDirty = false
    @exclusivity(unchecked)  // the same
    final var pause = Pause.none
    /// It has a monitor open.
    @exclusivity(unchecked)  // the same
    final var isMonitoring = false
    /// What it has sent is still handled, and then it is closed or, with this, ended.
    final var farewell: BusError?
    /// Where it is counted until its hello is answered.
    final var pool = ConnectionPools.Pool.others
    /// Credit for calls that it serves waits for room in its outbox.
    final var owesCredit = false
    /// `module/released` calls that it has not answered.
    final var openReleases = 0
    /// How often the launcher was asked to stop it, as it idled.
    final var stopAttempts = 0
    final var offering = Offering.over
    /// It wants to be told when another process takes over from it.
    final var wantsRetiring = false
    /// The row whose vouch its hello waits for.
    final var awaitedRow: ModuleRecord?
    final var helloID: UInt64 = 0

    init(number: UInt64, credentials: PeerCredentials, outbox: consuming Outbox) {
        self.number = number
        self.credentials = credentials
        self.outbox = outbox
    }

    deinit { from.deallocate() }

    /// Says who it is, once.
    final func setFrom(_ name: String) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 8)
        memory.copyBytes(from: name.utf8)
        from = UnsafeRawBufferPointer(memory)
    }

    /// How messages name it.
    final var displayName: String {
        switch role {
        case .none: "a connection without hello (pid \(credentials.pid))"
        case .module: module?.name ?? "a module"
        case .operator: "operator"
        case .launcher: "launcher"
        }
    }

    final var isOpen: Bool { phase == .open }

    final var isPaused: Bool { pause != .none }

    /// Whether it waits for work that goes in pieces.
    final var awaitsIdleWork: Bool { pause == .idleWork }

    /// Its hello waits for the row's vouch, until its phase changes.
    final func waits(for row: ModuleRecord) {
        awaitedRow = row
        row.awaitingVouch.append(number)
    }
}
