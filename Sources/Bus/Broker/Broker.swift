public import StrataCore

/// The broker: it listens on one socket, knows who each peer is, and moves
/// frames between them under the rules of the table that it was given.
///
/// An object on a loop; several may run, each on a loop of its own. What it
/// decides by is in tables of their own (`RouteTable`, `CallTable`,
/// `ObservationTable`, `ModuleTable`, `LevelTable`, `StartOrder`); this class
/// owns them, the sockets, and the clock, and is used on its loop's thread.
public final class Broker {
    let loop: Loop
    /// Another one after a reload.
    @exclusivity(unchecked)  // because it is read for each message, on one thread
    var table: AppTable
    let levels: LevelTable
    var adapters: AdapterTable
    /// The user that the broker runs as.
    let user: UInt32
    let frameLimits: FrameLimits

    let buffer = ReadBuffer()
    let scanner = HeaderScanner()
    let reclaimer = Reclaimer()
    let pool: OutboxPool

    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var calls = CallTable()
    @exclusivity(unchecked)  // the same
    var wheel: TimerWheel
    @exclusivity(unchecked)  // the same
    var routes = RouteTable()
    @exclusivity(unchecked)  // the same
    var observations = ObservationTable()
    @exclusivity(unchecked)  // the same
    var noticeFrame = NoticeFrame()
    @exclusivity(unchecked)  // the same
    var statistics = Statistics()
    @exclusivity(unchecked)  // the same
    var durations = Histogram()
    /// The clock as it was when the present event began, in nanoseconds.
    @exclusivity(unchecked)  // the same
    private(set) var time: UInt64 = 0
    /// The same in milliseconds: deadlines and alarms go by it.
    @exclusivity(unchecked)  // the same
    private(set) var now: UInt64 = 0
    /// The present turn has used its time: its other frames wait for the next.
    @exclusivity(unchecked)  // the same
    var isTurnSpent = false
    /// The body of the frame in hand, where it is a large one.
    @exclusivity(unchecked)  // the same
    var frameBody = UnsafeRawBufferPointer.none
    /// The payload that borrows from it, and stands in queues.
    @exclusivity(unchecked)  // the same
    var lent: Payload?
    /// Whose queues have a payload that borrows.
    @exclusivity(unchecked)  // the same
    var borrowers: [Peer] = []
    /// The frames of the turn don't go on before its connection has done something.
    @exclusivity(unchecked)  // the same
    var isInterrupted = false
    /// The frame in hand is handled later.
    var isPutBack = false
    /// What connections are to do at the event's end, in order.
    @exclusivity(unchecked)  // the same
    var effects: [Effect] = []
    @exclusivity(unchecked)  // the same
    var shares = TurnShares()
    /// Those who have their turn at a round's end; longest wait first.
    @exclusivity(unchecked)  // the same
    var awaitingTurn: [Connection] = []
    /// What was read of heavy peers in this round, in bytes; each end of a session counts
    /// `TurnShares.endCost` more.
    @exclusivity(unchecked)  // the same
    var readOfHeavy = 0
    @exclusivity(unchecked)  // the same
    var dirty: [Peer] = []
    /// The broadcast that goes out in pieces, if one does.
    @exclusivity(unchecked)  // the same
    var fanOut: FanOut?
    /// Peers that go on as soon as no fan-out is under way: they waited for it, or their
    /// listing is done. Each of them once, longest wait first.
    var awaitingResumption: [Peer] = []
    /// Answers that are made in pieces; longest wait first.
    var listings: [Listing] = []
    /// Closed peers whose requests end in pieces, longest gone first.
    var departures: [Peer] = []
    /// Peers whose socket takes nothing any more, and those with a farewell: what they
    /// have sent is handled yet.
    var heardOut: [Connection] = []
    /// Closed peers. What handles a frame doesn't retain those that it finds: each lives
    /// until its round's end, at least.
    var gone: [Peer] = []

