import Glibc
import StrataCore
import StrataLoop
import StrataManifest
import StrataOperator

/// One process of a module from its start to its end: the child, its output, its token and its
/// limits.
final class SupervisedProcess {
    let identity: ProcessIdentity
    /// The token that it shows to the broker, which the launcher has told the broker.
    let token: String
    /// The row that it was started with.
    let startedAs: ModuleProcess
    /// When it was started, in microseconds since 1970.
    let spawnedAt: UInt64
    /// When it was started, in milliseconds on the loop's clock.
    let startedAt: UInt64
    let outputs: [ProcessOutput]
    /// Whether a person had it started.
    let isByHand: Bool
    private(set) var lastLines = LastLines()

    private unowned let owner: any SupervisorOwner
    private let child: ChildProcess
    private var endTimer: LoopTimer?
    private var group: ControlGroup?
    /// Whether the kernel killed it, or a part of it, for exceeding its memory limit. Known once it
    /// has ended.
    private(set) var wasKilledForMemory = false

    /// Starts the process.
    /// - Parameters:
    ///   - number: The number of the module's process; 1 for the first.
    ///   - isByHand: Whether a person had it started.
    ///   - mask: Returns a line without the row's secrets.
    ///   - onLine: Called with each line that it, or a descendant of it, wrote.
    ///   - onExit: Called when it has ended and all of its output has been read.
    init(
        _ row: AppTable.Row, _ process: ModuleProcess, executable: String, number: Int, isByHand: Bool,
        _ owner: any SupervisorOwner, mask: @escaping ([UInt8]) -> [UInt8], onLine: @escaping (OutputLine) -> Void,
        onExit: @escaping (SupervisedProcess, ChildProcess.Exit) -> Void
    ) throws(SystemError) {
        self.owner = owner
        startedAs = process
        self.isByHand = isByHand
        token = Token.make()
        let command = Self.command(row, process, executable, token, owner.surroundings)
        let relay = Relay()
        (child, outputs) = try Self.start(
            command, owner,
            onLine: { stream, written in
                let (severity, bytes) = Severity.split(mask(written))
                relay.process?.lastLines.add(bytes)
                onLine(
                    OutputLine(
                        at: Loop.wallMicroseconds, stream: stream, pid: relay.pid, start: number, severity: severity,
                        bytes: bytes))
            },
            onExit: { exit in
                guard let process = relay.process else { return }
                process.ended()
                onExit(process, exit)
            })
        // A child that was not waited for keeps its number.
        identity = ProcessIdentity(pid: child.pid) ?? .ended(child.pid)
        relay.pid = child.pid
        spawnedAt = Loop.wallMicroseconds
        // Starting took a moment, so measure from here.
        owner.loop.updateTime()
        startedAt = owner.loop.now
        relay.process = self
        group = owner.groups?.make(row.name, memory: process.limits.memory)
        if let group, !group.add(pid) {
            owner.groups?.end(group)
            self.group = nil
        }
        if !Self.isAnothers(row) { limit(as: process) }
    }

    var pid: Int32 { identity.pid }

    /// The link from the child's callbacks, which are made first, to this object.
    private final class Relay {
        weak var process: SupervisedProcess?
        /// Valid even after the process has ended: a descendant may continue to write.
        var pid: Int32 = 0
    }

    private static func isAnothers(_ row: AppTable.Row) -> Bool { row.user.map { $0 != geteuid() } ?? false }

    private static func command(
        _ row: AppTable.Row, _ process: ModuleProcess, _ executable: String, _ token: String,
        _ surroundings: Surroundings
    ) -> ChildProcess.Command {
        let words = [executable] + process.run.dropFirst()
        var bus = [
            "STRATA_SOCKET": surroundings.socket, "STRATA_MODULE": row.name, "STRATA_TOKEN": token,
            "STRATA_ENV": surroundings.env, "STRATA_LIFELINE": "\(Surroundings.lifelineDescriptor)",
        ]
        bus["STRATA_SPANS"] = surroundings.spans
        var command = ChildProcess.Command(
            arguments: isAnothers(row) ? LimitedCommand.words(words, process.limits) : words,
            environment: ProcessEnvironment.module(
                process, inherited: surroundings.inherited, user: row.user, bus: bus),
            folder: process.folder)
        if let user = row.user, isAnothers(row) {
            command.user = (user, ProcessEnvironment.group(of: user, appGroup: surroundings.group))
        }
        return command
    }

