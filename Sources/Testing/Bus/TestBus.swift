internal import Glibc
public import StrataCore

/// A real broker on a socket of its own, for one test.
///
/// The broker runs on a thread of this process, or as a given executable. The test's process
/// plays all of its peers. A test connects modules by hand (`module`, `play`), starts real
/// executables (`start`), or opens bare connections that follow no rules (`connect`). `run` ends
/// everything, even if the test throws.
public class TestBus {
    /// The table of the bus's app.
    public let table: AppTable
    /// The path of the broker's socket.
    public let path: String
    /// A folder for whatever the test needs, removed with the bus.
    public var folder: String { temporary.path }

    let group: PeerGroup
    private let temporary: TemporaryFolder
    private var thread: BrokerThread?
    private var program: BrokerProgram?
    /// The command that runs the app of a manifest; nil if the test has its own broker.
    private var app: AppProgram?
    /// Whether `strata test` runs the bus, with the app of a manifest.
    var isBesideApp: Bool { app != nil }
    private(set) var memory: MemoryBus?
    private(set) var programs: [ChildProgram] = []
    private var knownLauncher: RawPeer?
    private var knownOperator: RawPeer?
    private var nextToken = 1
    /// The bus of the node on which the callees run, in tests that are spread over two nodes.
    package var away: TestBus?

    /// Starts a broker.
    /// - Parameters:
    ///   - table: the app's table.
    ///   - executable: the path of `strata-broker`; nil runs the broker in this process.
    ///   - isLaunched: whether a broker in this process waits for this process as its launcher. A
    ///     broker that a launcher has started does so.
    public convenience init(_ table: AppTable, executable: String? = nil, isLaunched: Bool = false) throws {
        try self.init(table, executable: executable, isLaunched: isLaunched, PeerGroup())
    }

    /// Does the same for a bus whose peers are read together with those of other buses.
    init(_ table: AppTable, executable: String? = nil, isLaunched: Bool = false, _ group: PeerGroup) throws {
        self.table = table
        self.group = group
        temporary = try TemporaryFolder()
        path = "\(temporary.path)/bus"
        do {
            if let executable {
                program = try BrokerProgram(executable, table, path: path, folder: temporary.path)
                group.add(program!.child.output)  // because it was just made
            } else {
                thread = try BrokerThread(table, path: path, isLaunched: isLaunched)
            }
        } catch {
            temporary.remove()
            throw error
        }
    }

    /// Makes a bus in memory. Only `connect` reaches it: nothing listens at its path.
    init(_ table: AppTable, _ memory: MemoryBus) throws {
        self.table = table
        self.memory = memory
        group = PeerGroup(memory)
        temporary = try TemporaryFolder()
        path = "\(temporary.path)/bus"
    }

    /// Makes a bus in memory, on virtual time, without a launcher.
    package convenience init(inMemory table: AppTable) throws {
        try self.init(table, MemoryBus(table, isLaunched: false))
    }

    /// Runs the app of a manifest beside the test.
    init(app manifest: String, play rows: [String], _ arguments: [String], _ executable: String?) throws {
        table = try .manifest(manifest)
        group = PeerGroup()
        temporary = try TemporaryFolder()
        do {
            let app = try AppProgram(manifest, play: rows, arguments, executable)
            path = app.socket
            group.add(app.child.output)
            self.app = app
        } catch {
            temporary.remove()
            throw error
        }
    }

    deinit { try? stop() }

    /// Whether the environment has `STRATA_TEST_HANDOVER`. Then a broker on a thread is replaced
    /// after each round of its loop, by one made from what it wrote down.
    public static let isHandedOverEachRound = getenv("STRATA_TEST_HANDOVER") != nil

    /// Whether the environment has `STRATA_TEST_NODES`. Then an app that names no nodes runs on two: rows that provide
    /// interfaces on the second one, and all else on the first, which a test knows as its bus.
    package static let isSpread = getenv("STRATA_TEST_NODES") != nil

    /// How long an expectation waits before it fails: the seconds in the environment's
    /// `STRATA_TEST_PATIENCE`, or 120 s.
    ///
    /// It only ends a test that would hang. It doesn't judge how fast the machine is.
    public static let patience: Duration =
        getenv("STRATA_TEST_PATIENCE").flatMap { Int(String(cString: $0)) }.map { .seconds($0) } ?? .seconds(120)

    /// Runs a test on a bus, and ends the bus, even if the test throws. Fails if the script of a
    /// played module isn't finished.
    @discardableResult
    public static func run<Result>(
        _ table: AppTable, executable: String? = nil, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        if isSpread, executable == nil, !isLaunched, table.nodes.isEmpty {
            return try TestNodes.spread(table, test)
        }
        return try TestBus(table, executable: executable, isLaunched: isLaunched).run(test)
    }

