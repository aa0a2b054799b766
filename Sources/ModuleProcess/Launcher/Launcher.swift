import Glibc
public import StrataCore
public import StrataManifest

/// Starts an app's processes, watches them, starts them again, and ends them.
///
/// An object on a loop that it is given; all of it runs on the loop's thread.
/// What happens to one module is its `Supervisor`'s; the launcher owns the order
/// among them, the connection to the broker, and the end.
public final class Launcher {
    /// What a launcher is told.
    public struct Settings {
        /// Which broker an app has.
        public enum Broker: Sendable {
            /// The launcher keeps one of its own: the path of `strata-broker`.
            case program(String)
            /// One runs already.
            case running
        }

        /// What is run.
        public var manifest: Manifest
        /// Absolute: modules have other folders than the launcher.
        public var socket: String
        /// Whether there is one already.
        public var broker: Broker
        /// The launcher's own environment.
        public var environment: [String: String]
        /// This process is the launcher's alone: it adopts what its descendants
        /// leave behind, gives up gaining privileges, takes signals as orders,
        /// and kills every child that is left at the end.
        public var ownsProcess = true
        /// A socket that listens at `socket` already: a service manager's, whose file
        /// stays. Handed to each broker that the launcher starts.
        public var passedSocket: Int32?
        /// Who is told how the app is.
        public var manager = ServiceManager(environment: [:])
        /// Reads the manifest again.
        public var reload: (() -> Result<Manifest, LaunchError>)?
        /// Where modules write their spans, absolute; nil for nowhere.
        public var spans: String?
        /// Whether a person at a terminal sees what the launcher says: then it says what to
        /// try once the app has started.
        public var isForPerson = false
        /// How to put `strata` on PATH, and say which socket; shown to a person.
        public var hints: [String] = []

        /// The others have defaults.
        public init(manifest: Manifest, socket: String, broker: Broker, environment: [String: String]) {
            self.manifest = manifest
            self.socket = socket
            self.broker = broker
            self.environment = environment
        }
    }

    /// How an app ended.
    public struct Ending: Sendable, Equatable {
        /// 0 where somebody asked for it.
        public var code: Int32
        /// What to tell where it isn't 0.
        public var message: String
    }

    /// How far an app is.
    enum Phase {
        case notStarted
        case running
        /// Modules are told that the app ends; what it ends with.
        case announcing(Ending)
        /// Modules end, group by group; what the app ends with.
        case endingModules(StopOrder, Ending)
        /// The broker reads what was said last.
        case leavingBus(Ending)
        case endingBroker(Ending)
        /// What is left of descendants is killed.
        case sweeping(Ending)
        case over
    }

    /// Called once, when nothing of the app is left.
    public var onEnd: (Ending) -> Void = { _ in }

    let loop: Loop
    let console: Console
    var settings: Settings
    var surroundings: Surroundings
    let lifeline: Pipe
    let link: BusLink
    /// Where the kernel holds modules to their memory.
    private(set) var groups: ControlGroups?
    var keeper: BrokerKeeper?
    var supervisors: [Supervisor] = []
    var order: StartOrder
    var phase = Phase.notStarted
    var progress = Progress()
    var waiters = Waiters()
    /// What modules wrote, and who reads it.
    var logs = OutputLogs()
    var logReaders: [LogReader] = []
    var startedAt: UInt64 = 0
    var isFirstBus = true
    var saidReady = false
    /// Since when there is no bus.
    var busLostAt: UInt64 = 0
    /// When the end began, and whose turn it is.
    var endStartedAt: UInt64 = 0
    var sweepStartedAt: UInt64 = 0
    var group: Set<String> = []
    var isStoppingGroup = false
    var suspension = Suspension()
    var pressure = MemoryPressure()
    var pressureWatcher: PressureWatcher?
    /// Whether there was a controlling terminal at the start: one that is hung
    /// up is gone before the signal that says so.
    private(set) var hasTerminal = false
    private var signals: [SignalWatcher] = []
    private var orderTimer: LoopTimer?
    private var tick: LoopTimer?
    private var aliveTimer: LoopTimer?
    var endTimer: LoopTimer?

    /// Starts nothing yet.
    public init(_ loop: Loop, _ settings: Settings, console: Console) throws(SystemError) {
        self.loop = loop
        self.console = console
        self.settings = settings
        lifeline = try Pipe(readingBlocks: true)
        let table = settings.manifest.table
        surroundings = Surroundings(
            socket: settings.socket, env: table.env, group: table.group, lifeline: lifeline,
            inherited: ProcessEnvironment.inherited(settings.environment), spans: settings.spans)
        order = StartOrder(table)
        link = BusLink(loop, path: settings.socket)
        console.align(to: table.modules.map(\.name))
        orderTimer = LoopTimer(loop) { [unowned self] in self.orderDeadlinePassed() }
        tick = LoopTimer(loop) { [unowned self] in self.secondPassed() }
        endTimer = LoopTimer(loop) { [unowned self] in self.endDeadlinePassed() }
        for (row, process) in zip(table.modules, settings.manifest.processes) {
            supervisors.append(Supervisor(row, process, startup: table.startup, owner: self))
        }
    }

