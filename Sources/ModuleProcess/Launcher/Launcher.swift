import Glibc
public import StrataCore
public import StrataLoop
public import StrataManifest
import StrataOperator

/// Starts an app's processes, watches and restarts them, and ends them.
///
/// It runs on the loop that it is given, entirely on that loop's thread. A `Supervisor` handles one
/// module; the launcher handles the order among modules, the connection to the broker, and the end.
public final class Launcher {
    /// The settings of a launcher.
    public struct Settings {
        /// The broker that an app uses.
        public enum Broker: Sendable {
            /// The launcher keeps a broker of its own: the path of `strata-broker`.
            case program(String)
            /// A broker is already running.
            case running
        }

        /// The manifest of the app.
        public var manifest: Manifest
        /// The path of the bus's socket. It is absolute, because modules have other working
        /// directories than the launcher.
        public var socket: String
        /// Whether the launcher keeps a broker or uses a running one.
        public var broker: Broker
        /// The path of `strata-link`, which connects an app's nodes; nil if this launcher starts none.
        public var link: String?
        /// The program that shows the app in a browser; nil for none.
        public var web: WebSettings?
        /// The launcher's own environment.
        public var environment: [String: String]
        /// Whether this process belongs to the launcher alone. If so, it adopts the orphans of its
        /// descendants, can no longer gain privileges, takes signals as orders, and kills every
        /// child that is left at the end.
        public var ownsProcess = true
        /// A socket that already listens at `socket`. A service manager owns it, so its file stays.
        /// Each broker that the launcher starts inherits it.
        public var passedSocket: Int32?
        /// The service manager that is notified of the app's state.
        public var manager = ServiceManager(environment: [:])
        /// Reads the manifest again.
        public var reload: (() -> Result<Manifest, LaunchError>)?
        /// The absolute path of the file for modules' spans; nil for none.
        public var spans: String?
        /// Called when the bus takes connections, once.
        var onBus: () -> Void = {}
        /// Whether a person at a terminal reads the launcher's messages. If so, it suggests
        /// commands once the app has started.
        public var isForPerson = false
        /// How to put `strata` on PATH and choose the socket; shown to a person.
        public var hints: [String] = []

        /// Creates settings with defaults for all other properties.
        public init(manifest: Manifest, socket: String, broker: Broker, environment: [String: String]) {
            self.manifest = manifest
            self.socket = socket
            self.broker = broker
            self.environment = environment
        }
    }

    /// The result of an app's run.
    public struct Ending: Sendable, Equatable {
        /// The exit code; 0 if the end was requested.
        public var code: Int32
        /// The message for people if the code isn't 0.
        public var message: String
    }

    /// Called once, when no process of the app is left.
    public var onEnd: (Ending) -> Void = { _ in }

    let loop: Loop
    let console: Console
    /// What runs. Its manifest has a row for each replica.
    var settings: Settings
    /// The manifest as it was last read.
    var written: Manifest
    /// How many replicas of each row `launcher/scale` has asked for.
    var replicaCounts: [String: Int] = [:]
    /// The orders for several replicas that are under way.
    var replicaOrders = ReplicaOrders()
    var surroundings: Surroundings
    let link: BusLink
    /// The process-wide setup; nil unless the process belongs to the launcher alone.
    private var process: OwnProcess?
    private(set) var keeper: BrokerKeeper?
    /// Nil unless the app has several nodes.
    private(set) var linkKeeper: LinkKeeper?
    /// Nil unless the app is shown in a browser.
    private(set) var webKeeper: WebKeeper?
    var supervisors: [Supervisor] = []
    var app = AppMachine()
    var order: StartOrder
    var progress: StartProgress
    var waiters = Waiters()
    var logs = LogStreams()
    /// Whether the broker has not yet said if the last manifest is in force.
    var awaitsVerdict = false
    /// A `launcher/reload` that has come meanwhile.
    var nextReload: BusClient.Incoming?
    /// The app's events; nil unless the app runs.
    var events: AppEvents?
    /// Fires at the deadline of the start; once the app ends, at the deadline of its end.
    private var timer: LoopTimer?
    private var tick: LoopTimer?
    private var aliveTimer: LoopTimer?

