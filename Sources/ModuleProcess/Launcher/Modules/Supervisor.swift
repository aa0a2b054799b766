import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// The services that a supervisor needs from its owner.
protocol SupervisorOwner: AnyObject {
    var loop: Loop { get }
    var console: Console { get }
    /// The control groups in which the kernel enforces memory limits; nil if there are none.
    var groups: ControlGroups? { get }
    /// The values that each process gets: the socket, the env and the lifeline.
    var surroundings: Surroundings { get }

    /// Tells the broker of a process that was started.
    func vouch(for supervisor: Supervisor)
    /// Called when the loan's process is attached.
    func lent(_ supervisor: Supervisor)
    /// Asks the broker to end the attached process's session.
    func takeBack(_ supervisor: Supervisor)
    /// Called when the loan's process is detached, or will not be attached.
    func loanEnded(_ supervisor: Supervisor, _ loan: Loan)
    func tell(_ report: ModuleReport, of supervisor: Supervisor)
    /// Called when a process of the module, or a descendant of it, wrote a line.
    func wrote(_ line: OutputLine, _ module: String)
    /// Asks the broker for tearDown; `retired` must follow.
    func retire(_ supervisor: Supervisor)
    func passedSetUp(_ supervisor: Supervisor)
    /// Called when a process has ended before it was ready, or could not be started.
    func startFailed(_ supervisor: Supervisor)
    func becameReady(_ supervisor: Supervisor, milliseconds: UInt64)
    /// Called when the process that was being stopped has ended; it may start again.
    func stopped(_ supervisor: Supervisor)
    func settled(_ supervisor: Supervisor, _ settled: ModuleMachine.Settled)
    /// Called when a draining process has ended. If its row was removed, it may have been the last
    /// process.
    func forgetRemoved(_ supervisor: Supervisor)
    /// Called when the replacement did not take over; the current process continues.
    func couldNotReplace(_ supervisor: Supervisor, _ why: String)
}

/// The values that all processes of an app share.
struct Surroundings {
    var socket: String
    var env: String
    /// The app's group; nil if it has none.
    var group: UInt32?
    /// The pipe whose end tells processes that the launcher has ended.
    var lifeline: Pipe
    /// The launcher's environment, without `STRATA_…`.
    var inherited: [String: String]
    /// The file that modules write their spans to; nil for none.
    var spans: String?

    /// The descriptor of the lifeline in a process.
    static let lifelineDescriptor: Int32 = 3
}

/// Drives one module's `ModuleMachine`: owns its process and its timer, and performs what the
/// machine decides. `Supervisor+Replacing.swift` adds `replace: overlap`.
final class Supervisor {
    let name: String
    private(set) var row: AppTable.Row
    private(set) var process: ModuleProcess
    /// Hides the row's secrets in what the module writes.
    private var secrets: SecretsInOutput
    private(set) var machine: ModuleMachine
    /// When the last process was started or attached, in microseconds since 1970.
    private(set) var spawnedAt: UInt64 = 0
    /// Since when the module should be ready and isn't, in milliseconds on the loop's clock.
    private(set) var notReadySince: UInt64 = 0
    /// The history of the module's processes.
    private(set) var history = ProcessHistory()
    /// Whether a person asked for the next process: the broker then forgets earlier deaths.
    private var isWantedByHand = false
    /// The actions that the broker has quarantined, as last reported.
    var quarantined: [String] = []
    /// Whether the row was removed from the manifest, or moved to another node; the module is ending.
    private(set) var isRemoved = false
    /// Whether its removed row is back, and the launcher has not yet begun with the new manifest. Then
    /// the end of the old process is no absence: a new one follows.
    private(set) var isReturning = false

    unowned let owner: any SupervisorOwner
    /// The process that the machine drives.
    var current: SupervisedProcess?
    /// Under `replace: overlap`, the process that is to take over.
    var replacement: SupervisedProcess?
    /// A process that a person runs in place of the module.
    private(set) var loan: Loan?
    /// The deadline of the replacement's start.
    var replacementTimer: LoopTimer?
    /// The processes that were replaced, and replacements that were given up, until they have
    /// ended.
    var draining: [SupervisedProcess] = []
    /// The outputs of processes that have ended, which descendants may keep open.
    private var pastOutputs: [ProcessOutput] = []
    private var timer: LoopTimer?

