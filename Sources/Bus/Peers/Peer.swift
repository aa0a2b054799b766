import StrataCore

/// One connection as the broker sees it: its bytes in and out, who it is, and
/// what is open in its name. What it may do is decided elsewhere.
final class Peer {
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

    /// Whether it waits for others to have their turns first.
    enum Turn: UInt8 {
        case none
        case awaited
        /// The loop doesn't say any more that it can be read.
        case awaitedUnwatched
    }

    /// Whether a module's session still says what it brings, and what begins after that.
    enum Offering: UInt8 { case over, starting, resuming }

    enum Role: UInt8 { case none, module, `operator`, launcher }

    let number: UInt64
    let socket: Socket
    let credentials: PeerCredentials
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var assembler: FrameAssembler
    @exclusivity(unchecked)  // the same
    var outbox: Outbox
    @exclusivity(unchecked)  // the same
    var requests = RequestIDs()
    @exclusivity(unchecked)  // the same
    var firstMade: CallPointer?
    @exclusivity(unchecked)  // the same
    var firstServed: CallPointer?
    /// How many calls it serves.
    @exclusivity(unchecked)  // the same
    var servedCount = 0
    @exclusivity(unchecked)  // the same
    var phase = Phase.greeting
    /// When a request of somebody's was sent to it last.
    @exclusivity(unchecked)  // the same
    var lastRequest: UInt64 = 0
    var role = Role.none
    /// Set where the role is `module`.
    var module: ModuleRecord?
    /// The process that the launcher had vouched for when its hello was taken; nil where
    /// nobody had.
    var vouched: ProcessIdentity?
    /// A module's; an operator and the launcher have none.
    var rank = 0
    /// What `from` says of it; empty before hello.
    private(set) var from = UnsafeRawBufferPointer.none
    var observations: [Observation] = []
    /// Bytes of their names and objects.
    var observedBytes = 0
    var nextSubscription: UInt64 = 1
    /// Instances that it has created and that live.
    var instanceCount = 0
    /// Instances of its interfaces that others have created and that live.
    var ownedInstances = 0
    /// Bytes of its requests that wait for a module.
    var heldBytes = 0

    /// Is in the broker's list of those with something to write.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    var isDirty = false
    /// The kernel takes no more of its output; the loop says when it does.
    @exclusivity(unchecked)  // the same
    var isBlocked = false
    /// Not all that it has was written, so that others could go on; the rest is
    /// written when the loop says that it can be.
    @exclusivity(unchecked)  // the same
    var isCutShort = false
    /// It has a monitor open.
    @exclusivity(unchecked)  // the same
    var isMonitoring = false
    /// What its turns took of the broker's time.
    @exclusivity(unchecked)  // the same
    var pace = TurnShares.Pace()
    @exclusivity(unchecked)  // the same
    var turn = Turn.none
    /// Its last turn has left something to read, as far as is known.
    @exclusivity(unchecked)  // the same
    var hasMore = false
    /// Whole frames of it were read that its turn had no time for.
    @exclusivity(unchecked)  // the same
    var hasFramesLeft = false
    /// Its other side has closed, which was seen while it wasn't read.
    var hasHungUp = false
    /// Its input is not read for now.
    @exclusivity(unchecked)  // the same
    var isPaused = false
    /// Its socket takes nothing any more.
    var isBroken = false
    /// What it has sent is still handled, and then it is closed or, with this, ended.
    var farewell: BusError?
    /// Bytes that were read of it since.
    var lastBytes = 0
    /// It is paused because of work that goes in pieces: its own fan-out or listing, or
    /// a fan-out that its next broadcast must not overtake.
    var awaitsIdleWork = false
    /// Where it is counted until its hello is answered.
    var pool = ConnectionPools.Pool.others
    /// Credit for calls that it serves waits for room in its outbox.
    var owesCredit = false
    /// `module/released` calls that it has not answered.
    var openReleases = 0
    /// When the frame that it has begun must be complete; 0 for none.
    var assemblyDeadline: UInt64 = 0
    /// What was left of that time when it was paused.
    var assemblyLeft: UInt64 = 0
    /// Whether an alarm looks after that.
    var isAssemblyTimed = false
    /// How often the launcher was asked to stop it, as it idled.
    var stopAttempts = 0
    var offering = Offering.over
    /// It wants to be told when another process takes over from it.
    var wantsRetiring = false
    /// The row whose vouch its hello waits for.
    var awaitedRow: ModuleRecord?
    var helloID: UInt64 = 0

    init(
        number: UInt64, socket: Socket, credentials: PeerCredentials, limits: FrameLimits, pool: OutboxPool,
        outbox: consuming Outbox? = nil
    ) {
        self.number = number
        self.socket = socket
        self.credentials = credentials
        assembler = FrameAssembler(limits: limits, pool.reclaimer)
        self.outbox = outbox ?? Outbox(pool: pool)
    }

    deinit { from.deallocate() }

    /// Says who it is, once.
    func setFrom(_ name: String) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: name.utf8.count, alignment: 8)
        memory.copyBytes(from: name.utf8)
        from = UnsafeRawBufferPointer(memory)
    }

    /// How messages name it.
    var displayName: String {
        switch role {
        case .none: "a connection without hello (pid \(credentials.pid))"
        case .module: module?.name ?? "a module"
        case .operator: "operator"
        case .launcher: "launcher"
        }
    }

    var isOpen: Bool { phase == .open }

    /// Its hello waits for the row's vouch, until its phase changes.
    func waits(for row: ModuleRecord) {
        awaitedRow = row
        row.awaitingVouch.append(number)
    }
}
