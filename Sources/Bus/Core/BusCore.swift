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
/// `ObservationTable`, `ModuleTable`, `LevelTable`, `StartBarrier`). Used on one thread.
final class BusCore {
    unowned let host: any BusHost  // because the host owns the bus

    // What the app is.
    /// Another one after a reload.
    @exclusivity(unchecked)  // because it is read for each message, on one thread
    private(set) var table: AppTable
    private(set) var adapters: AdapterTable
    let levels: LevelTable
    /// The user that the broker runs as.
    let user: UInt32

    // The present event.
    @exclusivity(unchecked)  // because it is used for each message, on one thread
    var event = CurrentEvent()
    @exclusivity(unchecked)  // the same
    var turn = CurrentTurn()
    @exclusivity(unchecked)  // the same
    var alarms = Alarms()
    @exclusivity(unchecked)  // the same
    var work = IdleWork()
    @exclusivity(unchecked)  // the same
    var statistics = Statistics()
    @exclusivity(unchecked)  // the same
    var durations = Histogram()

    // Who is there, and what is open.
    @exclusivity(unchecked)  // the same
    var connections: ConnectionTable
    let reclaimer = Reclaimer()
    let pool: OutboxPool
    @exclusivity(unchecked)  // the same
    var calls: CallTable
    @exclusivity(unchecked)  // the same
    var routes = RouteTable()
    @exclusivity(unchecked)  // the same
    var observations = ObservationTable()
    var instances: InstanceTable
    var watches = WatchList()
    @exclusivity(unchecked)  // the same
    var monitors = MonitorTable()

    // The modules' lives, and the app's.
    var modules: ModuleTable
    var start: AppStart
    var launcherSlot = LauncherSlot()
    var replacement = Replacement()
    var ending = AppEnding()

    /// How a call of the bus's own ended.
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
        connections = ConnectionTable()
        calls = CallTable(now: time / 1_000_000)
        instances = InstanceTable()
        modules = ModuleTable(table)
        start = AppStart(StartBarrier(groups: Self.eagerGroups(modules.rows)))
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
        connections = ConnectionTable(next: state.next.peer)
        // Deadlines that passed meanwhile pass in their order.
        let earliest = state.calls.lazy.filter(\.hasTimer).map(\.deadline.expiry).min() ?? .max
        calls = CallTable(generations: state.generations, now: min(time / 1_000_000, max(earliest, 1) - 1))
        instances = InstanceTable(next: state.next.instance)
        modules = ModuleTable(resuming: records, next: state.next.module)
        start = state.start
        statistics = state.statistics
        durations = Histogram(
            Array(zip(state.durations.slots, state.durations.counts)), largest: state.durations.largest)
    }

    /// Another table is in force.
    func take(policyOf new: AppTable) {
        table = new
        adapters = AdapterTable(new.adapters)
    }

    // MARK: What the broker tells and asks

    /// Something has happened, and has this time from now on.
    /// - Parameters:
    ///   - time: the clock's, in nanoseconds.
    ///   - isShared: whether a light peer is there.
    func eventBegins(at time: UInt64, isShared: Bool) { event.begin(at: time, isShared: isShared) }

    /// All effects of the event are done.
    func settled() { event.settled() }

    /// What waited at the round's end was offered to the kernel.
    func cleaned() { connections.cleaned() }

    /// Frees up to `count` closed peers.
    func freeClosed(_ count: Int) { connections.drop(count) }

    /// How many descriptors the process may have.
    func mayOpen(_ descriptors: Int) { connections.mayOpen(descriptors) }

    /// Whether there is a next program.
    func mayBeReplaced(_ isPossible: Bool) { replacement.may(isPossible) }

    /// When the next deadline or alarm is due: `timePassed` is to be called then.
    var wakeAt: UInt64 { alarms.wakeAt }

    // MARK: Short ways to what is asked often

    var time: UInt64 { event.time }
    var now: UInt64 { event.now }
    var isShared: Bool { event.isShared }
    var stage: AppEnding.Stage { ending.stage }
    var launcher: Peer? { launcherSlot.peer }
    var frameLimits: FrameLimits { FrameLimits(frame: table.limits.frame, header: table.limits.header) }

    // MARK: Work that takes long

    /// Whether some work goes on in pieces.
    var hasIdleWork: Bool {
        !work.isEmpty || watches.hasUnsent || monitors.turns.isUnderWay
    }

    /// Does a piece of all that takes long, so that nobody waits for all of it.
    func advanceIdleWork() {
        // The next one begins after what the last one kept alive is dropped.
        if work.fanOut != nil { advanceFanOut() } else { resumeAfterFanOut() }
        advanceDeferredCloses()
        advanceListings()
        advanceNotes()
        if watches.hasUnsent { feedWatches() }
    }

    /// Does all that is left of it: what comes next must find none.
    func finishIdleWork() {
        finishFanOut()
        finishDeferredCloses()
        finishListings()
        finishNotes()
    }

    /// A round of the loop has ended: frees what was taken out of tables in it.
    func dropSpent() {
        routes.dropSpent()
        if work.fanOut == nil { observations.dropSpent() }
    }
}

/// What the bus asks in the middle of an event, since what it does depends on the answer.
protocol BusHost: AnyObject {
    /// Writes what waits for a peer, as far as its connection takes it: where its outbox is
    /// then is the answer.
    func write(to peer: Peer)
    /// The process that connected; nil where it has ended.
    func process(of peer: Peer) -> ProcessIdentity?
    /// The process that has a number now; nil where there is none.
    func process(_ pid: Int32) -> ProcessIdentity?
    /// How the process that connected is related to another one; nil where it has ended, or can't be looked at.
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
