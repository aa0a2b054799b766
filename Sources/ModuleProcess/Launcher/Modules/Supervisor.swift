import Glibc
import StrataCore
import StrataManifest

/// What a supervisor needs of those around it.
protocol SupervisorOwner: AnyObject {
    var loop: Loop { get }
    var console: Console { get }
    /// What each process gets: socket, env, lifeline.
    var surroundings: Surroundings { get }

    /// A process was started: the broker must know it.
    func vouch(for supervisor: Supervisor)
    func tell(_ report: ModuleReport, of supervisor: Supervisor)
    /// Ask the broker for tearDown, then call `retired`.
    func retire(_ supervisor: Supervisor)
    func passedSetUp(_ supervisor: Supervisor)
    func becameReady(_ supervisor: Supervisor, milliseconds: UInt64)
    func settled(_ supervisor: Supervisor, _ settled: ModuleMachine.Settled)
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

    /// Where a process finds the lifeline.
    static let lifelineDescriptor: Int32 = 3
}

/// Drives one module's `ModuleMachine`: owns its process, its output and its
/// timer, and performs what the machine decides.
final class Supervisor {
    let name: String
    private(set) var row: AppTable.Row
    private(set) var process: ModuleProcess
    private(set) var machine: ModuleMachine
    /// Of the present process; what the broker was told.
    private(set) var token = ""
    /// When the last process was started, in microseconds since 1970.
    private(set) var spawnedAt: UInt64 = 0
    /// Since when it is to be ready and is not.
    private(set) var notReadySince: UInt64 = 0

    /// Its row was taken out of the manifest; it ends.
    var isRemoved = false

    private unowned let owner: any SupervisorOwner
    /// What the present process was started with.
    private var startedAs: ModuleProcess?
    private var child: ChildProcess?
    private var outputs: [ProcessOutput] = []
    private var lastLines = LastLines()
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

    /// The manifest was read again; a running process stays as it is.
    func update(_ row: AppTable.Row, _ process: ModuleProcess, startup: UInt64) {
        self.row = row
        self.process = process
        machine.policy = Self.policy(row, process, startup)
        if let pid = machine.pid { limit(pid) }
    }

    /// What of its row the present process was not started with: keys of the
    /// manifest, which take effect at the next start.
    var pending: [String] {
        guard machine.pid != nil, let startedAs else { return [] }
        var keys: [String] = []
        if startedAs.run != process.run || startedAs.executable != process.executable { keys.append("run") }
        if startedAs.folder != process.folder { keys.append("folder") }
        if startedAs.user != process.user { keys.append("user") }
        if startedAs.env != process.env { keys.append("env") }
        return keys
    }

    /// Nothing is left of it and it will not be used again.
    func close() {
        timer?.close()
        timer = nil
        for output in outputs { output.close() }
        outputs = []
        child?.close()
        child = nil
    }