    /// Runs an asynchronous test on a bus as the other `run` does, on a thread of its own: while it waits,
    /// it holds none of the threads that tests share.
    @discardableResult
    public static func run<Result: Sendable>(
        _ table: AppTable, executable: String? = nil, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) async throws -> Result {
        try await OwnThread.run { try run(table, executable: executable, isLaunched: isLaunched, test) }
    }

    /// Runs a test on this bus, and ends the bus.
    package func run<Result>(_ test: (TestBus) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try test(self)
            try finishScripts()
        } catch {
            try? stop()
            throw error
        }
        try stop()
        return result
    }

    /// Waits until the script of every played module is finished.
    public func finishScripts(within time: Duration = TestBus.patience) throws {
        let deadline = group.deadline(time)
        while true {
            try group.pumpWhatIsThere()
            try group.throwScriptFailure()
            let unfinished = group.unfinishedScripts
            if unfinished.isEmpty { return }
            try group.pump(until: deadline)
            guard !group.hasPassed(deadline) else {
                throw TestFailure("\(unfinished.joined(separator: "; "))\(group.outputText)")
            }
        }
    }

    /// The current time by the bus's clock.
    package var now: ContinuousClock.Instant { group.now }

    // MARK: peers

    /// Opens a connection that has said nothing yet.
    public func connect(_ label: String = "a connection", answersLifecycle: Bool = false) throws -> RawPeer {
        let link: any PeerLink = if let memory { try memory.connect(label) } else { try PeerSocket(path: path) }
        return RawPeer(link, label: label, answersLifecycle: answersLifecycle, group: group)
    }

    /// Takes over a connection that already exists, for example one that another process made.
    /// - Parameters:
    ///   - descriptor: a non-blocking descriptor, connected to the broker. The peer closes it.
    ///   - label: the name that failures use.
    ///   - answersLifecycle: whether the peer answers calls of `module/…` by itself.
    public func connect(descriptor: Int32, _ label: String, answersLifecycle: Bool = false) -> RawPeer {
        RawPeer(PeerSocket(descriptor: descriptor), label: label, answersLifecycle: answersLifecycle, group: group)
    }

    /// The bus of the node on which a module runs.
    private func home(of name: String) -> TestBus {
        guard let away, let row = away.table.modules.first(where: { $0.name == name }) else { return self }
        return row.placement.includes(away.table.node ?? "") ? away : self
    }

    /// Connects a module that says hello, becomes ready, and answers its life cycle calls. It brings the
    /// interfaces that its row provides, each with any action.
    /// - Parameters:
    ///   - name: the module's name.
    ///   - hello: members of hello's body besides `protocol` and `module`. Its `interfaces` replace those
    ///     of the row.
    ///   - waits: false if the module's start waits for other modules, to return before it is
    ///     ready.
    ///   - file: the file that a failure names.
    ///   - line: the line that a failure names.
    public func module(
        _ name: String, _ hello: JSON = [:], waits: Bool = true, file: StaticString = #fileID, line: UInt = #line
    ) throws -> RawPeer {
        let peer = try home(of: name).connect(name, answersLifecycle: true)
        let brought = hello["interfaces"] == nil ? provided(by: name).adding(hello) : hello
        try peer.hello(name, brought, file: file, line: line)
        if waits { try peer.becomeReady(file: file, line: line) }
        return peer
    }

    /// Returns the interfaces of a module's row, as hello has them.
    private func provided(by name: String) -> JSON {
        Self.interfaces(home(of: name).table.modules.first { $0.name == name }?.provides ?? [])
    }

    private static func interfaces(_ names: [String]) -> JSON {
        names.isEmpty ? [:] : ["interfaces": .object(names.map { .init($0, [:]) })]
    }

    /// Connects a module that follows a script. It brings the interfaces that its row provides, or these.
    @discardableResult
    public func play(
        _ name: String, provides interfaces: [String]? = nil, _ hello: JSON = [:], file: StaticString = #fileID,
        line: UInt = #line, _ write: (ModuleScript) -> Void
    ) throws -> RawPeer {
        let provided = interfaces.map(Self.interfaces) ?? (hello["interfaces"] == nil ? provided(by: name) : [:])
        let script = ModuleScript()
        write(script)
        let peer = try home(of: name).connect(name, answersLifecycle: true)
        peer.script = script
        try peer.hello(name, provided.adding(hello), file: file, line: line)
        try peer.becomeReady(file: file, line: line)
        return peer
    }

    /// Returns an operator's tool, the same one each time.
    public func `operator`() throws -> RawPeer {
        if let knownOperator, !knownOperator.link.isAtEnd { return knownOperator }
        let peer = try connect("operator")
        try peer.hello(role: "operator")
        knownOperator = peer
        return peer
    }

    /// Returns the launcher, which this process plays: the same one each time. While it is
    /// connected, rows that are not `manual` count as startable.
    public func launcher() throws -> RawPeer {
        if let knownLauncher, !knownLauncher.link.isAtEnd { return knownLauncher }
        let peer = try connect("launcher")
        try peer.hello(role: "launcher")
        knownLauncher = peer
        return peer
    }

    /// Vouches for a process as a module, as the launcher.
    /// - Parameters:
    ///   - module: the module's name.
    ///   - pid: the process; nil for this process, whose connections then belong to the module.
    ///   - token: the token; nil makes one.
    /// - Returns: the token, for hello.
    @discardableResult
    public func vouch(for module: String, pid: Int32? = nil, token: String? = nil) throws -> String {
        let token = token ?? makeToken()
        try launcher().asked(
            "bus/vouch",
            [
                "module": .string(module), "token": .string(token),
                "pid": .integer(Int64(pid ?? ownPID)),
            ])
        return token
    }

    /// The process that the peers belong to.
    package var ownPID: Int32 { memory?.ownPID ?? getpid() }

    func makeToken() -> String {
        defer { nextToken += 1 }
        return "token-\(nextToken)"
    }

    /// Returns a module's state, as `bus/modules` reports it.
    public func state(of module: String) throws -> String {
        let answer = try `operator`().asked("bus/modules")
        let row = answer["modules"]?.array?.first { $0["name"]?.string == module }
        return row?["state"]?.string ?? "unknown"
    }

    /// Makes the broker ask the launcher for the table again. The launcher answers with this
    /// table.
    /// - Returns: the answer to `bus/reload`.
    public func reload(_ table: AppTable, file: StaticString = #fileID, line: UInt = #line) throws -> ReceivedFrame {
        let (launcher, tool) = (try launcher(), try `operator`())
        let id = try tool.call("bus/reload")
        let question = try launcher.expect(
            ["kind": "call", "to": "launcher/reload", "from": "bus"], file: file, line: line)
        try launcher.reply(to: question, table.json())
        return try tool.answer(to: id, file: file, line: line)
    }

    /// Makes other apps reachable on a bus in memory; `otherApp` plays them.
    package func reachesOtherApps(_ reaches: Bool = true) { memory?.broker.reaches = { _ in reaches } }

    /// Returns the other app at the end of the connection that the bus made to one: its first, or the
    /// one with that index.
    package func otherApp(_ index: Int = 0) throws -> RawPeer {
        guard let link = memory?.otherApp(index) else { throw TestFailure("the bus made no connection \(index)") }
        return RawPeer(link, label: "other app \(index)", answersLifecycle: false, group: group)
    }

    // MARK: the end

    /// Begins the broker's orderly end, as SIGTERM does.
    public func beginShutDown() {
        thread?.beginShutDown()
        memory?.beginShutDown()
        program?.child.send(signal: SIGTERM)
        app?.child.send(signal: SIGTERM)
    }

    /// Waits until the broker has ended by itself. Throws if it doesn't end in time, or fails.
    public func waitUntilEnded(within time: Duration = TestBus.patience) throws {
        if let running = app {
            try running.child.wait(within: time)
            app = nil
        }
        if let running = program {
            let end = try running.child.wait(within: time)
            program = nil
            guard end == .exit(0) else {
                throw TestFailure("the broker ended with \(end): \(running.child.outputText)")
            }
        }
        if let running = thread {
            guard running.join(within: time) else { throw TestFailure("the broker did not end within \(time)") }
            thread = nil
        }
        if let running = memory {
            guard try running.join(within: time) else { throw TestFailure("the bus did not end within \(time)") }
            memory = nil
        }
    }

    /// Runs a block while the broker's process is stopped. Whatever peers send in the block is
    /// there for the broker at once when it continues.
    public func whileBrokerIsHalted(_ block: () throws -> Void) rethrows {
        program?.child.halt()
        defer { program?.child.send(signal: SIGCONT) }
        try block()
    }

    /// The broker's process; nil if it has none of its own.
    public var brokerPID: Int32? { program?.child.pid }

    /// Kills the broker if it is a process of its own.
    public func killBroker() {
        program?.child.kill()
        program = nil
    }

    /// Closes every peer, ends the processes and the broker, and removes their files. Throws if
    /// the broker doesn't end or leaves its socket. Does nothing the second time.
    public func stop() throws {
        group.closeAll()
        for program in programs { program.kill() }
        defer { temporary.remove() }
        guard thread != nil || program != nil || memory != nil || app != nil else { return }
        defer {
            app?.child.kill()
            app = nil
            thread = nil
            memory = nil
            program?.child.kill()
            program = nil
        }
        beginShutDown()
        try waitUntilEnded()
        guard access(path, F_OK) != 0 else { throw TestFailure("the broker ended and left its socket \(path)") }
    }

    func keep(_ program: ChildProgram) {
        programs.append(program)
        group.add(program.output)
    }
}
