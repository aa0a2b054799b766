internal import Glibc
internal import StrataCore

/// A module's process but for the process itself: the module, what it exports,
/// its connection to the bus, and its life from the first hello to its end.
///
/// Several can live in one process, on the one loop: tests do that.
@ModuleActor
final class ModuleRuntime {
    enum Phase {
        /// Connecting, or connected.
        case living
        /// Tearing down; whoever calls is still answered.
        case ending
        case ended
    }

    /// Milliseconds for `tearDown` where nobody else bounds it.
    private static let tearDownBound: UInt64 = 5_000

    let name: String
    let level: String?
    let configuration: Configuration
    let lifeCycle = LifeCycle()
    private(set) var module: (any Module)?
    /// All that is offered: what the module has registered at its start, and
    /// then each registration, in order.
    private(set) var exports = Exports() {
        didSet { actions = ActionTable(exports) }
    }
    @exclusivity(unchecked)  // because each call looks at it, on one thread
    private(set) var actions = ActionTable(Exports())
    private var firstExports = Exports()
    /// Those that were made at run time.
    private(set) var registrations: [Registered] = []
    private let makeModule: @ModuleActor (Bus) throws -> any Module
    private let onExit: (Int32, String?) -> Void

    /// The connection that is open and has said hello.
    @exclusivity(unchecked)  // because each request passes it, on one thread
    var session: Session?
    /// The connection that waits for hello's answer.
    var connecting: Session?
    /// What hello was answered with last.
    var welcome = JSON.null
    var reconnection = Reconnection()
    var reconnectTimer: LoopTimer?
    let gate = ConnectionGate()
    /// All observations, in the order of hello's list.
    var observations: [Observing] = []
    var bySubscription: [Int64: Observing] = [:]
    let notices = NoticeQueue()
    /// Nil where nobody measures or traces.
    @exclusivity(unchecked)  // because each request looks at it, on one thread
    private(set) var telemetry: Telemetry?
    @exclusivity(unchecked)  // the same
    var releases = InstanceReleases()
    let backgrounds = Backgrounds()
    /// What follows when the handlers that run have ended, at tearDown.
    var finishing: (() -> Void)?
    var finishingTimer: LoopTimer?
    private(set) var phase = Phase.living
    private var watchers: [Handle] = []
    /// Why the module ends by itself; nil where it was asked to.
    private var failure: String?

    /// - Parameter onExit: called once, at the end: the process's exit code,
    ///   and a line for standard error where something went wrong.
    init<M: Module>(
        _ type: M.Type, _ configuration: Configuration, onExit: @escaping (Int32, String?) -> Void
    ) {
        name = configuration.module ?? type.name
        level = type.level
        self.configuration = configuration
        self.onExit = onExit
        makeModule = { try type.init(bus: $0) }
        backgrounds.onFatalFailure = { [weak self] in self?.fail($0) }
    }

    /// The module's hello, as JSON.
    static func describe<M: Module>(_ type: M.Type) throws -> String {
        let runtime = ModuleRuntime(type, Configuration(socket: "")) { _, _ in }
        try runtime.make()
        return runtime.hello(resumed: false).description
    }

    /// Makes the module and connects.
    func start() {
        do { try make() } catch {
            end(1, "can't start: \(error)")
            return
        }
        telemetry = Telemetry.asked(by: configuration, module: name)
        if let metrics = telemetry?.metrics { notices.onWaiting = { metrics.waitingNotices.change(by: Int64($0)) } }
        if let lifeline = configuration.lifeline { watchLifeline(lifeline) }
        connect()
    }

    private func make() throws {
        let module = try makeModule(Bus(self))
        try module.register(&firstExports)
        exports = firstExports
        observations = exports.observations
        self.module = module
    }

    func hello(resumed: Bool) -> JSON {
        Hello.json(
            module: name, level: level, token: configuration.token, exports: exports, observations: observations,
            resumed: resumed)
    }

    /// Puts registrations in force, for calls and for each later hello.
    func setRegistrations(_ list: [Registered]) {
        registrations = list
        exports = exports(with: list)
    }

    /// All that is offered with these registrations.
    func exports(with list: [Registered]) -> Exports {
        list.reduce(firstExports) { $0.merged(with: $1.exports) }
    }

    // MARK: The end

    /// SIGTERM and SIGINT end the module in order.
    func watchSignals() {
        for signal in [SIGTERM, SIGINT] {
            let watcher = try? SignalWatcher(ModuleExecutor.shared.loop, signal: signal) { [weak self] in
                self?.signalled()
            }
            if let watcher { watchers.append(watcher) }
        }
    }

    private func signalled() {
        if phase == .ending {
            end(1, failure ?? "ended by a second signal, before tearDown was done")
        } else {
            shutDown()
        }
    }

    private func watchLifeline(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let reader = try? OutputReader(
            ModuleExecutor.shared.loop, descriptor: descriptor, onBytes: { _ in },
            onEnd: { [weak self] in self?.shutDown(within: Self.tearDownBound) })
        if let reader { watchers.append(reader) }
    }

    /// Ends the module because something of it failed that it can't be without.
    private func fail(_ reason: String) {
        guard phase == .living else { return }
        failure = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        shutDown(within: Self.tearDownBound)
    }

    /// Tears the module down where that wasn't done yet, and ends: with code 0, or with 1
    /// where it failed.
    /// - Parameter bound: milliseconds after which it ends anyway.
    func shutDown(within bound: UInt64? = nil) {
        if let bound, phase != .ended {
            let timer = LoopTimer(ModuleExecutor.shared.loop) { [weak self] in self?.end() }
            timer.start(after: bound)
            watchers.append(timer)
        }
        guard phase == .living else { return }
        phase = .ending
        stopReconnecting()
        guard lifeCycle.hasBegun else {
            end()
            return
        }
        tearDown(scope: nil) { [weak self] _ in self?.end() }
        stopFinishing()
    }

    private func end() { end(failure == nil ? 0 : 1, failure) }

    /// Closes what is open and tells the process to exit.
    func end(_ code: Int32, _ line: String?) {
        guard phase != .ended else { return }
        phase = .ended
        stopReconnecting()
        finishing = nil
        finishingTimer?.close()
        finishingTimer = nil
        for watcher in watchers { watcher.close() }
        watchers = []
        gate.close(.notConnected("a request"))
        backgrounds.cancelAll()
        connecting?.close()
        connecting = nil
        session?.close()
        session = nil
        module = nil
        firstExports = Exports()
        setRegistrations([])
        observations = []
        bySubscription = [:]
        telemetry?.tracing?.flush()
        onExit(code, line)
    }
}