    /// Lets an event happen to the machine, and does what follows from it.
    func change(_ event: (inout ModuleMachine) -> [ModuleMachine.Action]) {
        let wasAtRest = machine.activity == nil
        var actions = event(&machine)[...]
        if wasAtRest, machine.activity != nil { notReadySince = owner.loop.now }
        // What an action brings about, such as a process that can't be started,
        // comes before the actions that were to follow it.
        while let action = actions.popFirst() { actions = perform(action)[...] + actions }
        arm()
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
        case .signal(let signal): send(signal)
        case .passedSetUp: owner.passedSetUp(self)
        case .becameReady(_, let milliseconds): owner.becameReady(self, milliseconds: milliseconds)
        case .settled(let settled): owner.settled(self, settled)
        case .note(let text): owner.console.say(of: name, text)
        }
        return []
    }

    // MARK: The process

    private func spawn() -> [ModuleMachine.Action] {
        let now = owner.loop.now
        guard let executable = process.executable, !process.run.isEmpty else {
            return machine.couldNotSpawn("its row has no `run`: start it by hand", isTemporary: false, at: now)
        }
        if let problem = Executable.problem(executable, folder: process.folder) {
            return machine.couldNotSpawn(problem, isTemporary: false, at: now)
        }
        token = Token.make()
        lastLines.clear()
        do {
            let child = try start(executable)
            self.child = child
            startedAs = process
            spawnedAt = Loop.wallMicroseconds
            // Starting took a moment: what follows is measured from here.
            owner.loop.updateTime()
            if !isAnothers { limit(child.pid) }
            let actions = machine.spawned(child.pid, at: owner.loop.now)
            for action in actions { _ = perform(action) }
            owner.vouch(for: self)
            return []
        } catch {
            return machine.couldNotSpawn(
                Executable.explain(error, executable), isTemporary: Executable.isTemporary(error), at: now)
        }
    }

    private func start(_ executable: String) throws(SystemError) -> ChildProcess {
        let surroundings = owner.surroundings
        let words = [executable] + process.run.dropFirst()
        var command = ChildProcess.Command(
            arguments: isAnothers ? LimitedCommand.words(words, process.limits) : words,
            environment: ProcessEnvironment.module(
                process, inherited: surroundings.inherited, user: row.user,
                bus: [
                    "STRATA_SOCKET": surroundings.socket, "STRATA_MODULE": name, "STRATA_TOKEN": token,
                    "STRATA_ENV": surroundings.env, "STRATA_LIFELINE": "\(Surroundings.lifelineDescriptor)",
                ]),
            folder: process.folder)
        if let user = row.user, isAnothers {
            command.user = (user, ProcessEnvironment.group(of: user, appGroup: surroundings.group))
        }
        let lifeline = try surroundings.lifeline.reopenReading()
        defer { Glibc.close(lifeline) }
        let output = try Pipe()
        defer { output.closeWriting() }
        let errors: Pipe
        do throws(SystemError) { errors = try Pipe() } catch {
            output.closeReading()
            throw error
        }
        defer { errors.closeWriting() }
        command.descriptors = [nil, output.writing, errors.writing, lifeline]
        let child: ChildProcess
        do throws(SystemError) {
            child = try ChildProcess(owner.loop, command) { [unowned self] exit in self.ended(exit) }
        } catch {
            output.closeReading()
            errors.closeReading()
            throw error
        }
        forgetOldOutputs()
        for pipe in [output, errors] {
            // Without a reader the process writes into a pipe that breaks, and goes on.
            if let reader = try? ProcessOutput(
                owner.loop, descriptor: pipe.reading, emit: { [weak self] in self?.wrote($0) })
            {
                outputs.append(reader)
            }
        }
        return child
    }

    private func wrote(_ line: [UInt8]) {
        lastLines.add(line)
        owner.console.line(of: name, line)
    }

    /// A descendant may hold the output of a process that is gone; the outputs of
    /// the last few such are read on.
    private func forgetOldOutputs() {
        outputs.removeAll { $0.isClosed }
        while outputs.count > 6 { outputs.removeFirst().close() }
    }

    /// Its process is another user's than the launcher.
    private var isAnothers: Bool { row.user.map { $0 != geteuid() } ?? false }

    private func limit(_ pid: Int32) {
        do {
            if let files = process.limits.files { try ProcessControl.limitFiles(of: pid, to: files) }
            if let processes = process.limits.processes { try ProcessControl.limitProcesses(of: pid, to: processes) }
        } catch {
            owner.console.say(of: name, "its limits could not be set, and hold from its next start: \(error)")
        }
    }

    private func send(_ signal: Int32) {
        guard let child else { return }
        if signal == SIGKILL { Glibc.kill(-child.pid, SIGKILL) }
        child.kill(signal)
    }

    private func ended(_ exit: ChildProcess.Exit) {
        for output in outputs { output.processEnded() }
        // What it started in its session's first group doesn't outlive it. The
        // number can't be another group's yet: it was waited for just now.
        if let pid = child?.pid { Glibc.kill(-pid, SIGKILL) }
        child = nil
        owner.loop.updateTime()
        let lines = lastLines.lines
        change { $0.exited(exit, lastLines: lines, at: owner.loop.now) }
    }

    /// Looks at the memory that it uses; called each second.
    func checkMemory() {
        guard let most = process.limits.memory, let pid = machine.pid, let used = ProcessFiles.memory(of: pid),
            used > most
        else { return }
        let reason = "it uses \(mebibytes(used)) of memory, and its limit is \(mebibytes(most))"
        change { $0.doom(at: owner.loop.now, reason: reason, grace: 0) }
    }

    private func mebibytes(_ bytes: UInt64) -> String {
        bytes >= 10 << 20 ? "\(bytes >> 20) MiB" : "\(bytes >> 10) KiB"
    }
}