    var instances = InstanceTable()
    var modules: ModuleTable
    var order: StartOrder
    /// When the app's start began and ended: `spawned` and `ready`.
    var appTimes = StartTimes()
    var peers: [UInt64: Peer] = [:]
    var nextPeer: UInt64 = 1
    var pools = ConnectionPools()
    /// How many descriptors this process may have.
    var mostDescriptors = Int.max
    var launcher: Peer?
    /// The launcher's process, also when its connection has ended.
    var launcherProcess: ProcessIdentity?
    var heldTotal = 0
    /// What calls of the broker's own are for, by slot.
    var ownCalls: [UInt32: OwnPurpose] = [:]
    var watches: [Watch] = []
    /// Some of them have more to be told than was told at once.
    var hasUntoldWatches = false
    /// Sessions that a successor took the place of, until they are done.
    var leaving: [Peer] = []
    /// Somebody monitors: what each frame's way asks before it tells of itself.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    var isMonitored = false
    var monitors: [Monitor] = [] {
        didSet {
            firstMonitor = nil
            for monitor in monitors.reversed() {
                monitor.next = firstMonitor
                firstMonitor = .passUnretained(monitor)
            }
        }
    }
    /// The first of them, which knows the next: each frame walks them.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    private(set) var firstMonitor: Unmanaged<Monitor>?
    @exclusivity(unchecked)  // the same
    var frameInHand: FrameInHand?
    /// What monitors are still to be sent; there while somebody monitors.
    var notes: NoteRing? {
        didSet { noteRing = notes.map { .passUnretained($0) } }
    }
    /// The same.
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    private(set) var noteRing: Unmanaged<NoteRing>?
    @exclusivity(unchecked)  // the same
    var noteTurns = NoteTurns()
    var noteFormatter: NoteFormatter?
    /// `bus/reload` calls that no question to the launcher was asked for yet.
    var reloads: [CallReference] = []
    /// Those that the question that is open was asked for; nil where none is.
    var askedReloads: [CallReference]?
    /// Calls that end with the one that is ending, until they are done.
    var orphans: [(call: CallReference, reason: String)] = []
    var isEndingOrphans = false

    /// What this broker may be replaced with; nil: nothing.
    public var next: (any NextBroker)?
    /// Calls of `bus/handOver` that wait for it.
    var handOvers: [CallReference] = []
    /// Of a broker that goes on where another program's was: what to tell a person.
    private(set) var resumed: String?
    /// It is being tried.
    var isTryingNext = false
    /// It has shown that it understands the state: at the round's end it takes over.
    var isNextTried = false

    enum Stage { case running, tearingDown, goodbye, stopped }
    var stage = Stage.running
    var onStopped: () -> Void = {}
    /// At the app's end: whose tearDown comes next, and how many are open.
    var groupsToTearDown: [[ModuleRecord]] = []
    var openTearDowns = 0

    private(set) var listener: Listener?
    private var hook: RoundHook?
    /// Work that is done a piece a round.
    private(set) var pieces: IdleHook!
    var alarms = Alarms()
    /// Set for the earliest deadline or alarm, at `armedTick`.
    private(set) var timer: KernelTimer!
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    var armedTick = UInt64.max
    private var spareTimer: LoopTimer!
    var timedTurn = StartOrder.Turn.notBegun

    /// How a call of the broker's own ended.
    typealias OwnAnswer = Result<[UInt8], BusError>

    /// Starts listening.
    /// - Parameters:
    ///   - loop: what it lives on.
    ///   - table: the app's.
    ///   - path: where; at most 107 bytes. A dead socket there is replaced; a
    ///     live broker, or anything that is no socket, makes this throw.
    ///   - listening: a socket that listens there already, and whose file is somebody
    ///     else's: a service manager's.
    ///   - user: the user whose tools are operators.
    public init(
        _ loop: Loop, table: AppTable, path: String, listening: Int32? = nil, user: UInt32 = Broker.processUser
    ) throws(BrokerStartError) {
        self.loop = loop
        self.table = table
        self.user = user
        pool = OutboxPool(reclaimer)
        levels = LevelTable(table.levels)
        adapters = AdapterTable(table.adapters)
        frameLimits = FrameLimits(frame: table.limits.frame, header: table.limits.header)
        modules = ModuleTable(table)
        order = StartOrder(groups: Self.eagerGroups(modules.rows))
        wheel = TimerWheel(now: loop.now)
        declareInterfaces()
        declareURLs()
        do {
            timer = try KernelTimer(loop) { [unowned self] in self.timePassed() }
        } catch {
            throw .noTimer(error)
        }
        do {
            if let listening { try listen(path, on: listening) } else { try listen(path) }
        } catch {
            timer.close()
            throw error
        }
        startTimers()
    }

