internal import Glibc
public import Strata
internal import StrataBus
public import StrataCore

/// An app in memory, on virtual time: a bus, modules of yours with their own code, and others that
/// the test plays. What happens in which order follows from a seed.
///
///     try Simulation.run(table, seeds: 1...1_000) { app in
///         try app.start(CounterModule.self)
///         …
///     }
///
/// All that a `TestBus` does it does too: `play`, `module`, `operator`. An hour passes at once where
/// nothing is left to do. On one thread, which is `ModuleActor`'s meanwhile: one simulation runs at
/// a time in a process, and none beside a module that runs on a loop there.
///
/// After the simulations of FoundationDB and TigerBeetle.
public final class Simulation: TestBus {
    /// What its order follows from.
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
    /// What fails must throw: peers' expectations do, and `#require`. With `STRATA_SEED` in the
    /// environment that seed alone is run.
    /// - Parameters:
    ///   - table: the app's.
    ///   - seeds: each is another order of what happens.
    ///   - test: what is run. It is given the simulation.
    /// - Throws: `TestFailure` with what the test threw, its seed, and what was said on the bus.
    public static func run(
        _ table: AppTable, seeds: ClosedRange<Int> = 1...100, _ test: (Simulation) throws -> Void
    ) throws {
        for seed in try chosenSeed().map({ $0...$0 }) ?? seeds { try run(table, seed, test) }
    }

    private static func chosenSeed() throws -> Int? {
        guard let text = getenv("STRATA_SEED").map({ String(cString: $0) }) else { return nil }
        guard let seed = Int(text) else { throw TestFailure("STRATA_SEED is \"\(text)\", and a seed is a number") }
        return seed
    }

    private static let turn = Turn()

    private static func run(_ table: AppTable, _ seed: Int, _ test: (Simulation) throws -> Void) throws {
        try turn.take()
        defer { turn.end() }
        let simulation = try Simulation(table, seed: seed)
        simulation.begin()
        defer { simulation.endModules() }
        do {
            try simulation.run { _ in try test(simulation) }
            try simulation.checkEnds()
        } catch {
            throw TestFailure(
                """
                with seed \(seed): \(error)\(simulation.unfinishedText)
                STRATA_SEED=\(seed) runs it again. \(simulation.bus.story.text(last: 40))
                """)
        }
    }

    /// A line on the handlers that have not returned, which may be what was waited for.
    private var unfinishedText: String {
        let names = modules.flatMap(\.unfinished)
        return names.isEmpty ? "" : "\nnot returned by then: \(names.joined(separator: ", "))"
    }

    // MARK: Modules

    private func begin() {
        let surroundings = SimulatedSurroundings(bus, "", pid: 0)
        ModuleActor.assumeIsolated { ProcessSurroundings.simulated = surroundings }
    }

    /// Starts a module of yours, with its own code, as the launcher would: vouched for.
    /// - Parameters:
    ///   - type: the module's.
    ///   - name: the row's; nil is the module's own.
    ///   - arguments: what its program would be started with.
    ///   - waits: false returns before the module is ready.
    ///   - time: how long it may take to be ready.
    ///   - file: where the test says so.
    ///   - line: where the test says so.
    /// - Throws: `TestFailure` where it doesn't get ready: at once where it has ended.
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

    /// What ended without the test's asking for it.
    private func checkEnds() throws {
        for module in modules {
            guard let end = module.ending, end != .exit(0), !module.isEndSeen else { continue }
            throw TestFailure("\(module.name) has ended with \(end): \(module.lastWords ?? "")")
        }
    }

    private func endModules() {
        for module in modules { module.kill() }
        // Those that were cancelled have a last turn; what then goes on has none.
        ModuleExecutor.shared.drain()
        ModuleExecutor.shared.dropJobs()
        ModuleActor.assumeIsolated { ProcessSurroundings.simulated = nil }
    }

    // MARK: Time, and chance

    /// How much virtual time has passed since its start.
    public var elapsed: Duration { bus.elapsed }

    /// Lets time pass; modules and played peers do meanwhile what they have to do.
    public func pass(_ time: Duration) throws {
        let deadline = group.deadline(time)
        while !group.hasPassed(deadline) {
            try group.pump(until: deadline)
            try group.throwScriptFailure()
        }
    }

    /// A number that follows from the seed, for what the test itself does.
    public func random(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }

    // MARK: The broker

    /// Kills the broker: connections end, and nothing listens until `startBroker`.
    public override func killBroker() { bus.killBroker() }

    /// Starts another broker, as the launcher does, which vouches for the modules that still run.
    public func startBroker() throws {
        bus.startBroker(table)
        for module in modules where module.ending == nil {
            try vouch(for: module.name, pid: module.pid, token: module.token)
        }
    }
}

/// Who may use `ModuleActor`'s executor: one simulation at a time.
private final class Turn: @unchecked Sendable {
    private var mutex = pthread_mutex_t()

    init() { pthread_mutex_init(&mutex, nil) }

    func take() throws {
        guard !ModuleExecutor.shared.isCurrent else {
            throw TestFailure("a simulation can't run in another one: end that first")
        }
        pthread_mutex_lock(&mutex)
        guard ModuleExecutor.shared.borrowThread() else {
            pthread_mutex_unlock(&mutex)
            throw TestFailure("a module runs on a loop in this process: simulate in a process without one")
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
