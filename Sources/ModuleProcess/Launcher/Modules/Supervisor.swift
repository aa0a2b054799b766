import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// What a supervisor needs of those around it.
protocol SupervisorOwner: AnyObject {
    var loop: Loop { get }
    var console: Console { get }
    /// Where the kernel holds processes to their memory; nil where it doesn't.
    var groups: ControlGroups? { get }
    /// What each process gets: socket, env, lifeline.
    var surroundings: Surroundings { get }

    /// A process was started: the broker must know it.
    func vouch(for supervisor: Supervisor)
    /// The place is that of the loan's process from now on.
    func lent(_ supervisor: Supervisor)
    /// The broker is to end the session of whoever has the place.
    func takeBack(_ supervisor: Supervisor)
    /// The loan's process has the place no more, or is not to get it.
    func loanEnded(_ supervisor: Supervisor, _ loan: Loan)
    func tell(_ report: ModuleReport, of supervisor: Supervisor)
    /// A process of the module, or a descendant of it, wrote a line.
    func wrote(_ line: OutputLine, _ module: String)
    /// Ask the broker for tearDown, then call `retired`.
    func retire(_ supervisor: Supervisor)
    func passedSetUp(_ supervisor: Supervisor)
    func becameReady(_ supervisor: Supervisor, milliseconds: UInt64)
    /// The process that was to end has ended; it may start again.
    func stopped(_ supervisor: Supervisor)
    func settled(_ supervisor: Supervisor, _ settled: ModuleMachine.Settled)
    /// A process that another took the place of has ended: where its row is gone,
    /// it may have been the last.
    func forgetRemoved(_ supervisor: Supervisor)
    /// The one that was to take over did not; the one that serves goes on.
    func couldNotReplace(_ supervisor: Supervisor, _ why: String)
}

/// What is the same for all processes of an app.
struct Surroundings {
    var socket: String
    var env: String
    /// The app's group, where it has one.
    var group: UInt32?
    /// The pipe whose end says that the launcher is gone.
    var lifeline: Pipe
    /// The launcher's environment, without `STRATA_…`.
    var inherited: [String: String]
    /// Where modules write their spans; nil for nowhere.
    var spans: String?

    /// Where a process finds the lifeline.
    static let lifelineDescriptor: Int32 = 3
}

/// Drives one module's `ModuleMachine`: owns its process and its timer, and
/// performs what the machine decides. `Supervisor+Replacing.swift` has what
/// `replace: overlap` adds.
final class Supervisor {
    let name: String
    private(set) var row: AppTable.Row
    private(set) var process: ModuleProcess
    private(set) var machine: ModuleMachine
    /// When the last process was started, or had the place lent, in microseconds since
    /// 1970.
    private(set) var spawnedAt: UInt64 = 0
    /// Since when it is to be ready and is not.
    private(set) var notReadySince: UInt64 = 0
    /// What became of its processes.
    private(set) var history = ProcessHistory()
    /// A person wants its next process: the broker forgets its deaths.
    private var isWantedByHand = false
    /// Actions that the broker has quarantined, as far as was told.
    var quarantined: [String] = []
    /// Its row was taken out of the manifest; it ends.
    private(set) var isRemoved = false

    unowned let owner: any SupervisorOwner
    /// The process that the machine is about.
    var current: SupervisedProcess?
    /// Under `replace: overlap`: the process that is to take over.
    var replacement: SupervisedProcess?
    /// A process that a person runs in the module's place.
    private(set) var loan: Loan?
    /// For the replacement's start.
    var replacementTimer: LoopTimer?
    /// Processes that another took the place of, or that were not to take over
    /// any more, until they have ended.
    var draining: [SupervisedProcess] = []
    /// Of processes that have ended: a descendant may hold them.
    private var pastOutputs: [ProcessOutput] = []
    private var timer: LoopTimer?

    init(_ row: AppTable.Row, _ process: ModuleProcess, startup: UInt64, owner: any SupervisorOwner) {
        name = row.name
        self.row = row
        self.process = process
        self.owner = owner
        machine = ModuleMachine(Self.policy(row, process, startup))
        timer = LoopTimer(owner.loop) { [unowned self] in
            self.change { $0.deadlinePassed(at: owner.loop.now) }
        }
    }

    private static func policy(_ row: AppTable.Row, _ process: ModuleProcess, _ startup: UInt64) -> ModuleMachine.Policy
    {
        ModuleMachine.Policy(restart: row.restart, backoff: process.backoff, stop: row.stop, startup: startup)
    }