    private static func start(
        _ command: ChildProcess.Command, _ owner: any SupervisorOwner,
        onLine: @escaping (OutputLine.Stream, [UInt8]) -> Void, onExit: @escaping (ChildProcess.Exit) -> Void
    ) throws(SystemError) -> (ChildProcess, [ProcessOutput]) {
        var command = command
        let lifeline = try owner.surroundings.lifeline.reopenReading()
        defer { Glibc.close(lifeline) }
        let output = try Pipe()
        defer { output.closeWriting() }
        let errors: Pipe
        do throws(SystemError) { errors = try Pipe() } catch {
            output.closeReading()
            throw error
        }
        defer { errors.closeWriting() }
        if let user = command.user {
            output.give(to: user.uid)
            errors.give(to: user.uid)
        }
        command.descriptors = [nil, output.writing, errors.writing, lifeline]
        let child: ChildProcess
        do throws(SystemError) { child = try ChildProcess(owner.loop, command, onExit: onExit) } catch {
            output.closeReading()
            errors.closeReading()
            throw error
        }
        // Without a reader, the process writes into a broken pipe, and continues.
        let pipes: [(Pipe, OutputLine.Stream)] = [(output, .out), (errors, .err)]
        let outputs = pipes.compactMap { pipe, stream in
            try? ProcessOutput(owner.loop, descriptor: pipe.reading) { onLine(stream, $0) }
        }
        return (child, outputs)
    }

    /// Applies the limits of the process's row.
    func limit(as process: ModuleProcess) {
        do {
            if let files = process.limits.files { try ProcessControl.limitFiles(of: pid, to: files) }
            _ = group?.limitMemory(process.limits.memory)
            if let processes = process.limits.processes { try ProcessControl.limitProcesses(of: pid, to: processes) }
        } catch {
            owner.console.say(
                of: process.name, "its limits could not be set; they apply from its next start: \(error)")
        }
    }

    // MARK: The end

    /// Sends a signal. SIGKILL goes to the whole process group.
    func send(_ signal: Int32) {
        if signal == SIGKILL { Glibc.kill(-pid, SIGKILL) }
        child.kill(signal)
    }

    /// Sends SIGTERM after `time` milliseconds, and SIGKILL `grace` milliseconds later if the
    /// process is still running. A second call replaces the first.
    func end(in time: UInt64, grace: UInt64) {
        endTimer?.close()
        let timer = LoopTimer(owner.loop) { [unowned self] in
            self.send(SIGTERM)
            self.endTimer?.close()
            let last = LoopTimer(self.owner.loop) { [unowned self] in self.send(SIGKILL) }
            last.start(after: grace)
            self.endTimer = last
        }
        timer.start(after: time)
        endTimer = timer
    }

    private func ended() {
        endTimer?.close()
        endTimer = nil
        for output in outputs { output.processEnded() }
        // Kill what the process started in the first group of its session. The group's number can't
        // have been reused yet, because the process was waited for just now.
        Glibc.kill(-pid, SIGKILL)
        if let group {
            wasKilledForMemory = group.memoryKills > 0
            owner.groups?.end(group)
        }
        owner.loop.updateTime()
    }

    /// Stops all callbacks.
    func close() {
        endTimer?.close()
        endTimer = nil
        for output in outputs { output.close() }
        child.close()
    }
}

/// The history of a module's processes: how many were started, and how the last one ended.
struct ProcessHistory {
    /// How a process ended.
    struct End {
        var pid: Int32
        var exit: ChildProcess.Exit
        /// Both times are in microseconds since 1970.
        var startedAt: UInt64
        var endedAt: UInt64
        /// The last lines that it wrote.
        var lines: [String]
    }

    /// The number of processes that were started.
    private(set) var starts = 0
    private(set) var lastEnd: End?

    /// The number of processes that were started after the first one.
    var restarts: Int { max(0, starts - 1) }

    mutating func started() { starts += 1 }

    mutating func ended(_ process: SupervisedProcess, _ exit: ChildProcess.Exit) {
        lastEnd = End(
            pid: process.pid, exit: exit, startedAt: process.spawnedAt, endedAt: Loop.wallMicroseconds,
            lines: process.lastLines.lines)
    }
}
