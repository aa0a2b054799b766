internal import Glibc
public import Strata
internal import StrataBus
public import StrataCore

/// An app in memory, on virtual time: a bus, your modules with their own code, and modules that
/// the test plays. A seed chooses the order of events.
///
///     try Simulation.run(table, seeds: 1...1_000) { app in
///         try app.start(CounterModule.self)
///         …
///     }
///
/// It is a `TestBus`, so `play`, `module` and `operator` work as on any other. An hour passes at
/// once when nothing is left to do. It runs on the test's thread, which is the thread of
/// `ModuleActor` for that time. A process runs one simulation at a time, and none while a module
/// runs on a loop in it.
///
/// Modelled on the simulations of FoundationDB and TigerBeetle.
public final class Simulation: TestBus {
    /// The number that chooses the order of events.
    public let seed: Int
    private let bus: SimulatedBus
    private var modules: [SimulatedModule] = []
    private var numbers: SeededGenerator

    private init(_ table: AppTable, seed: Int) throws {
        self.seed = seed
        bus = SimulatedBus(table, seed: seed)
        numbers = SeededGenerator(seed &+ 1 << 40)
        try super.init(table, bus)
    }

    /// Runs a test once for each seed, until it throws.
    ///
    /// A failure must be thrown. Peers' expectations throw, and so does `#require`. If the
    /// environment has `STRATA_SEED`, only that seed runs.
    /// - Parameters:
    ///   - table: the app's table.
    ///   - seeds: the seeds. Each gives another order of events.
    ///   - test: the test.
    /// - Throws: `TestFailure` with the test's error, its seed, and the messages on the bus.
    public static func run(
        _ table: AppTable, seeds: ClosedRange<Int> = 1...100, _ test: (Simulation) throws -> Void
    ) throws {
        for seed in try chosenSeed().map({ $0...$0 }) ?? seeds { try run(table, seed, test) }
    }

    private static func chosenSeed() throws -> Int? {
        guard let text = getenv("STRATA_SEED").map({ String(cString: $0) }) else { return nil }
        guard let seed = Int(text) else { throw TestFailure("STRATA_SEED is \"\(text)\", but a seed is a number") }
        return seed
    }

    private static let turn = Turn()

    private static func run(_ table: AppTable, _ seed: Int, _ test: (Simulation) throws -> Void) throws {
        try turn.take()
        defer { turn.end() }
        let simulation = try Simulation(table, seed: seed)
        simulation.begin()
        defer { simulation.endModules() }
        var story: String?
        do {
            try simulation.run { _ in
                do { try test(simulation) } catch {
                    // Taken now, because the bus's end would add to it.
                    story = simulation.story
                    throw error
                }
            }
            try simulation.checkEnds()
        } catch {
            throw TestFailure("with seed \(seed): \(text(of: error))\(story ?? simulation.story)")
        }
    }

    private static func text(of error: any Error) -> String {
        // Swift Testing has already recorded this error with its place, and its description shows
        // internals.
        String(describing: type(of: error)) == "ExpectationFailedError" ? "a #require failed" : "\(error)"
    }

    /// What a failure shows of the run.
    private var story: String {
        "\(unfinishedText)\nSTRATA_SEED=\(seed) runs it again. \(bus.story.text(last: 40))"
    }

    /// A line that names the handlers that have not returned. The test may have waited for one of
    /// them.
    private var unfinishedText: String {
        let names = modules.flatMap(\.unfinished)
        return names.isEmpty ? "" : "\nnot returned yet: \(names.joined(separator: ", "))"
    }

    // MARK: Modules

    private func begin() {
        let surroundings = SimulatedSurroundings(bus, "", pid: 0)
        ModuleActor.assumeIsolated { ProcessSurroundings.simulated = surroundings }
    }

    /// Starts your module, and vouches for it as the launcher does.
    /// - Parameters:
    ///   - type: the module's type.
    ///   - name: the name of its row; nil for the module's own name.
    ///   - arguments: the program's arguments.
    ///   - waits: false to return before the module is ready.
    ///   - time: how long the start may take, in virtual time.
    ///   - file: the file that a failure names.
    ///   - line: the line that a failure names.
    /// - Throws: `TestFailure` if it isn't ready in time, or as soon as it ends.
    @discardableResult
    public func start<M: Module>(
        _ type: M.Type, as name: String? = nil, arguments: [String] = [], waits: Bool = true,
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> SimulatedModule {
        let name = name ?? ModuleActor.assumeIsolated { M.name }
        let pid = Int32(1 << 20 + modules.count)
        let token = try announceStart(of: name)
        let bus = bus
        let module = ModuleActor.assumeIsolated {
            SimulatedModule(type, name, pid: pid, token: token, arguments, on: bus)
        }
        modules.append(module)
        try vouch(for: name, pid: pid, token: token)
        if waits {
            try wait(for: name, "ready", time, file, line) { module.ending.map { "\($0): \(module.lastWords ?? "")" } }
        }
        return module
    }

    /// - Throws: `TestFailure` if a module failed and the test doesn't expect that.
    private func checkEnds() throws {
        for module in modules {
            guard let end = module.ending, end != .exit(0), !module.isEndSeen else { continue }
            throw TestFailure("\(module.name) has ended with \(end): \(module.lastWords ?? "")")
        }
    }

    private func endModules() {
        for module in modules { module.kill() }
        // Cancelled tasks get one last turn. Tasks that continue after it never run again.
        ModuleExecutor.shared.drain()
        ModuleExecutor.shared.dropJobs()
        ModuleActor.assumeIsolated { ProcessSurroundings.simulated = nil }
    }

    // MARK: Time, and chance

    /// The virtual time since the start.
    public var elapsed: Duration { bus.elapsed }

    /// Lets virtual time pass, while modules and played peers continue.
    public func pass(_ time: Duration) throws {
        let deadline = group.deadline(time)
        while !group.hasPassed(deadline) {
            try group.pump(until: deadline)
            try group.throwScriptFailure()
        }
    }

    /// Returns a number that follows from the seed, for choices that the test makes.
    public func random(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }

    // MARK: The broker

    /// Kills the broker. Connections end, and nothing listens before `startBroker`.
    public override func killBroker() { bus.killBroker() }

    /// Starts another broker as the launcher does, and vouches for the modules that still run.
    public func startBroker() throws {
        bus.startBroker(table)
        for module in modules where module.ending == nil {
            try vouch(for: module.name, pid: module.pid, token: module.token)
        }
    }
}

/// A lock that lets one simulation at a time use the executor of `ModuleActor`.
///
/// `@unchecked Sendable` because all its state is a mutex.
private final class Turn: @unchecked Sendable {
    private var mutex = pthread_mutex_t()

    init() { pthread_mutex_init(&mutex, nil) }

    func take() throws {
        guard !ModuleExecutor.shared.isCurrent else {
            throw TestFailure("a simulation can't run inside another one: end that one first")
        }
        pthread_mutex_lock(&mutex)
        guard ModuleExecutor.shared.borrowThread() else {
            pthread_mutex_unlock(&mutex)
            throw TestFailure("a module runs on a loop in this process: run the simulation in a process without one")
        }
        RealTimeWatch.begin()
        GlobalJobs.begin()
    }

    func end() {
        GlobalJobs.end()
        ModuleExecutor.shared.giveThreadBack()
        pthread_mutex_unlock(&mutex)
    }
}