    /// The manifest was read again, and has its row; a running process stays as it is.
    func update(_ row: AppTable.Row, _ process: ModuleProcess, startup: UInt64) {
        isRemoved = false
        self.row = row
        self.process = process
        machine.update(Self.policy(row, process, startup))
        for one in all { one.limit(as: process) }
    }

    /// What of its row the present process was not started with: keys of the
    /// manifest, which take effect at the next start.
    var pending: [String] { (loan?.startedAs ?? current?.startedAs)?.changes(to: process) ?? [] }

    /// The process that the broker is to know.
    var vouched: Vouch? {
        // Until the process that was there has ended the loan is only a promise.
        if let loan, machine.pid == loan.pid {
            return Vouch(token: loan.token, process: loan.process, isByHand: true, spawnedAt: spawnedAt)
        }
        return (replacement ?? current).map {
            Vouch(token: $0.token, process: $0.identity, isByHand: $0.isByHand, spawnedAt: $0.spawnedAt)
        }
    }

    /// What the broker is told of a process.
    struct Vouch {
        var token: String
        var process: ProcessIdentity
        /// A person had it started.
        var isByHand: Bool
        /// In microseconds since 1970.
        var spawnedAt: UInt64
    }

    /// All that have not ended.
    var all: [SupervisedProcess] { [current, replacement].compactMap { $0 } + draining }

    /// Nothing is left of it and it will not be used again.
    func close() {
        timer?.close()
        loan?.close()
        loan = nil
        replacementTimer?.close()
        (timer, replacementTimer) = (nil, nil)
        for one in all { one.close() }
        (current, replacement, draining) = (nil, nil, [])
        for output in pastOutputs { output.close() }
        pastOutputs = []
    }

    /// Lets an event happen to the machine, and does what follows from it.
    func change(_ event: (inout ModuleMachine) -> [ModuleMachine.Action]) {
        let wasAtRest = machine.activity == nil
        var actions = event(&machine)[...]
        if wasAtRest, machine.activity != nil { notReadySince = owner.loop.now }
        // What an action brings about, such as a process that can't be started,
        // comes before the actions that were to follow it.
        while let action = actions.popFirst() { actions = perform(action)[...] + actions }
        if replacement != nil, !machine.isRunning { abandonReplacement() }
        if !machine.isLent, let ended = loan {
            ended.close()
            loan = nil
            owner.loanEnded(self, ended)
        }
        arm()
    }

    // MARK: What is asked of it

    /// Its row was taken out of the manifest.
    func remove() {
        isRemoved = true
        change { $0.stop(at: owner.loop.now, reason: "its row is gone from the manifest") }
    }

    /// - Parameter byHand: a person asks, and waits for no delay after deaths.
    func start(reason: String, byHand: Bool) {
        if byHand, !machine.isRunning { isWantedByHand = true }
        change { $0.start(at: owner.loop.now, reason: reason, impatiently: byHand) }
    }

    /// - Parameter asksForTearDown: false where the broker did that already.
    func stop(reason: String, asksForTearDown: Bool) {
        isWantedByHand = false
        change { $0.stop(at: owner.loop.now, reason: reason, asksForTearDown: asksForTearDown) }
    }

    /// A person asks for another process.
    func restart(reason: String) {
        if replacement == nil { isWantedByHand = true }
        guard row.replace == .overlap, machine.isReady, machine.hasBus else {
            return change { $0.stop(at: owner.loop.now, reason: reason, then: .start) }
        }
        replace(reason: reason)
    }

    /// It did not answer a ping: it would not answer tearDown either.
    func restartHung(reason: String) {
        let times = ModuleMachine.StopTimes(tearDown: 0, terminate: min(row.stop, 1_000))
        change {
            $0.stop(at: owner.loop.now, reason: reason, then: .start, asksForTearDown: false, within: times)
        }
    }

    /// Lets a process have the module's place that a person runs, until it has ended.
    /// - Throws: where there is no such process.
    func lend(to process: ProcessIdentity) throws(SystemError) {
        precondition(loan == nil, "\(name) is lent to process \(loan?.pid ?? 0) already")
        loan = try Loan(process, owner.loop) { [unowned self] in
            change { $0.loanEnded(at: owner.loop.now) }
        }
        let isWanted = row.start == .eager || row.start == .async
        change { $0.lend(to: process.pid, isWanted: isWanted, at: owner.loop.now) }
    }

