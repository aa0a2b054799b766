import StrataCore

/// The bus: who is connected, what is open, and the rules of the table by which frames go
/// from one to another.
///
/// It knows no loop, no socket and no clock. Its side of the connections, the `Broker`, tells it
/// what has happened: a connection is there, frames came, a connection has ended, so much
/// time has passed. What follows is bytes in the peers' outboxes, `effects` for the
/// connections, and a time at which to tell it again. What it must know in the middle of an
/// event it asks its `host`.
///
/// What it decides by is in tables of their own (`RouteTable`, `CallTable`,
/// `ObservationTable`, `ModuleTable`, `LevelTable`, `StartOrder`). Used on one thread.
final class BusCore {
    unowned let host: any BusHost  // because the host owns the bus
    /// Another one after a reload.
    @exclusivity(unchecked)  // because it is read for each message, on one thread
    var table: AppTable
    let levels: LevelTable
    var adapters: AdapterTable
    /// The user that the broker runs as.
    let user: UInt32
    let frameLimits: FrameLimits

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
    /// Whether peers who ask for little are there: work that takes long goes in small pieces.
    @exclusivity(unchecked)  // the same
    private(set) var isShared = false
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
    /// Closed peers. Code that handles a frame doesn't retain the peers that it finds, so each one
    /// lives at least until its round ends.
    var gone: [Peer] = []

    var instances = InstanceTable()
    var modules: ModuleTable
    var order: StartOrder
    /// When the app's start began and ended: `spawned` and `ready`.
    var appTimes = StartTimes()
    var peers: [UInt64: Peer] = [:]
    var nextPeer: UInt64 = 1
    var pools = ConnectionPools()
    /// How many connections there may be, and what bounds them.
    var connectionLimit = ConnectionLimit()
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

    /// Whether the program may be replaced.
    var isReplaceable = false
    /// Calls of `bus/handOver` that wait for it.
    var handOvers: [CallReference] = []

    enum Stage { case running, tearingDown, goodbye, stopped }
    var stage = Stage.running
    /// At the app's end: whose tearDown comes next, and how many are open.
    var groupsToTearDown: [[ModuleRecord]] = []
    var openTearDowns = 0

    var alarms = Alarms()
    /// When the next deadline or alarm is due: `timePassed` is to be called then.
    @exclusivity(unchecked)  // because it is looked at for each message, on one thread
    var wakeAt = UInt64.max
    var timedTurn = StartOrder.Turn.notBegun

    /// How a call of the broker's own ended.
    typealias OwnAnswer = Result<[UInt8], BusError>

    /// - Parameters:
    ///   - table: the app's.
    ///   - user: the user whose tools are operators.
    ///   - time: the clock's, in nanoseconds.
    init(_ host: any BusHost, table: AppTable, user: UInt32, time: UInt64) {
        self.host = host
        self.table = table
        self.user = user
        pool = OutboxPool(reclaimer)
        levels = LevelTable(table.levels)
        adapters = AdapterTable(table.adapters)
        frameLimits = FrameLimits(frame: table.limits.frame, header: table.limits.header)
        modules = ModuleTable(table)
        order = StartOrder(groups: Self.eagerGroups(modules.rows))
        wheel = TimerWheel(now: time / 1_000_000)
        declareInterfaces()
        declareURLs()
    }

    /// Goes on where another program's bus was; `Resumption` does the rest.
    init(
        _ host: any BusHost, resuming state: BrokerState, _ table: AppTable, _ records: [ModuleRecord], time: UInt64
    ) {
        self.host = host
        self.table = table
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
        wheel = TimerWheel(now: min(time / 1_000_000, max(earliest, 1) - 1))
    }

    /// Something has happened, and has this time from now on.
    /// - Parameters:
    ///   - time: the clock's, in nanoseconds.
    ///   - isShared: whether peers who ask for little are there.
    func eventBegins(at time: UInt64, isShared: Bool) {
        self.time = time
        self.isShared = isShared
        now = time / 1_000_000
    }

    // MARK: Work that takes long

    /// Whether some work goes on in pieces.
    var hasIdleWork: Bool {
        fanOut != nil || !awaitingResumption.isEmpty || !departures.isEmpty || !listings.isEmpty || hasUntoldWatches
            || noteTurns.isUnderWay
    }

    /// Does a piece of all that takes long, so that nobody waits for all of it.
    func advanceIdleWork() {
        // The next one begins after what the last one kept alive is dropped.
        if fanOut != nil { advanceFanOut() } else { resumeAfterFanOut() }
        advanceDepartures()
        advanceListings()
        advanceNotes()
        if hasUntoldWatches { feedWatches() }
    }

    /// Does all that is left of it: what comes next must find none.
    func finishIdleWork() {
        finishFanOut()
        finishDepartures()
        finishListings()
        finishNotes()
    }

    /// A round of the loop has ended: frees what was taken out of tables in it.
    func dropSpent() {
        routes.dropSpent()
        if fanOut == nil { observations.dropSpent() }
    }
}

/// What the bus asks in the middle of an event, since what it does depends on the answer.
protocol BusHost: AnyObject {
    /// Writes what waits for a peer, as far as its connection takes it: where its outbox is
    /// then is the answer.
    func write(to peer: Peer)
    /// The process that connected; nil where it has ended.
    func process(of peer: Peer) -> ProcessIdentity?
    /// How that process is related to another one; nil where it has ended, or can't be looked at.
    func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent?
    func isAlive(_ process: ProcessIdentity) -> Bool
    /// Microseconds since 1970.
    var wallMicroseconds: UInt64 { get }
    /// The process that the bus runs in.
    var processID: Int32 { get }
}

/// What the bus wants of its side of the connections; done at the event's end.
enum Effect {
    /// Read it again, first the frames that were read already.
    case readOn(Peer)
    /// It has ended: write what it still gets, and close it then.
    case writeLast(Peer)
    /// Handle what it has sent, and end or close it then.
    case hearOut(Peer)
    case close(Peer)
    /// The frame that it has begun may have taken too long.
    case lookAtFrame(Peer)
    /// Let the next program show that it understands this bus, and become it.
    case replaceProgram
    /// Take no further connections.
    case stopListening
    /// All have closed, and the bus has ended.
    case finish
}
