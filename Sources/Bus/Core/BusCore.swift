import StrataCore

/// The bus: the connected peers, the open requests, and the app's rules for passing frames from one
/// peer to another.
///
/// It knows no loop, socket or clock. The `Broker`, which owns the connections, reports events to
/// it: a new connection, frames, the end of a connection, the time. The bus responds with bytes in
/// the peers' outboxes, with `effects` for the broker to carry out, and with the time at which it
/// wants to be called again. If it must know something in the middle of an event, it asks its
/// `host`.
///
/// Its state is in separate tables (`RouteTable`, `CallTable`, `ObservationTable`, `ModuleTable`,
/// `LevelTable`, `StartBarrier`). It is used on one thread.
final class BusCore {
    unowned let host: any BusHost  // because the host owns the bus

    // The app's definition.
    /// The app's table; a reload replaces it.
    @exclusivity(unchecked)  // because it is read for each message, on one thread
    private(set) var table: AppTable
    private(set) var adapters: AdapterTable
    private(set) var settings: SettingTable
    let levels: LevelTable
    /// The user that the broker runs as.
    let user: UInt32

    // The current event.
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
    /// Counts the descriptors of frames that are in the broker.
    let descriptors = DescriptorCount()
    @exclusivity(unchecked)  // the same
    var durations = Histogram()

    // The peers, and everything that is open.
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
    @exclusivity(unchecked)  // the same
    var mailboxes = MailboxTable()
    @exclusivity(unchecked)  // the same
    var retained = RetainedTable()
    var instances: InstanceTable
    @exclusivity(unchecked)  // because it is asked in each turn, on one thread
    var watches = WatchList()
    var links = LinkTable()
    @exclusivity(unchecked)  // because it is used for each broadcast, on one thread
    var nodes: NodeTable
    @exclusivity(unchecked)  // the same
    var monitors = MonitorTable()
    @exclusivity(unchecked)  // the same
    var traffic = TrafficTable()

    // The state of the modules and of the app.
    @exclusivity(unchecked)  // because it is asked in each round, on one thread
    var modules: ModuleTable
    var requirements = RequiredVersions()
    var start: AppStart
    var launcherSlot = LauncherSlot()
    var replacement = Replacement()
    var ending = AppEnding()

    /// The outcome of a call that the bus itself made: the answer's body, or an error.
    typealias OwnAnswer = Result<[UInt8], BusError>

    /// - Parameters:
    ///   - table: the app's table.
    ///   - user: the user that the broker runs as. Tools of this user are operators.
    ///   - time: the clock's time, in nanoseconds.
    init(_ host: any BusHost, table: AppTable, user: UInt32, time: UInt64) {
        self.host = host
        self.table = table
        self.user = user
        pool = OutboxPool(reclaimer)
        levels = LevelTable(table.levels)
        adapters = AdapterTable(table.adapters)
        settings = SettingTable(table)
        connections = ConnectionTable()
        calls = CallTable(now: time / 1_000_000)
        instances = InstanceTable()
        nodes = NodeTable(table, now: time / 1_000_000)
        observations.keepsChanges = !nodes.isEmpty
        observations.hasAliases = adapters.hasNotices
        modules = ModuleTable(table)
        start = AppStart(StartBarrier(groups: Self.eagerGroups(modules.rows)))
        declareInterfaces()
        declareURLs()
        for module in modules.rows { updateMailbox(module) }
        setJoinAlarm()
    }

    /// Makes a bus that continues from the state of another program's bus. `Resumption` restores
    /// the peers and everything that is open.
    init(
        _ host: any BusHost, resuming state: BrokerState, _ table: AppTable, _ records: [ModuleRecord], time: UInt64
    ) {
        self.host = host
        self.table = table
        user = state.user
        pool = OutboxPool(reclaimer)
        levels = LevelTable(table.levels)
        adapters = AdapterTable(table.adapters)
        settings = SettingTable(table)
        connections = ConnectionTable(next: state.next.peer)
        // The wheel starts before the earliest deadline, so that deadlines missed during the
        // hand-over still expire in order.
        let earliest = state.calls.lazy.filter(\.hasTimer).map(\.deadline.expiry).min() ?? .max
        calls = CallTable(generations: state.generations, now: min(time / 1_000_000, max(earliest, 1) - 1))
        instances = InstanceTable(next: state.next.instance)
        nodes = NodeTable(table, now: time / 1_000_000)
        nodes.take(state.linkVouch)
        for state in state.nodes {
            nodes.find(state.node)?.sent.resume(state)
            nodes.find(state.node)?.received.resume(state)
        }
        observations.keepsChanges = !nodes.isEmpty
        observations.hasAliases = adapters.hasNotices
        modules = ModuleTable(resuming: records, next: state.next.module)
        start = state.start
        statistics = state.statistics
        durations = Histogram(
            Array(zip(state.durations.slots, state.durations.counts)), largest: state.durations.largest)
    }

    /// Replaces the table and the adapters. The level table stays, since a reload can't change it.
    func take(policyOf new: AppTable) {
        table = new
        adapters = AdapterTable(new.adapters)
        observations.hasAliases = adapters.hasNotices
        settings = SettingTable(new)
    }

    // MARK: What the broker reports and asks