    /// Goes on where another program's broker was.
    /// - Parameters:
    ///   - loop: what it lives on.
    ///   - descriptor: the sealed file in which that one wrote down its state;
    ///     the sockets named there are open in this process.
    /// - Throws: where the file can't be understood, or this process can have no
    ///   descriptor more. The sockets are not to be used any more then.
    public init(_ loop: Loop, resuming descriptor: Int32) throws(BrokerStartError) {
        let state: BrokerState
        let records: [ModuleRecord]
        do throws(StateError) {
            state = try StateFile.read(descriptor)
            table = try state.appTable()
            records = try state.moduleRecords(table)
        } catch {
            throw .unusableState(error.description)
        }
        if state.queues >= 0 { Descriptors.close(state.queues) }
        self.loop = loop
        user = state.user
        pool = OutboxPool(reclaimer)
        levels = LevelTable(table.levels)
        adapters = AdapterTable(table.adapters)
        frameLimits = FrameLimits(frame: table.limits.frame, header: table.limits.header)
        modules = ModuleTable(resuming: records, next: state.nextModule)
        order = state.order.order
        calls = CallTable(generations: state.generations)
        instances = InstanceTable(next: state.nextInstance)
        statistics = Statistics(state.counters)
        durations = Histogram(
            Array(zip(state.durations.slots, state.durations.counts)), largest: state.durations.largest)
        // Deadlines that passed meanwhile pass in their order.
        let earliest = state.calls.lazy.filter(\.hasTimer).map(\.expiry).min() ?? .max
        wheel = TimerWheel(now: min(Loop.nanoseconds / 1_000_000, max(earliest, 1) - 1))
        do throws(SystemError) {
            timer = try KernelTimer(loop) { [unowned self] in self.timePassed() }
            listener = try Listener(
                loop, path: state.path, descriptor: state.listener, removesFile: state.removesFile
            ) { [unowned self] socket in self.accepted(socket) }
        } catch {
            throw .noTimer(error)
        }
        startTimers()
        do throws(StateError) { resumed = try Resumption(self, state, records).run() } catch {
            throw .unusableState(error.description)
        }
    }

    /// Looks at the clock: something begins that has its time.
    func eventBegins() {
        time = Loop.nanoseconds
        now = time / 1_000_000
    }

    private func startTimers() {
        eventBegins()
        listener?.onRefusal = { [unowned self] socket in self.refused(socket) }
        spareTimer = LoopTimer(loop) { [unowned self] in self.settleSpares() }
        hook = RoundHook(loop) { [unowned self] in self.endRound() }
        pieces = IdleHook(loop) { [unowned self] in self.doPieces() }
    }

    /// What takes long is done a piece a round, so that nobody waits for all of it.
    private func doPieces() {
        eventBegins()
        let hasOthers = fanOut != nil || !departures.isEmpty || !listings.isEmpty || noteTurns.isUnderWay
        // The next one begins after what the last one kept alive is dropped.
        if fanOut != nil { advanceFanOut() } else { resumeAfterFanOut() }
        advanceDepartures()
        advanceListings()
        advanceNotes()
        if hasUntoldWatches { feedWatches() }
        settle()
        let isShared = shares.isShared(at: time)
        // Where somebody waits, memory goes back in rounds that had nothing else.
        if !isShared || !hasOthers {
            reclaimer.giveBack(isShared ? Reclaimer.smallPiece : Reclaimer.piece)
        }
        if fanOut == nil, awaitingResumption.isEmpty, awaitingTurn.isEmpty, departures.isEmpty, heardOut.isEmpty,
            gone.isEmpty, listings.isEmpty, !hasUntoldWatches, !noteTurns.isUnderWay, reclaimer.isEmpty
        {
            pieces.stop()
        }
    }

    /// Memory that is kept for the next large frames, and that nobody wanted, goes back.
    private func settleSpares() {
        reclaimer.settle()
        if reclaimer.spareCount == 0 { spareTimer.stop() }
        if !reclaimer.isEmpty { pieces.start() }
    }