    private func arm() {
        guard let deadline = machine.deadline else {
            timer?.stop()
            return
        }
        let now = owner.loop.now
        timer?.start(after: deadline > now ? deadline - now : 0)
    }

    private func perform(_ action: ModuleMachine.Action) -> [ModuleMachine.Action] {
        switch action {
        case .spawn: return spawn()
        case .tell(let report): owner.tell(report, of: self)
        case .retire: owner.retire(self)
        case .signal(let signal): current?.send(signal)
        case .passedSetUp: owner.passedSetUp(self)
        case .becameReady(_, let milliseconds): owner.becameReady(self, milliseconds: milliseconds)
        case .stopped: owner.stopped(self)
        case .settled(let settled): owner.settled(self, settled)
        case .lent:
            // It becomes the module's process by the answer.
            spawnedAt = Loop.wallMicroseconds
            loan?.took(as: process)
            owner.lent(self)
        case .takeBack: owner.takeBack(self)
        case .note(let text): owner.console.say(of: name, text)
        }
        return []
    }

    // MARK: The process

    private func spawn() -> [ModuleMachine.Action] {
        let now = owner.loop.now
        switch startProcess() {
        case .success(let started):
            current = started
            spawnedAt = started.spawnedAt
            let actions = machine.spawned(started.pid, at: owner.loop.now)
            for action in actions { _ = perform(action) }
            owner.vouch(for: self)
            return []
        case .failure(let problem):
            return machine.couldNotSpawn(problem.message, isTemporary: problem.isTemporary, at: now)
        }
    }

    /// Why no process could be started.
    struct StartProblem: Error {
        var message: String
        /// Whether trying again may help.
        var isTemporary: Bool
    }

    func startProcess() -> Result<SupervisedProcess, StartProblem> {
        guard let executable = process.executable, !process.run.isEmpty else {
            return .failure(StartProblem(message: "its row has no `run`: start it by hand", isTemporary: false))
        }
        if let problem = Executable.problem(executable, of: process) {
            return .failure(StartProblem(message: problem, isTemporary: false))
        }
        do throws(SystemError) {
            let started = try SupervisedProcess(
                row, process, executable: executable, number: history.starts + 1, isByHand: isWantedByHand, owner,
                onLine: { [weak self] line in if let self { self.owner.wrote(line, self.name) } },
                onExit: { [unowned self] in self.ended($0, $1) })
            isWantedByHand = false
            history.started()
            return .success(started)
        } catch {
            return .failure(
                StartProblem(
                    message: Executable.explain(error, executable), isTemporary: Executable.isTemporary(error)))
        }
    }

    private func ended(_ process: SupervisedProcess, _ exit: ChildProcess.Exit) {
        keep(process.outputs)
        history.ended(process, exit)
        if process === current {
            current = nil
            if goOnWithReplacement(exit) { return }
            let lines = process.lastLines.brief
            let cause = process.wasKilledForMemory ? overMemory : nil
            change { $0.exited(exit, lastLines: lines, because: cause, at: owner.loop.now) }
        } else if process === replacement {
            replacementEnded(process, exit)
        } else {
            draining.removeAll { $0 === process }
            owner.forgetRemoved(self)
        }
    }

    /// A descendant may hold the output of a process that is gone; the outputs of
    /// the last few such are read on.
    private func keep(_ outputs: [ProcessOutput]) {
        pastOutputs = (pastOutputs + outputs).filter { !$0.isClosed }
        while pastOutputs.count > 6 { pastOutputs.removeFirst().close() }
    }

    /// Looks at the memory that its processes use; called each second.
    func checkMemory() {
        guard let most = process.limits.memory else { return }
        for one in all {
            guard let used = ProcessFiles.memory(of: one.pid), used > most else { continue }
            let reason = "it uses \(mebibytes(used)) of memory, and its limit is \(mebibytes(most))"
            if one === current {
                change { $0.doom(at: owner.loop.now, reason: reason, grace: 0) }
            } else {
                owner.console.say(of: name, "process \(one.pid): \(reason): it is killed")
                one.send(SIGKILL)
            }
        }
    }

    private var overMemory: String {
        "it came to its limit of \(mebibytes(process.limits.memory ?? 0)) of memory, and the kernel killed it"
    }

    private func mebibytes(_ bytes: UInt64) -> String {
        bytes >= 10 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }
}