    init(_ row: AppTable.Row, _ process: ModuleProcess, startup: UInt64, owner: any SupervisorOwner) {
        name = row.name
        self.row = row
        self.process = process
        secrets = SecretsInOutput(row.secrets)
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

    /// Takes over the row of a reloaded manifest; a running process stays as it is.
    func update(_ row: AppTable.Row, _ process: ModuleProcess, startup: UInt64) {
        if isRemoved { (isRemoved, isReturning) = (false, true) }
        secrets.change(to: row.secrets)
        self.row = row
        self.process = process
        machine.update(Self.policy(row, process, startup))
        if !row.required { machine.mustStart = false }
        for one in all { one.limit(as: process) }
    }

    /// The manifest's keys that have changed since the current process was started; they take
    /// effect at the next start.
    var pending: [String] { (loan?.startedAs ?? current?.startedAs)?.changes(to: process) ?? [] }

    /// The process that the broker is to know.
    var vouched: Vouch? {
        // The loan takes effect only when the previous process has ended.
        if let loan, machine.pid == loan.pid {
            return Vouch(token: loan.token, process: loan.process, isByHand: true, spawnedAt: spawnedAt)
        }
        return (replacement ?? current).map {
            Vouch(token: $0.token, process: $0.identity, isByHand: $0.isByHand, spawnedAt: $0.spawnedAt)
        }
    }

    /// A process as it is described to the broker.
    struct Vouch {
        var token: String
        var process: ProcessIdentity
        /// Whether a person had it started.
        var isByHand: Bool
        /// When it was started, in microseconds since 1970.
        var spawnedAt: UInt64
    }

    /// The processes that have not ended.
    var all: [SupervisedProcess] { [current, replacement].compactMap { $0 } + draining }

    /// Releases everything; the supervisor is not used again.
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

    /// Applies an event to the machine, and performs the actions that follow.
    func change(_ event: (inout ModuleMachine) -> [ModuleMachine.Action]) {
        let wasAtRest = machine.activity == nil
        var actions = event(&machine)[...]
        if wasAtRest, machine.activity != nil { notReadySince = owner.loop.now }
        // The results of an action, such as a failed start, come before the remaining actions.
        while let action = actions.popFirst() { actions = perform(action)[...] + actions }
        if replacement != nil, !machine.isRunning { abandonReplacement() }
        if !machine.isLent, let ended = loan {
            ended.close()
            loan = nil
            owner.loanEnded(self, ended)
        }
        arm()
    }

    // MARK: Requests

    /// Makes a start that fails final, because the app is starting and can't do without the module.
    func mustStart() { machine.mustStart = true }

    /// Ends the module, because its row was removed from the manifest, or moved to another node.
    func remove(_ reason: String) {
        (isRemoved, isReturning) = (true, false)
        change { $0.stop(at: owner.loop.now, reason: reason) }
    }

    /// Notes that its new row is in force.
    func rowIsInForce() { isReturning = false }

    /// Starts the module.
    /// - Parameter byHand: Whether a person asks, who doesn't wait for the delay after failures.
    func start(reason: String, byHand: Bool) {
        if byHand, !machine.isRunning { isWantedByHand = true }
        change { $0.start(at: owner.loop.now, reason: reason, impatiently: byHand) }
    }

    /// Stops the module.
    /// - Parameter asksForTearDown: False if the broker has already done that.
    func stop(reason: String, asksForTearDown: Bool) {
        isWantedByHand = false
        change { $0.stop(at: owner.loop.now, reason: reason, asksForTearDown: asksForTearDown) }
    }

    /// Replaces the process because a person asks for it.
    func restart(reason: String) {
        if replacement == nil { isWantedByHand = true }
        guard row.replace == .overlap, machine.isReady, machine.hasBus else {
            return change { $0.stop(at: owner.loop.now, reason: reason, then: .start) }
        }
        replace(reason: reason)
    }

    /// Restarts a process that didn't answer a ping, and so would not answer tearDown either.
    func restartHung(reason: String) {
        let times = ModuleMachine.StopTimes(tearDown: 0, terminate: min(row.stop, 1_000))
        change {
            $0.stop(at: owner.loop.now, reason: reason, then: .start, asksForTearDown: false, within: times)
        }
    }

    /// Attaches a process that a person runs in place of the module, until that process ends.
    /// - Throws: If there is no such process.
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
        case .startFailed: owner.startFailed(self)
        case .becameReady(_, let milliseconds): owner.becameReady(self, milliseconds: milliseconds)
        case .stopped: owner.stopped(self)
        case .settled(let settled): owner.settled(self, settled)
        case .lent:
            // The process becomes the module's with the answer to the call.
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

    /// The reason why no process could be started.
    struct StartProblem: Error {
        var message: String
        /// Whether another attempt may succeed.
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
                mask: { [weak self] in self?.secrets.mask.masked($0) ?? $0 },
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

    /// Keeps the outputs of an ended process open, because a descendant may still write to them.
    /// Only the last few are kept.
    private func keep(_ outputs: [ProcessOutput]) {
        pastOutputs = (pastOutputs + outputs).filter { !$0.isClosed }
        while pastOutputs.count > 6 { pastOutputs.removeFirst().close() }
    }

    /// Checks the memory of the module's processes. Called each second.
    func checkMemory() {
        guard let most = process.limits.memory else { return }
        for one in all {
            guard let used = ProcessFiles.memory(of: one.pid), used > most else { continue }
            let reason = "it uses \(mebibytes(used)) of memory, over its limit of \(mebibytes(most))"
            if one === current {
                change { $0.doom(at: owner.loop.now, reason: reason, grace: 0) }
            } else {
                owner.console.say(of: name, "process \(one.pid): \(reason): it is killed")
                one.send(SIGKILL)
            }
        }
    }

    private var overMemory: String {
        "it reached its memory limit of \(mebibytes(process.limits.memory ?? 0)), and the kernel killed it"
    }

    private func mebibytes(_ bytes: UInt64) -> String {
        bytes >= 10 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }
}
