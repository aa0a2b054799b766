import Glibc
import StrataCore
import StrataLoop
import StrataManifest
import StrataOperator

/// Keeps `strata-link` running in an app with several nodes, whenever there is a broker.
///
/// It vouches for each process before that gets its configuration, and restarts it with growing
/// delays when it ends. The app runs without a link, too; then no other node can be reached, so the
/// keeper never gives up. It reports each reason for an end once.
final class LinkKeeper {
    /// The delays between two starts, in milliseconds: the first, the most, and the one after an
    /// end that only a person can mend.
    private static let delay: (first: UInt64, most: UInt64, mending: UInt64) = (10, 2_000, 5_000)
    /// How long a process must have run for its end to count as the first one, in milliseconds.
    private static let reset: UInt64 = 10_000
    /// How long an orderly end may take, in milliseconds.
    private static let grace: UInt64 = 2_000
    /// The most lines of a process that are remembered, in order not to repeat them.
    private static let mostSaid = 64

    private let loop: Loop
    private let console: Console
    private let bus: BusLink
    private let executable: String
    private var surroundings: Surroundings
    private var settings: LinkSettings
    private var process: ProgramProcess?
    private var identity: ProcessIdentity?
    private var token = ""
    /// The pipe into which the configuration goes once the broker knows the process. Both ends are
    /// kept, because writing to a pipe without a reader would raise SIGPIPE.
    private var configuration: Pipe?
    private var timer: LoopTimer?
    private var startedAt: UInt64 = 0
    private var nextDelay = LinkKeeper.delay.first
    /// What the processes before said, if each soon ended because it couldn't run.
    private var said: Set<[UInt8]> = []
    /// What this process has said.
    private var saying: Set<[UInt8]> = []
    /// What was reported last, since a process last ran for a while.
    private var lastProblem: String?
    /// Called when no process is left after `stop`; nil unless it stops.
    private var onStopped: (() -> Void)?

    init(
        _ loop: Loop, _ console: Console, _ bus: BusLink, executable: String, _ settings: LinkSettings,
        _ surroundings: Surroundings
    ) {
        (self.loop, self.console, self.bus, self.executable) = (loop, console, bus, executable)
        (self.settings, self.surroundings) = (settings, surroundings)
        timer = LoopTimer(loop) { [unowned self] in self.timePassed() }
    }

    var pid: Int32? { process?.pid }

    // MARK: Events

    /// Starts the link, because the launcher is connected to a broker. A process that still runs
    /// belonged to the broker before, and is about to end.
    func busCame() {
        if process == nil { start() } else { vouch() }
    }

    /// Takes over the settings of a reloaded manifest. If they differ, the running process ends in
    /// order, and another one starts.
    func update(_ new: LinkSettings, _ surroundings: Surroundings) {
        self.surroundings = surroundings
        guard new != settings else { return }
        settings = new
        forget()
        if process == nil { return start() }
        console.say("federation has changed: the link is started again")
        terminate()
    }

    /// Ends the link in order, or kills it after 2 s.
    /// - Parameter onStopped: Called when there is no process any more, perhaps at once.
    func stop(_ onStopped: @escaping () -> Void) {
        guard process != nil else {
            timer?.stop()
            return onStopped()
        }
        self.onStopped = onStopped
        terminate()
    }

    func kill() { process?.kill(SIGKILL) }

    func close() {
        timer?.close()
        timer = nil
        closeConfiguration()
        process?.close()
        process = nil
    }

    /// Asks the process to end. The same timer is for the next start, and for a process that
    /// doesn't end.
    private func terminate() {
        process?.kill(SIGTERM)
        timer?.start(after: Self.grace)
    }

    private func timePassed() {
        if process == nil { start() } else { kill() }
    }

    // MARK: A process

    private func start() {
        guard process == nil, onStopped == nil, bus.isUp else { return }
        timer?.stop()
        (startedAt, saying) = (loop.now, [])
        do throws(SystemError) { try spawn() } catch {
            failed(Executable.problem(executable, folder: "/") ?? Executable.explain(error, executable))
        }
    }