    /// Creates the launcher, without starting anything.
    public init(_ loop: Loop, _ settings: Settings, console: Console) throws(SystemError) {
        self.loop = loop
        self.console = console
        written = settings.manifest
        var settings = settings
        settings.manifest = written.inForce()
        self.settings = settings
        let table = settings.manifest.table
        surroundings = Surroundings(
            socket: settings.socket, env: table.env, group: table.group,
            lifeline: try Pipe(readingBlocks: true),
            inherited: ProcessEnvironment.inherited(settings.environment, by: settings.manifest), spans: settings.spans)
        order = StartOrder(table)
        progress = StartProgress(at: loop.now)
        link = BusLink(BusClient(loop, path: settings.socket, as: .launcher))
        console.align(to: settings.manifest.here.map(\.row.name))
        timer = LoopTimer(loop) { [unowned self] in self.deadlinePassed() }
        tick = LoopTimer(loop) { [unowned self] in self.secondPassed() }
        for (row, process) in settings.manifest.here {
            let supervisor = Supervisor(row, process, startup: table.startup, owner: self)
            if row.required { supervisor.mustStart() }
            supervisors.append(supervisor)
        }
    }

    /// Starts the broker, and then the modules. Throws if this process can't be a launcher's.
    public func start() throws(SystemError) {
        if settings.ownsProcess { process = try OwnProcess(loop) { [unowned self] in self.ordered($0) } }
        app.started()
        link.onUp = { [unowned self] in self.busCame(after: $0) }
        link.onDown = { [unowned self] in self.busWent($0) }
        link.onRefused = { [unowned self] in self.busRefused($0) }
        link.client.onCall = { [unowned self] in self.answer($0) }
        link.client.onCancel = { [unowned self] id in
            self.waiters.drop(.call(id))
            self.dropOrder(of: id)
            self.logs.drop(id)
        }
        link.client.onCredit = { [unowned self] in self.readerGot($1, for: $0) }
        tick?.start(after: 1_000, every: 1_000)
        events = AppEvents(
            loop, link, console, PressureSource(settings.environment), mayHalt: process?.hasTerminal ?? false)
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
        if let path = settings.link, let linkSettings = LinkSettings(settings.manifest) {
            linkKeeper = LinkKeeper(loop, console, link, executable: path, linkSettings, surroundings)
        }
        if let web = settings.web {
            webKeeper = WebKeeper(loop, console, web, surroundings)
            webKeeper?.start()
        }
        if app.isRunning { link.connect() }
        keepTellingManager()
    }

    /// Notifies a service manager that watches the app that it is alive, as long as the broker
    /// answers.
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

    /// Starts the modules whose turn it is in the start order.
    func proceed(_ names: [String]) {
        guard app.isRunning else { return }
        for name in names { supervisor(name)?.start(reason: "the app starts", byHand: false) }
        armTimer()
    }

    func armTimer() {
        guard let deadline = app.isRunning ? order.deadline : app.deadline else {
            timer?.stop()
            return
        }
        timer?.start(after: deadline > loop.now ? deadline - loop.now : 0)
    }

    private func deadlinePassed() {
        guard app.isRunning else { return change { $0.deadlinePassed(at: loop.now) } }
        let late = order.holders.filter { supervisor($0)?.row.required != true }.sorted()
        let names = order.deadlinePassed(at: loop.now) { supervisor($0)?.row.required == true }
        if !late.isEmpty {
            let time = seconds(settings.manifest.table.startup)
            console.say(
                "\(list(late)) did not finish setUp within \(time): the other modules start without waiting for it")
        }
        proceed(names)
    }

    private func ordered(_ order: OwnProcess.Order) {
        switch order {
        case .end(let signal): ordered(signal)
        case .reload: reloadBySignal()
        case .suspend: events?.suspend()
        case .goOn: events?.goOn()
        case .reap: reapAdopted()
        }
    }

    private func secondPassed() {
        for supervisor in supervisors { supervisor.checkMemory() }
        process?.groups?.sweep()
        sayProgress()
        sendLines()
        watchBus()
    }

    func closeAll() {
        for timer in [timer, tick, aliveTimer] { timer?.close() }
        (timer, tick, aliveTimer) = (nil, nil, nil)
        link.close()
        keeper?.close()
        linkKeeper?.close()
        webKeeper?.close()
        for supervisor in supervisors { supervisor.close() }
        process?.close()
        process = nil
        surroundings.lifeline.closeWriting()
        surroundings.lifeline.closeReading()
    }
}

extension Launcher: SupervisorOwner {
    var groups: ControlGroups? { process?.groups }
}

/// Joins names as in `A`, `A and B`, `A, B and C`.
func list(_ names: [String]) -> String {
    guard names.count > 1 else { return names.first ?? "nobody" }
    return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
}
