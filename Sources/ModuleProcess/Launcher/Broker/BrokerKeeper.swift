import Glibc
import StrataCore
import StrataLoop
import StrataManifest
import StrataOperator

/// Keeps `strata-broker` running. It passes the broker its table and the lifeline, restarts it with
/// growing delays when it dies, and ends it.
final class BrokerKeeper {
    /// The reason why the broker will not be started again.
    struct Refusal: Equatable {
        var code: Int32
        var message: String
    }

    /// The delays between starts, in milliseconds. They are short, because clients wait for the
    /// broker.
    static let backoff: ModuleProcess.Backoff = {
        var backoff = ModuleProcess.Backoff()
        backoff.first = 10
        backoff.most = 2_000
        backoff.reset = 10_000
        return backoff
    }()

    /// Called when the process has ended and will be restarted.
    var onEnd: (String) -> Void = { _ in }
    /// Called when the broker will not be started again.
    var onGaveUp: (Refusal) -> Void = { _ in }
    /// Called when the process has ended after `stop`.
    var onStopped: () -> Void = {}

    private let loop: Loop
    private let console: Console
    private let executable: String
    private var surroundings: Surroundings
    /// The service manager's listening socket; nil if there is none.
    private let listening: Int32?
    private var table: AppTable
    private var process: ProgramProcess?
    private var lastLines = LastLines()
    private var held: [[UInt8]] = []
    private var timer: LoopTimer?
    private var restarts = RestartPlan(BrokerKeeper.backoff)
    private var startedAt: UInt64 = 0
    private var upAt: UInt64?
    /// Whether a broker was ever connected.
    private var wasUp = false
    private var isStopping = false

    init(
        _ loop: Loop, _ console: Console, executable: String, table: AppTable, surroundings: Surroundings,
        listening: Int32? = nil
    ) {
        self.listening = listening
        self.loop = loop
        self.console = console
        self.executable = executable
        self.table = table
        self.surroundings = surroundings
        timer = LoopTimer(loop) { [unowned self] in self.start() }
    }

    var pid: Int32? { process?.pid }

    func start() {
        guard process == nil, !isStopping else { return }
        startedAt = loop.now
        upAt = nil
        lastLines.clear()
        do {
            try spawn()
        } catch {
            let message = Executable.problem(executable, folder: "/") ?? Executable.explain(error, executable)
            onGaveUp(Refusal(code: 1, message: "the broker can't be started: \(message)"))
        }
    }

    /// Sets the table for the broker's next process, and what that inherits.
    func update(_ table: AppTable, _ surroundings: Surroundings) {
        (self.table, self.surroundings) = (table, surroundings)
    }

    /// Notes that the launcher is connected to the broker.
    func isConnected() {
        upAt = loop.now
        wasUp = true
        showHeld()
    }

    /// Ends the broker in order; without a process, calls `onStopped` at once.
    func stop() {
        isStopping = true
        timer?.stop()
        guard let process else { return onStopped() }
        process.kill(SIGTERM)
    }

    func kill() {
        isStopping = true
        process?.kill(SIGKILL)
    }

    /// Kills a broker that doesn't answer; it is then restarted.
    func replace() { process?.kill(SIGKILL) }

    func close() {
        timer?.close()
        timer = nil
        process?.close()
        process = nil
    }

    private func spawn() throws(SystemError) {
        let memory = try MemoryFile.make("strata-table", holding: table.json().encoded())
        defer { Glibc.close(memory) }
        let first = ProgramProcess.firstDescriptor
        var arguments = [executable, "--table", "\(first)", "--socket", surroundings.socket]
        if listening != nil { arguments += ["--listen", "\(first + 1)"] }
        process = try ProgramProcess(
            loop, arguments, environment: surroundings.inherited, lifeline: surroundings.lifeline,
            descriptors: [memory] + (listening.map { [$0] } ?? []), onLine: { [weak self] in self?.wrote($0) },
            onExit: { [unowned self] in self.ended($0) })
    }

    /// Handles a line of the broker's output. If the first start fails, the lines become the
    /// launcher's own message, so they are held back until the broker is connected.
    private func wrote(_ line: [UInt8]) {
        lastLines.add(line)
        if wasUp {
            console.line(of: "broker", line)
        } else if held.count < 64 {
            held.append(line)
        }
    }

    private func showHeld() {
        for line in held { console.line(of: "broker", line) }
        held = []
    }

    private func ended(_ exit: ChildProcess.Exit) {
        process = nil
        loop.updateTime()
        if isStopping { return onStopped() }
        let words = lastLines.brief.joined(separator: " | ")
        if !wasUp, case .code(let code) = exit, code == 2 || code == 3 {
            return onGaveUp(
                Refusal(code: code, message: words.isEmpty ? "the broker refused to start (\(exit))" : words))
        }
        showHeld()
        onEnd("\(exit)")
        switch restarts.died(at: loop.now, spawnedAt: startedAt, readyAt: upAt) {
        case .giveUp:
            let message = "the broker ended \(RestartPlan.mostQuickDeaths) times in a row, the last time with \(exit)"
            onGaveUp(Refusal(code: 1, message: words.isEmpty ? message : "\(message); its last lines: \(words)"))
        case .start(let at):
            timer?.start(after: at > loop.now ? at - loop.now : 0)
        }
    }
}

/// The launcher's messages to the bus.
extension BusLink {
    /// Calls `bus/ACTION`; fails at once without a connection.
    func call(
        _ action: String, _ body: JSON = .object([]), deadline: UInt64? = nil,
        onAnswer: @escaping (BusClient.Answer) -> Void = { _ in }
    ) {
        send(Request(to: "bus/\(action)", body, deadline: deadline), onAnswer: onAnswer)
    }

    /// Emits an event; fails at once without a connection.
    /// - Parameter deadline: The time for each module's answer, in milliseconds.
    func emit(_ name: String, _ params: JSON, deadline: UInt64, onAnswer: @escaping (BusClient.Answer) -> Void) {
        var request = Request(to: "bus/emit", params, deadline: deadline)
        request.members = [("name", name)]
        send(request, onAnswer: onAnswer)
    }

    /// Subscribes to the states of all modules until the connection ends.
    func watch(_ onState: @escaping ([UInt8]) -> Void) {
        var request = Request(to: "bus/watch", deadline: 0)
        request.credit = 64
        request.onPartial = onState
        send(request) { _ in }
    }

    /// The bytes of an answer that are certain to fit into a frame beside a header.
    var mostBody: Int { Int(client.limits.frame) - 4 - 256 }
}
