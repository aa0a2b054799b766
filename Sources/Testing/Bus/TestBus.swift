internal import Glibc
public import StrataCore

/// A real broker on a socket of its own, for one test: on a thread of this
/// process, or as a given executable.
///
/// The process of the test is all its peers: modules are connected by hand
/// (`module`, `play`), as real executables (`start`), or with no manners at all
/// (`connect`). `run` ends everything, also where the test throws.
public class TestBus {
    /// The app that it is the bus of.
    public let table: AppTable
    /// The broker's socket.
    public let path: String
    /// A folder of this bus's own, for whatever a test needs.
    public var folder: String { temporary.path }

    let group: PeerGroup
    private let temporary: TemporaryFolder
    private var thread: BrokerThread?
    private var program: BrokerProgram?
    private(set) var memory: MemoryBus?
    private(set) var programs: [ChildProgram] = []
    private var knownLauncher: RawPeer?
    private var knownOperator: RawPeer?
    private var nextToken = 1

    /// Starts a broker.
    /// - Parameters:
    ///   - table: the app's.
    ///   - executable: `strata-broker`; nil runs it in this process.
    ///   - isLaunched: whether a broker in this process waits for it as its launcher,
    ///     as one does that a launcher has started.
    public init(_ table: AppTable, executable: String? = nil, isLaunched: Bool = false) throws {
        self.table = table
        group = PeerGroup()
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

    /// A bus that nobody can reach but by `connect`: nothing listens at its path.
    init(_ table: AppTable, _ memory: MemoryBus) throws {
        self.table = table
        self.memory = memory
        group = PeerGroup(memory)
        temporary = try TemporaryFolder()
        path = "\(temporary.path)/bus"
    }

    deinit { try? stop() }

    /// Where the environment has `STRATA_TEST_HANDOVER`, brokers that run on a
    /// thread are replaced after each round of their loop by one made of what they
    /// wrote down.
    public static let isHandedOverEachRound = getenv("STRATA_TEST_HANDOVER") != nil

    /// How long an expectation waits before it fails: two minutes, or as many seconds as
    /// the environment's `STRATA_TEST_PATIENCE` says.
    ///
    /// It only ends a test that would hang: how fast a machine is, it doesn't judge.
    public static let patience: Duration =
        getenv("STRATA_TEST_PATIENCE").flatMap { Int(String(cString: $0)) }.map { .seconds($0) } ?? .seconds(120)

    /// Runs a test on a bus, and ends the bus: also where the test throws.
    /// Fails where a played module's script has not come to its end.
    @discardableResult
    public static func run<Result>(
        _ table: AppTable, executable: String? = nil, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        try TestBus(table, executable: executable, isLaunched: isLaunched).run(test)
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

    /// Waits until every played module's script is at its end.
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

    /// The time by the clock that this bus goes by.
    package var now: ContinuousClock.Instant { group.now }

    // MARK: peers

    /// A connection that has said nothing yet.
    public func connect(_ label: String = "a connection", answersLifecycle: Bool = false) throws -> RawPeer {
        let link: any PeerLink = if let memory { try memory.connect(label) } else { try PeerSocket(path: path) }
        return RawPeer(link, label: label, answersLifecycle: answersLifecycle, group: group)
    }

    /// A connection that is made already: by another process, say.
    /// - Parameters:
    ///   - descriptor: connected to the broker, and without blocking; the peer
    ///     closes it.
    ///   - label: what failures call it.
    ///   - answersLifecycle: whether it answers calls of `module/…` by itself.
    public func connect(descriptor: Int32, _ label: String, answersLifecycle: Bool = false) -> RawPeer {
        RawPeer(PeerSocket(descriptor: descriptor), label: label, answersLifecycle: answersLifecycle, group: group)
    }

    /// A module that has said hello and is ready; it answers its life cycle.
    /// - Parameters:
    ///   - name: its name.
    ///   - hello: members of hello's body beside `protocol` and `module`.
    ///   - waits: false where its start waits for others.
    ///   - file: where the test says so.
    ///   - line: where the test says so.
    public func module(
        _ name: String, _ hello: JSON = [:], waits: Bool = true, file: StaticString = #fileID, line: UInt = #line
    ) throws -> RawPeer {
        let peer = try connect(name, answersLifecycle: true)
        try peer.hello(name, hello, file: file, line: line)
        if waits { try peer.becomeReady(file: file, line: line) }
        return peer
    }

    /// A module that provides these interfaces and does what a script says.
    @discardableResult
    public func play(
        _ name: String, provides interfaces: [String] = [], _ hello: JSON = [:], file: StaticString = #fileID,
        line: UInt = #line, _ write: (ModuleScript) -> Void
    ) throws -> RawPeer {
        let provided: JSON = .object([.init("interfaces", .object(interfaces.map { .init($0, [:]) }))])
        let script = ModuleScript()
        write(script)
        let peer = try connect(name, answersLifecycle: true)
        peer.script = script
        try peer.hello(name, provided.adding(hello), file: file, line: line)
        try peer.becomeReady(file: file, line: line)
        return peer
    }

    /// An operator's tool; the same one each time.
    public func `operator`() throws -> RawPeer {
        if let knownOperator, !knownOperator.link.isAtEnd { return knownOperator }
        let peer = try connect("operator")
        try peer.hello(role: "operator")
        knownOperator = peer
        return peer
    }

    /// The launcher, played by this process; the same one each time. While it
    /// is connected, rows that are not `manual` count as startable.
    public func launcher() throws -> RawPeer {
        if let knownLauncher, !knownLauncher.link.isAtEnd { return knownLauncher }
        let peer = try connect("launcher")
        try peer.hello(role: "launcher")
        knownLauncher = peer
        return peer
    }

    /// Lets the launcher vouch for a process as a module.
    /// - Parameters:
    ///   - module: the module's name.
    ///   - pid: nil is this process, whose connections are the module's then.
    ///   - token: nil makes one.
    /// - Returns: the token, for hello.
    @discardableResult
    public func vouch(for module: String, pid: Int32? = nil, token: String? = nil) throws -> String {
        let token = token ?? makeToken()
        try launcher().asked(
            "bus/vouch",
            [
                "module": .string(module), "token": .string(token),
                "pid": .integer(Int64(pid ?? memory?.ownPID ?? getpid())),
            ])
        return token
    }

    func makeToken() -> String {
        defer { nextToken += 1 }
        return "token-\(nextToken)"
    }

    /// What `bus/modules` says of a module's state.
    public func state(of module: String) throws -> String {
        let answer = try `operator`().asked("bus/modules")
        let row = answer["modules"]?.array?.first { $0["name"]?.string == module }
        return row?["state"]?.string ?? "unknown"
    }

    /// Lets the broker ask the launcher for the table again, which the launcher
    /// answers with this one.
    /// - Returns: what `bus/reload` was answered.
    public func reload(_ table: AppTable, file: StaticString = #fileID, line: UInt = #line) throws -> ReceivedFrame {
        let (launcher, tool) = (try launcher(), try `operator`())
        let id = try tool.call("bus/reload")
        let question = try launcher.expect(
            ["kind": "call", "to": "launcher/reload", "from": "bus"], file: file, line: line)
        try launcher.reply(to: question, table.json())
        return try tool.answer(to: id, file: file, line: line)
    }

    // MARK: the end

    /// Begins the broker's orderly end, as SIGTERM does.
    public func beginShutDown() {
        thread?.beginShutDown()
        memory?.beginShutDown()
        program?.child.send(signal: SIGTERM)
    }

    /// Waits until the broker has ended by itself.
    public func waitUntilEnded(within time: Duration = TestBus.patience) throws {
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

    /// Runs a block while the broker, a process of its own, stands still: what
    /// peers send in it is there for the broker at once when it goes on.
    public func whileBrokerIsHalted(_ block: () throws -> Void) rethrows {
        program?.child.halt()
        defer { program?.child.send(signal: SIGCONT) }
        try block()
    }

    /// The broker's process, where it has one of its own.
    public var brokerPID: Int32? { program?.child.pid }

    /// Kills the broker, where it is a process of its own.
    public func killBroker() {
        program?.child.kill()
        program = nil
    }

    /// Closes every peer, ends the processes and the broker, and removes what
    /// they leave. Throws where the broker does not end, or leaves its socket.
    /// Twice is once.
    public func stop() throws {
        group.closeAll()
        for program in programs { program.kill() }
        defer { temporary.remove() }
        guard thread != nil || program != nil || memory != nil else { return }
        defer {
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