    /// Starts the broker, and then the modules. Throws where this process can't
    /// be a launcher's.
    public func start() throws(SystemError) {
        guard case .notStarted = phase else { preconditionFailure("a launcher starts once") }
        if settings.ownsProcess { try takeProcess() }
        phase = .running
        startedAt = loop.now
        busLostAt = loop.now
        link.onUp = { [unowned self] in self.busCame() }
        link.onDown = { [unowned self] in self.busWent($0) }
        link.onRefused = { [unowned self] in self.busRefused($0) }
        link.onCall = { [unowned self] in self.answer($0) }
        link.onCancel = { [unowned self] id in
            self.waiters.drop(id)
            self.logReaders.removeAll { $0.id == id }
        }
        link.onCredit = { [unowned self] in self.readersGot($1, for: $0) }
        tick?.start(after: 1_000, every: 1_000)
        watchPressure()
        if case .program(let path) = settings.broker {
            let keeper = BrokerKeeper(
                loop, console, executable: path, table: settings.manifest.table, surroundings: surroundings,
                listening: settings.passedSocket)
            keeper.onEnd = { [unowned self] in self.brokerEnded($0) }
            keeper.onGaveUp = { [unowned self] in self.brokerGaveUp($0) }
            keeper.onStopped = { [unowned self] in self.brokerStopped() }
            self.keeper = keeper
            keeper.start()
        }
        if case .running = phase { link.connect() }
        keepTellingManager()
    }

    /// A manager that wants to know whether the app is alive is told so as long as
    /// the broker answers.
    private func keepTellingManager() {
        guard let interval = settings.manager.aliveInterval else { return }
        aliveTimer = LoopTimer(loop) { [unowned self] in
            link.call("ping", deadline: interval) { [weak self] answer in
                if case .success = answer { self?.settings.manager.tell(.alive) }
            }
        }
        aliveTimer?.start(after: interval, every: interval)
    }

    func supervisor(_ name: String) -> Supervisor? { supervisors.first { $0.name == name } }

    /// Starts the next groups of the order at the start.
    func proceed(_ names: [String]) {
        guard case .running = phase else { return }
        for name in names {
            supervisor(name)?.change { $0.start(at: loop.now, reason: "the app starts", impatiently: false) }
        }
        armOrder()
    }

    private func armOrder() {
        guard let deadline = order.deadline else {
            orderTimer?.stop()
            return
        }
        orderTimer?.start(after: deadline > loop.now ? deadline - loop.now : 0)
    }

    private func orderDeadlinePassed() {
        let late = order.holders.sorted()
        let names = order.deadlinePassed(at: loop.now)
        if !late.isEmpty {
            let time = seconds(settings.manifest.table.startup)
            console.say("\(list(late)) did not do setUp within \(time): the others start without waiting for it")
        }
        proceed(names)
    }

    // MARK: The process

    private func takeProcess() throws(SystemError) {
        try ProcessControl.becomeSubreaper()
        try ProcessControl.renouncePrivileges()
        ProcessControl.keepDescriptorsToItself()
        groups = ControlGroups.delegated()
        func watch(_ number: Int32, _ body: @escaping () -> Void) throws(SystemError) {
            signals.append(try SignalWatcher(loop, signal: number, onSignal: body))
        }
        try watch(SIGINT) { [unowned self] in self.ordered("SIGINT") }
        try watch(SIGTERM) { [unowned self] in self.ordered("SIGTERM") }
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        hasTerminal = terminal >= 0
        if hasTerminal { close(terminal) }
        // Under nohup the end of the terminal is not to matter.
        if !Self.isIgnored(SIGHUP) {
            try watch(SIGHUP) { [unowned self] in
                if self.hasTerminal { self.ordered("SIGHUP") } else { self.reloadBySignal() }
            }
        }
        if !Self.isIgnored(SIGTSTP) {
            try watch(SIGTSTP) { [unowned self] in self.suspendBySignal() }
            try watch(SIGCONT) { [unowned self] in self.continueBySignal() }
        }
        try watch(SIGCHLD) { [unowned self] in self.reapAdopted() }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
            == unsafeBitCast(SIG_IGN, to: UInt.self)
    }

    private func secondPassed() {
        for supervisor in supervisors { supervisor.checkMemory() }
        groups?.sweep()
        sayProgress()
        sendLines()
        watchBus()
    }

    func closeAll() {
        for watcher in signals { watcher.close() }
        signals = []
        for timer in [orderTimer, tick, aliveTimer, endTimer] { timer?.close() }
        (orderTimer, tick, aliveTimer, endTimer) = (nil, nil, nil, nil)
        pressureWatcher?.close()
        pressureWatcher = nil
        link.close()
        keeper?.close()
        for supervisor in supervisors { supervisor.close() }
        groups?.close()
        groups = nil
        lifeline.closeWriting()
        lifeline.closeReading()
    }
}

extension Launcher: SupervisorOwner {}

/// `A`, `A and B`, `A, B and C`.
func list(_ names: [String]) -> String {
    guard names.count > 1 else { return names.first ?? "nobody" }
    return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
}
