import Glibc
public import StrataCore
public import StrataLoop
public import StrataManifest
import StrataOperator

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

    /// Called once, when nothing of the app is left.
    public var onEnd: (Ending) -> Void = { _ in }

    let loop: Loop
    let console: Console
    var settings: Settings
    var surroundings: Surroundings
    let link: BusLink
    /// What the process is asked for, where it is the launcher's alone.
    private var process: OwnProcess?
    private(set) var keeper: BrokerKeeper?
    var supervisors: [Supervisor] = []
    var app = AppMachine()
    var order: StartOrder
    var progress: StartProgress
    var waiters = Waiters()
    var logs = LogStreams()
    /// While the app runs.
    var events: AppEvents?
    /// Fires at the deadline of the start; once the app ends, at the deadline of its end.
    private var timer: LoopTimer?
    private var tick: LoopTimer?
    private var aliveTimer: LoopTimer?

    /// Starts nothing yet.
    public init(_ loop: Loop, _ settings: Settings, console: Console) throws(SystemError) {
        self.loop = loop
        self.console = console
        self.settings = settings
        let table = settings.manifest.table
        surroundings = Surroundings(
            socket: settings.socket, env: table.env, group: table.group,
            lifeline: try Pipe(readingBlocks: true),
            inherited: ProcessEnvironment.inherited(settings.environment), spans: settings.spans)
        order = StartOrder(table)
        progress = StartProgress(at: loop.now)
        link = BusLink(BusClient(loop, path: settings.socket, as: .launcher))
        console.align(to: table.modules.map(\.name))
        timer = LoopTimer(loop) { [unowned self] in self.deadlinePassed() }
        tick = LoopTimer(loop) { [unowned self] in self.secondPassed() }
        for (row, process) in zip(table.modules, settings.manifest.processes) {
            supervisors.append(Supervisor(row, process, startup: table.startup, owner: self))
        }
    }

    /// Starts the broker, and then the modules. Throws where this process can't
    /// be a launcher's.
    public func start() throws(SystemError) {
        if settings.ownsProcess { process = try OwnProcess(loop) { [unowned self] in self.ordered($0) } }
        app.started()
        link.onUp = { [unowned self] in self.busCame(after: $0) }
        link.onDown = { [unowned self] in self.busWent($0) }
        link.onRefused = { [unowned self] in self.busRefused($0) }
        link.client.onCall = { [unowned self] in self.answer($0) }
        link.client.onCancel = { [unowned self] id in
            self.waiters.drop(id)
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
        if app.isRunning { link.connect() }
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
        let late = order.holders.sorted()
        let names = order.deadlinePassed(at: loop.now)
        if !late.isEmpty {
            let time = seconds(settings.manifest.table.startup)
            console.say("\(list(late)) did not do setUp within \(time): the others start without waiting for it")
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

/// `A`, `A and B`, `A, B and C`.
func list(_ names: [String]) -> String {
    guard names.count > 1 else { return names.first ?? "nobody" }
    return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
}
