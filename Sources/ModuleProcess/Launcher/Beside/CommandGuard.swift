import Glibc
import StrataCore
import StrataLoop

/// The process between `strata test` and its command. It ends with the command, and nothing that the
/// command has started outlives it, even if `strata test` is killed.
///
/// `strata test` starts it with a lifeline. When that ends, `strata test` was killed: it then ends the
/// command, and removes the folder of the bus's socket.
public final class CommandGuard {
    /// The hidden command of `strata` that becomes it.
    public static let word = "test-guard"
    /// How long the command has to end after SIGTERM, in milliseconds.
    private static let grace: UInt64 = 2_000
    /// How long the socket's folder may stay in use after `strata test` was killed, in milliseconds.
    private static let patience: UInt64 = 15_000
    /// The pause between two looks for what is left.
    private static let pause: UInt64 = 10

    private enum State {
        case running
        /// The command has ended, and what it has started is killed.
        case sweeping
        /// `strata test` was killed, and the folder is still in use.
        case emptying(since: UInt64)
    }

    private let loop: Loop
    /// The folder of the bus's socket.
    private let folder: String
    private var state = State.running
    private var child: ChildProcess?
    private var watchers: [SignalWatcher] = []
    private var lifeline: OutputReader?
    private var timer: LoopTimer?
    /// Whether `strata test` is gone.
    private var isAlone = false
    private var isEnding = false
    private var code: Int32 = 0

    /// Runs a command until it has ended; takes over the process.
    /// - Parameters:
    ///   - words: The program's absolute path, followed by its arguments.
    ///   - folder: The folder of the bus's socket.
    ///   - environment: This process's environment, which is the command's.
    /// - Returns: The command's exit code; 128 and the signal's number if one ended it.
    public static func run(
        _ words: [String], folder: String, environment: [String: String]
    ) throws(LaunchError) -> Int32 {
        // A terminal sends these to the command, too, which decides.
        for ignored in [SIGINT, SIGQUIT, SIGHUP] { signal(ignored, SIG_IGN) }
        do throws(SystemError) {
            try ProcessControl.becomeSubreaper()
            ProcessControl.keepDescriptorsToItself()
            let loop = try Loop()
            let commandGuard = CommandGuard(loop, folder)
            try commandGuard.start(words, environment)
            withExtendedLifetime(commandGuard) { loop.run() }
            return commandGuard.code
        } catch {
            throw LaunchError(2, "the command can't be run: \(error)")
        }
    }

    private init(_ loop: Loop, _ folder: String) {
        (self.loop, self.folder) = (loop, folder)
        timer = LoopTimer(loop) { [unowned self] in timePassed() }
    }

    private func start(_ words: [String], _ environment: [String: String]) throws(SystemError) {
        watchers = [
            try SignalWatcher(loop, signal: SIGTERM) { [unowned self] in endCommand() },
            try SignalWatcher(loop, signal: SIGCHLD) { [unowned self] in reapAdopted() },
        ]
        lifeline = try OutputReader(
            loop, descriptor: Surroundings.lifelineDescriptor, onBytes: { _ in },
            onEnd: { [unowned self] in
                isAlone = true
                endCommand()
            })
        var command = ChildProcess.Command(
            arguments: words, environment: environment.map { "\($0.key)=\($0.value)" },
            folder: SocketChoice.currentFolder)
        // It may read from the terminal, and gets its ctrl-C.
        command.ownSession = false
        command.descriptors = [0, 1, 2]
        child = try ChildProcess(loop, command) { [unowned self] exit in
            code =
                switch exit {
                case .code(let code): code
                case .signal(let signal): 128 + signal
                }
            child = nil
            state = .sweeping
            sweep()
        }
    }

    /// Ends the command with SIGTERM; what is left of it after the grace is killed.
    private func endCommand() {
        guard let child else { return }
        guard !isEnding else {
            child.kill(SIGKILL)
            return
        }
        isEnding = true
        child.kill(SIGTERM)
        loop.updateTime()
        timer?.start(after: Self.grace)
    }

    private func timePassed() {
        switch state {
        case .running: child?.kill(SIGKILL)
        case .sweeping: sweep()
        case .emptying(let since):
            // The launcher ends with `strata test`, and the socket with the launcher.
            guard rmdir(folder) == 0 || errno == ENOENT || loop.now > since + Self.patience else {
                timer?.start(after: Self.pause)
                return
            }
            close()
        }
    }

    /// Kills what the command has left behind, one generation after another.
    private func sweep() {
        guard ProcessFiles.killChildren(except: { _ in false }).isEmpty else {
            timer?.start(after: Self.pause)
            return
        }
        guard isAlone else { return close() }
        loop.updateTime()
        state = .emptying(since: loop.now)
        timePassed()
    }

    private func reapAdopted() {
        for pid in ProcessFiles.children() where pid != child?.pid { ProcessFiles.reap(pid) }
    }

    private func close() {
        for watcher in watchers { watcher.close() }
        watchers = []
        lifeline?.close()
        timer?.close()
        (lifeline, timer) = (nil, nil)
    }
}