    /// Begins an event, and sets the time for it.
    /// - Parameters:
    ///   - time: the clock's time, in nanoseconds.
    ///   - isShared: whether a light peer is connected.
    func eventBegins(at time: UInt64, isShared: Bool) { event.begin(at: time, isShared: isShared) }

    /// Notes that all effects of the event were carried out.
    func settled() { event.settled() }

    /// Notes that all bytes that waited at the round's end were offered to the kernel.
    func cleaned() { connections.cleaned() }

    /// Frees up to `count` closed peers.
    func freeClosed(_ count: Int) { connections.drop(count) }

    /// Sets how many descriptors the process may have open.
    func mayOpen(_ descriptors: Int) { connections.mayOpen(descriptors) }

    /// Sets whether `bus/handOver` has a program to replace the broker with.
    func mayBeReplaced(_ isPossible: Bool) { replacement.may(isPossible) }

    /// The time at which the next deadline or alarm is due. The broker then calls `timePassed`.
    var wakeAt: UInt64 { alarms.wakeAt }

    // MARK: Shortcuts

    var time: UInt64 { event.time }
    var now: UInt64 { event.now }
    var isShared: Bool { event.isShared }
    var stage: AppEnding.Stage { ending.stage }
    var launcher: Peer? { launcherSlot.peer }
    var frameLimits: FrameLimits { FrameLimits(frame: table.limits.frame, header: table.limits.header) }

    // MARK: Long work

    /// Whether any long work is unfinished.
    var hasIdleWork: Bool {
        !work.isEmpty || watches.hasUnsent || monitors.turns.isUnderWay || monitors.tellingLeft != nil
            || traffic.turn.isUnderWay || hasNewsForNodes
    }

    /// Does one batch of each kind of long work. Peers have their turns between batches.
    func advanceIdleWork() {
        // A peer that waited for a fan-out is resumed one round after it ended. By then
        // `dropSpent` has freed what it kept alive, before the next fan-out can begin.
        if work.fanOut != nil { advanceFanOut() } else { resumeAfterFanOut() }
        advanceDeferredCloses()
        advanceEndedCallees()
        advanceEndedInstances()
        advanceCatchingUp()
        advanceRetained()
        advanceJoined()
        advanceStarts()
        advanceAbandoned()
        advanceListings()
        advanceSettings()
        advanceNotes()
        if monitors.tellingLeft != nil { advanceLeft() }
        advanceTraffic()
        if watches.hasUnsent { feedWatches() }
        if hasNewsForNodes { tellNodes() }
    }

    /// Does all remaining idle work at once, before a hand-over or the app's end. Only watches, what
    /// waits for modules that catch up, and retained notices for observers stay as they are.
    func finishIdleWork() {
        finishFanOut()
        finishDeferredCloses()
        while work.firstEndedCallee != nil { advanceEndedCallees() }
        finishEndedInstances()
        while work.hasStarts { advanceStarts() }
        while work.hasAbandoned { advanceAbandoned() }
        finishListings()
        finishSettings()
        finishNotes()
    }

    /// Frees what was removed from tables during the loop's round that has just ended. A fan-out
    /// still uses removed observations, so they stay until it has ended.
    func dropSpent() {
        routes.dropSpent()
        if work.fanOut == nil { observations.dropSpent() }
    }
}

/// What the bus asks of its broker in the middle of an event, when the answer decides what it does
/// next.
protocol BusHost: AnyObject {
    /// Writes as many of a peer's waiting bytes as its connection takes. The bus then reads the new
    /// position from the peer's outbox.
    func write(to peer: Peer)
    /// Lets a peer send descriptors from now on.
    func takeDescriptors(of peer: Peer)
    /// Returns the process that connected; nil if it has ended.
    func process(of peer: Peer) -> ProcessIdentity?
    /// Returns the process that now has this number; nil if there is none.
    func process(_ pid: Int32) -> ProcessIdentity?
    /// Returns how the process that connected is related to another process; nil if it has ended or
    /// can't be inspected.
    func descent(of peer: Peer, from process: ProcessIdentity) -> Ancestors.Descent?
    func isAlive(_ process: ProcessIdentity) -> Bool
    /// Connects to the broker of another app, without waiting. The peer has the next number, and is
    /// read from now on.
    /// - Throws: `unavailable`.
    func connect(to app: OtherApp) throws(BusError) -> Peer
    /// Microseconds since 1970.
    var wallMicroseconds: UInt64 { get }
    /// Nanoseconds on a monotonic clock, read now. An event's time may be some milliseconds older.
    var steadyNanoseconds: UInt64 { get }
    /// The process that the bus runs in.
    var processID: Int32 { get }
}

/// An order of the bus to its broker, which carries it out at the event's end.
enum Effect {
    /// Read the peer again, beginning with the frames that were already read.
    case readOn(Peer)
    /// The peer's session has ended: write its last bytes, then close the connection.
    case writeLast(Peer)
    /// Read and handle what the peer has already sent, then end or close its connection.
    case hearOut(Peer)
    case close(Peer)
    /// Check whether the peer has taken too long to send the frame that it has begun.
    case lookAtFrame(Peer)
    /// Try again to write to a peer whose frame the kernel didn't take.
    case writeOn(Peer)
    /// Try whether the next program can read this bus's state, then replace the broker with it.
    case replaceProgram
    /// Accept no further connections.
    case stopListening
    /// Finish: all connections have closed, and the bus has ended.
    case finish
}
