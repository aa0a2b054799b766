import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// The work behind `strata test`: an app on a bus of its own, and a command beside it. Each is a child
/// of this process, and the end of one ends the other.
public final class TestRun {
    /// The exit code if the app can't start, or ends before the command.
    static let appFailed: Int32 = 3
    /// How long the command has to end by itself after the terminal's ctrl-C, in milliseconds.
    private static let grace: UInt64 = 2_000
    /// How long after SIGTERM the command is killed, in milliseconds: longer than `CommandGuard` waits.
    private static let killedAfter: UInt64 = 4_000
    /// The pause between two looks for what is left.
    private static let sweepPause: UInt64 = 5

    /// The first thing that ended the run.
    private enum Cause {
        case command
        case signal(Int32)
        case app(String)
    }

    private let loop: Loop
    private let app: TestedApp
    private let words: [String]
    private let environment: [String: String]
    /// The folder of the bus's socket.
    private let folder: String
    /// Nil unless the app's lines are shown only if the command fails.
    private let kept: KeptLines?
    private let lifeline: Pipe
    private var launcher: ChildProcess?
    private var command: ChildProcess?
    private var output: ProcessOutput?
    private var ready: OutputReader?
    private var watchers: [SignalWatcher] = []
    private var timer: LoopTimer?
    private var cause: Cause?
    /// The command's exit code, once it has ended.
    private var code: Int32?
    private var hasStarted = false
    /// Whether the command has got SIGTERM.
    private var isTerminated = false

    /// Runs an app until the command has ended; takes over the process.
    ///
    /// The app's lines go to standard error. The command has this process's standard streams.
    /// - Parameters:
    ///   - app: The app, and the rows that the command plays.
    ///   - words: The command: the program's absolute path, followed by its arguments.
    ///   - isQuiet: Whether the app's lines are shown only if the command fails, and then the last 200.
    ///   - environment: This process's environment.
    /// - Returns: The exit code: the command's, or 128 and a signal's number.
    /// - Throws: Code 2 for a played row that the manifest doesn't have, code 3 if the app can't start or
    ///   ends before the command.
    public static func run(
        _ app: TestedApp, words: [String], isQuiet: Bool, environment: [String: String]
    ) throws(LaunchError) -> Int32 {
        let manifest = try app.manifest(environment)
        // The reader of the output may end before the app.
        signal(SIGPIPE, SIG_IGN)
        let folder = try makeFolder()
        // If this process is killed, the command's guard removes it.
        defer { rmdir(folder) }
        let run: TestRun
        do throws(SystemError) {
            try ProcessControl.becomeSubreaper()
            ProcessControl.keepDescriptorsToItself()
            run = TestRun(
                try Loop(), app, words, Self.environment(environment, manifest, folder), folder: folder,
                isQuiet: isQuiet, lifeline: try Pipe(readingBlocks: true))
            try run.start(environment)
        } catch {
            throw LaunchError(appFailed, "\(error)")
        }
        withExtendedLifetime(run) { run.loop.run() }
        return try run.result()
    }

    private init(
        _ loop: Loop, _ app: TestedApp, _ words: [String], _ environment: [String: String], folder: String,
        isQuiet: Bool, lifeline: Pipe
    ) {
        (self.loop, self.app, self.words, self.environment) = (loop, app, words, environment)
        (self.folder, self.lifeline) = (folder, lifeline)
        kept = isQuiet ? KeptLines() : nil
        timer = LoopTimer(loop) { [unowned self] in timePassed() }
    }

    /// Returns the command's environment: this process's, without what one module was told.
    private static func environment(
        _ own: [String: String], _ manifest: Manifest, _ folder: String
    ) -> [String: String] {
        var all = own
        for name in ["STRATA_MODULE", "STRATA_TOKEN", "STRATA_LIFELINE", "STRATA_ENV", "STRATA_SPANS"] {
            all[name] = nil
        }
        all["STRATA_SOCKET"] = socket(in: folder)
        let name = manifest.path.split(separator: "/").last.map(String.init) ?? manifest.path
        all["STRATA_MANIFEST"] = "\(manifest.folder == "/" ? "" : manifest.folder)/\(name)"
        return all
    }

    private static func socket(in folder: String) -> String { "\(folder)/app.sock" }