    private func spawn() throws(SystemError) {
        let pipe = try Pipe(readingBlocks: true)
        configuration = pipe
        let user = settings.user.flatMap { $0 == geteuid() ? nil : $0 }
        do throws(SystemError) {
            process = try ProgramProcess(
                loop, [executable, "--configuration", "\(ProgramProcess.firstDescriptor)"],
                // The launcher's environment holds secrets of its own user.
                environment: user == nil ? surroundings.inherited : [:], lifeline: surroundings.lifeline,
                descriptors: [pipe.reading],
                as: user.map { ($0, ProcessEnvironment.group(of: $0, appGroup: surroundings.group)) },
                onLine: { [weak self] in self?.wrote($0) }, onExit: { [unowned self] in self.ended($0) })
        } catch {
            closeConfiguration()
            throw error
        }
        token = Token.make()
        identity = process.map { ProcessIdentity(pid: $0.pid) ?? .ended($0.pid) }
        vouch()
    }

    /// Tells the broker of the process, and then the process what to do.
    private func vouch() {
        guard let identity else { return }
        let body: JSON = [
            "link": true, "token": .string(token), "pid": .integer(Int64(identity.pid)),
            "startTicks": .integer(Int64(identity.startTicks)),
        ]
        bus.call("vouch", body) { [weak self] answer in
            guard let self, self.identity == identity else { return }
            switch answer {
            case .success: configure()
            case .failure(let error) where error.code == .died: break
            case .failure(let error):
                say("the broker refuses the link: \(error)")
                kill()
            }
        }
    }

    private func configure() {
        guard let descriptor = configuration?.writing else { return }
        let bytes = settings.json(socket: surroundings.socket, token: token).encoded()
        // A pipe takes a configuration at once. It is never waited for, since that would halt the
        // launcher.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        if write(descriptor, bytes, bytes.count) != bytes.count {
            say("the link's configuration, \(bytes.count) bytes, couldn't be passed to it")
            kill()
        }
        closeConfiguration()
    }

    private func closeConfiguration() {
        configuration?.closeReading()
        configuration?.closeWriting()
        configuration = nil
    }

    private func ended(_ exit: ChildProcess.Exit) {
        (process, identity) = (nil, nil)
        closeConfiguration()
        loop.updateTime()
        if let onStopped {
            timer?.stop()
            return onStopped()
        }
        if loop.now - startedAt >= Self.reset { forget() }
        switch exit {
        case .signal: failed("it ended with \(exit)")
        // Its broker is gone, or it was told to end.
        case .code(0), .code(1): again(after: nil)
        // It has said why it can't run, which a person can mend.
        case .code:
            said.formUnion(saying)
            again(after: Self.delay.mending)
        }
    }

    private func failed(_ why: String) {
        say("no other node can be reached while the link isn't running: \(why); it is started again")
        again(after: nil)
    }

    /// Starts the next process later; without a broker, when there is one.
    private func again(after given: UInt64?) {
        timer?.start(after: given ?? nextDelay)
        nextDelay = min(nextDelay * 2, Self.delay.most)
    }

    /// Counts and reports anew.
    private func forget() { (nextDelay, said, lastProblem) = (Self.delay.first, [], nil) }

    // MARK: Lines

    private func wrote(_ line: [UInt8]) {
        if isNew(line) { console.line(of: "link", Programs.linkMessage(line)) }
    }

    /// Reports a problem, unless it is the same as the last one.
    private func say(_ problem: String) {
        if problem != lastProblem { console.say(of: "link", problem) }
        lastProblem = problem
    }

    /// Whether no process before has said a line. A link that can't run would otherwise say so each
    /// time that it is started.
    private func isNew(_ line: [UInt8]) -> Bool {
        if saying.count < Self.mostSaid { saying.insert(line) }
        return !said.contains(line)
    }
}