    /// Writes out what the round has produced; then goes what was kept to its end.
    private func endRound() {
        if !awaitingTurn.isEmpty {
            // What light peers said goes out before.
            flushAll()
            giveTurns()
        }
        readOfHeavy = 0
        if !leaving.isEmpty { dismissLeaving() }
        settle()
        flushAll()
        routes.dropSpent()
        if fanOut == nil {
            observations.dropSpent()
            if !gone.isEmpty { dropGone() }
        }
        if !reclaimer.isEmpty { pieces.start() }
        if reclaimer.spareCount > 0, !spareTimer.isActive {
            spareTimer.start(after: Reclaimer.sparePeriod, every: Reclaimer.sparePeriod)
        }
        if isNextTried { handOver() }
    }

    /// Ends the app in order: each module's tearDown in reverse start order,
    /// `shutting-down` to every open request and every peer, then the socket.
    /// - Parameter then: called when all is closed.
    public func shutDown(then: @escaping () -> Void) {
        guard stage == .running else { return }
        eventBegins()
        onStopped = then
        stage = .tearingDown
        groupsToTearDown = Self.reverseGroups(modules.inStartOrder)
        tearDownNext()
        settle()
    }

    private func listen(_ path: String) throws(BrokerStartError) {
        do {
            try SocketPath.check(path)
        } catch {
            throw .unusablePath("\(error)")
        }
        switch SocketAddress.occupant(path) {
        case .nothing: break
        case .dead: FileRemoval.remove(path)
        case .live:
            throw .alreadyRunning(
                "a broker is live on \(path): end it with `strata down`, or choose another --socket")
        case .foreign:
            throw .unusablePath("\(path) exists and is no socket: remove it, or choose another --socket")
        case .unknown(let code):
            throw .unusablePath("\(SystemError(code, "look at \(path)"))")
        }
        do {
            listener = try Listener(
                loop, path: path, mode: table.group == nil ? 0o600 : 0o660, group: table.group
            ) { [unowned self] socket in self.accepted(socket) }
        } catch {
            throw .unusablePath("\(error)")
        }
    }

    private func listen(_ path: String, on descriptor: Int32) throws(BrokerStartError) {
        do {
            listener = try Listener(loop, path: path, descriptor: descriptor, removesFile: false) {
                [unowned self] socket in self.accepted(socket)
            }
        } catch {
            throw .unusablePath("\(error)")
        }
    }

    /// Leaves the loop and every descriptor to another broker of this process,
    /// which goes on with the state that was written.
    func letGo() {
        stage = .stopped
        listener?.letGo()
        listener = nil
        closeTimers()
        for peer in peers.values {
            peer.connection.socket.letGo()
        }
        peers = [:]
    }

    private func closeTimers() {
        hook?.close()
        hook = nil
        pieces.close()
        timer.close()
        spareTimer.close()
    }

    /// Everything is sent: lets go of the loop.
    func finish() {
        stage = .stopped
        listener?.close()
        listener = nil
        closeTimers()
        let stopped = onStopped
        onStopped = {}
        stopped()
    }

    /// No further connection is taken, and the socket's file goes.
    func stopListening() {
        listener?.close()
        listener = nil
    }
}

/// What the bus wants of a connection; done at the event's end.
enum Effect {
    /// Read it again, first the frames that were read already.
    case readOn(Peer)
    /// It has ended: write what it still gets, and close it then.
    case writeLast(Peer)
    /// Handle what it has sent, and end or close it then.
    case hearOut(Peer)
    case close(Peer)
}

/// Why a broker did not start.
public enum BrokerStartError: Error, Sendable, CustomStringConvertible {
    /// A live broker has the socket.
    case alreadyRunning(String)
    /// The socket can't be made there.
    case unusablePath(String)
    /// The process can't have one descriptor more.
    case noTimer(SystemError)
    /// What another program's broker wrote down can't be gone on with.
    case unusableState(String)

    public var description: String {
        switch self {
        case .alreadyRunning(let message), .unusablePath(let message): message
        case .unusableState(let message): "the broker's state can't be taken over: \(message)"
        case .noTimer(let error): "the broker has no clock for deadlines: \(error)"
        }
    }
}