    /// Makes the socket's folder, which only this user may enter. It is in /tmp, because a socket's path
    /// must be short.
    private static func makeFolder() throws(LaunchError) -> String {
        var template = Array("/tmp/strata-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LaunchError(appFailed, "no folder can be made in /tmp: \(String(cString: strerror(errno)))")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: The start

    private func start(_ own: [String: String]) throws(SystemError) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            watchers.append(try SignalWatcher(loop, signal: number) { [unowned self] in ordered(number) })
        }
        watchers.append(try SignalWatcher(loop, signal: SIGCHLD) { [unowned self] in reapAdopted() })
        let ready = try Pipe()
        defer { ready.closeWriting() }
        let lines = kept == nil ? nil : try Pipe()
        defer { lines?.closeWriting() }
        var process = LocalProcess.command(
            ["\(Programs.folder)/strata", TestedApp.word, app.path, Self.socket(in: folder)]
                + app.node.arguments + app.played.flatMap { ["--play", $0] },
            environment: own.map { "\($0.key)=\($0.value)" })
        let errors = lines?.writing ?? STDERR_FILENO
        process.descriptors = [nil, errors, errors, ready.writing]
        launcher = try ChildProcess(loop, process) { [unowned self] in launcherEnded($0) }
        self.ready = try OutputReader(
            loop, descriptor: ready.reading, onBytes: { [unowned self] _ in startCommand() }, onEnd: {})
        if let lines, let kept {
            output = try ProcessOutput(loop, descriptor: lines.reading) { kept.write(line: $0) }
        }
    }

    private func startCommand() {
        guard !hasStarted, cause == nil else { return }
        hasStarted = true
        do throws(SystemError) {
            let lifeline = try lifeline.reopenReading()
            defer { Glibc.close(lifeline) }
            var process = ChildProcess.Command(
                arguments: ["\(Programs.folder)/strata", CommandGuard.word, folder] + words,
                environment: environment.map { "\($0.key)=\($0.value)" }, folder: SocketChoice.currentFolder)
            // It may read from the terminal, and gets its ctrl-C.
            process.ownSession = false
            process.descriptors = [0, 1, 2, lifeline]
            command = try ChildProcess(loop, process) { [unowned self] in commandEnded($0) }
        } catch {
            end(.app("the command can't be started: \(error)"))
        }
    }

    // MARK: The end

    private func commandEnded(_ exit: ChildProcess.Exit) {
        command = nil
        timer?.stop()
        code =
            switch exit {
            case .code(let code): code
            case .signal(let signal): 128 + signal
            }
        end(.command)
    }

    private func launcherEnded(_ exit: ChildProcess.Exit) {
        launcher = nil
        output?.processEnded()
        end(.app(hasStarted ? "the app ended before the command, with \(exit)" : "the app could not start: \(exit)"))
    }

    /// Handles a signal. A second one kills everything at once.
    private func ordered(_ signal: Int32) {
        guard cause == nil else {
            command?.kill(SIGKILL)
            launcher?.kill(SIGTERM)
            return
        }
        // What the terminal sends to all of its processes, the command has got already.
        let isTold = signal == SIGINT && command != nil && ControllingTerminal.isInForeground
        if isTold { timer?.start(after: Self.grace) }
        end(.signal(signal), isTold: isTold)
    }

    /// Ends what still runs; only the first cause counts.
    /// - Parameter isTold: Whether the command knows already, and has some time to end by itself.
    private func end(_ cause: Cause, isTold: Bool = false) {
        if self.cause == nil {
            self.cause = cause
            if case .signal(SIGINT) = cause { launcher?.kill(SIGINT) } else { launcher?.kill(SIGTERM) }
            if !isTold { terminate() }
        }
        if launcher == nil, command == nil { sweep() }
    }

    private func terminate() {
        guard let command else { return }
        isTerminated = true
        command.kill(SIGTERM)
        loop.updateTime()
        timer?.start(after: Self.killedAfter)
    }

    private func timePassed() {
        if command == nil, launcher == nil { return sweep() }
        if isTerminated { command?.kill(SIGKILL) } else { terminate() }
    }

    /// Kills what is left after a guard or a launcher was killed, one generation after another.
    private func sweep() {
        guard ProcessFiles.killChildren(except: { _ in false }).isEmpty else {
            timer?.start(after: Self.sweepPause)
            return
        }
        for watcher in watchers { watcher.close() }
        watchers = []
        timer?.close()
        ready?.close()
        output?.close()
        (timer, ready, output) = (nil, nil, nil)
    }

    private func reapAdopted() {
        for pid in ProcessFiles.children() where pid != command?.pid && pid != launcher?.pid { ProcessFiles.reap(pid) }
    }

    /// Returns the exit code, once all has ended, and shows the lines that were kept if it isn't 0.
    private func result() throws(LaunchError) -> Int32 {
        let error: LaunchError?
        var result = code ?? 0
        switch cause {
        case .app(let message): error = LaunchError(Self.appFailed, message)
        case .signal(let signal):
            error = nil
            if code == nil { result = 128 + signal }
        case .command, nil: error = nil
        }
        if let kept, error != nil || result != 0 {
            let sink = DescriptorSink(descriptor: STDERR_FILENO)
            kept.write(to: sink)
            sink.finish(within: 1_000)
        }
        if let error { throw error }
        return result
    }
}
