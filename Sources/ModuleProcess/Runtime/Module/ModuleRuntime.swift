internal import StrataCore

/// A module at run time: its exports, its connection to the bus, and its life from the first hello
/// to the end. The process itself is not part of it.
///
/// Tests run several in one process, on one loop.
@ModuleActor
package final class ModuleRuntime {
    enum Phase {
        /// Connecting, or connected.
        case living
        /// Tearing down; calls are still answered. The failure says why the module ends by itself,
        /// and is nil if the end was requested.
        case ending(failure: String?)
        case ended
    }

    /// The milliseconds for `tearDown` if nothing else limits it.
    private static let tearDownBound: UInt64 = 5_000

    let name: String
    let level: String?
    let configuration: Configuration
    let surroundings: any Surroundings
    let lifeCycle = LifeCycle()
    private(set) var module: (any Module)?
    @exclusivity(unchecked)  // because each call reads it, on one thread
    private(set) var offers = Offers()
    /// Nil if the module declares no settings.
    private(set) var settings: HeldSettings?
    let moduleType: any Module.Type
    private let onExit: (Int32, String?) -> Void

    let connection: BusConnection
    var observations = Observations()
    let notices = NoticeQueue()
    /// Nil if nothing is measured or traced.
    @exclusivity(unchecked)  // because each request reads it, on one thread
    private(set) var telemetry: Telemetry?
    @exclusivity(unchecked)  // because each request reads it, on one thread
    var releases = InstanceReleases()
    /// The instances that this module has created, by their names.
    var leases: [String: WeakLease] = [:]
    let backgrounds: Backgrounds
    let handlerWait: HandlerWait
    private(set) var phase = Phase.living
    /// Ends the process if tearing down takes too long.
    private var bound: (any Alarm)?

    /// Creates the runtime of a module.
    /// - Parameter onExit: Called once, at the end, with the process's exit code, and with a line
    ///   for standard error if something went wrong.
    package init<M: Module>(
        _ type: M.Type, _ configuration: Configuration, in surroundings: any Surroundings = LoopSurroundings.shared,
        onExit: @escaping (Int32, String?) -> Void
    ) {
        self.surroundings = surroundings
        backgrounds = Backgrounds(surroundings)
        handlerWait = HandlerWait(surroundings)
        name = configuration.module ?? type.name
        level = type.level
        self.configuration = configuration
        self.onExit = onExit
        moduleType = type
        connection = BusConnection(socket: configuration.socket, surroundings)
        connection.greet = { [unowned self] in self.greet($0) }
        connection.onLost = { [unowned self] in self.connectionLost() }
        connection.onEnd = { [unowned self] in self.connectionEnded($0) }
        // Until the end, and not `weak`: an object that was ever referenced weakly is retained and
        // released more slowly for good, and each call does so.
        backgrounds.onFatalFailure = { self.fail($0) }
    }

    /// Creates the module and connects.
    package func start() {
        do { try make() } catch {
            end(1, "can't start: \(error)")
            return
        }
        telemetry = Telemetry.asked(by: configuration, module: name)
        if let metrics = telemetry?.metrics { notices.onWaiting = { metrics.waitingNotices.change(by: Int64($0)) } }
        connection.connect()
    }

    /// Creates the module, and takes its exports.
    func make() throws {
        let module = try moduleType.init(bus: Bus(self))
        var exports = Exports()
        try module.register(&exports)
        offers = Offers(exports)
        observations = Observations(exports.observations)
        settings = try exports.declaredSettings.map { declared in try HeldSettings(declared, of: name, moduleType) }
        self.module = module
    }

    func hello(resumed: Bool, takesFiles: Bool) -> JSON {
        HelloBody.json(
            module: name, level: level, token: configuration.token, exports: offers.exports,
            observations: observations.all, settings: settings?.declared, resumed: resumed, takesFiles: takesFiles)
    }

    /// The names of the running calls, as in logs.
    package var unfinished: [String] { connection.session?.unfinished ?? [] }

    // MARK: The end

    /// Handles a signal to end: the first ends the module in order, the second at once.
    package func signalled() {
        if case .ending(let failure) = phase {
            end(1, failure ?? "ended by a second signal, before tearDown was done")
        } else {
            shutDown()
        }
    }

    /// Ends the module in order when the process that started it has ended.
    func lifelineEnded() { shutDown(within: Self.tearDownBound) }

    /// Ends the module because it can't continue after a failure.
    private func fail(_ reason: String) {
        let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        if case .living = phase { shutDown(within: Self.tearDownBound, because: line) }
    }

    /// Tears the module down if that hasn't been done, and ends: with code 0, or with 1 after a
    /// failure.
    /// - Parameters:
    ///   - bound: The milliseconds after which it ends in any case.
    ///   - failure: Why the module ends by itself; nil if the end was requested.
    func shutDown(within bound: UInt64? = nil, because failure: String? = nil) {
        if case .ended = phase { return }
        if let bound, self.bound == nil { self.bound = surroundings.after(bound) { [weak self] in self?.end() } }
        guard case .living = phase else { return }
        phase = .ending(failure: failure)
        connection.stopReconnecting()
        guard lifeCycle.hasBegun else {
            end()
            return
        }
        tearDown(scope: nil) { [weak self] _ in self?.end() }
        handlerWait.stop()
    }

    private func end() {
        if case .ending(let failure) = phase { end(failure == nil ? 0 : 1, failure) }
    }

    /// Closes everything that is open, and ends with an exit code.
    package func end(_ code: Int32, _ line: String?) {
        if case .ended = phase { return }
        phase = .ended
        handlerWait.cancel()
        bound?.close()
        connection.close()
        backgrounds.cancelAll()
        backgrounds.onFatalFailure = { _ in }
        module = nil
        offers = Offers()
        observations = Observations()
        telemetry?.tracing?.flush()
        onExit(code, line)
    }
}
