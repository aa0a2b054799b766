internal import Glibc
import StrataCore

/// `strata-broker` as a broker's next program: the file that this process was
/// started from, which may be another version by now.
///
/// A broker starts no processes, but for this trial: after `execve` there is no
/// way back, so the file must have shown before that it runs and understands.
final class NextProgram: NextBroker {
    /// How long a trial may take, in milliseconds.
    private static let patience: UInt64 = 5_000
    /// Of what a trial says, in bytes.
    private static let longestWords = 1_024
    /// Signals whose sender must not find this process without their watchers.
    private static let heldBack = [SIGTERM, SIGINT]

    private let loop: Loop
    private let path: String
    /// Where the launcher's end is seen; handed on.
    private let lifeline: Int32?
    private var trial: Trial?

    /// - Parameter path: absolute.
    init(_ loop: Loop, path: String, lifeline: Int32?) {
        self.loop = loop
        self.path = path
        self.lifeline = lifeline
    }

    /// The file that this process was started from, as it was named: a link in it
    /// leads to another version when that is installed.
    static var ownPath: String {
        let named = CommandLine.arguments[0]
        if named.hasPrefix("/") { return named }
        return ProcessFiles.executable() ?? named
    }

    // MARK: the trial

    private final class Trial {
        var child: ChildProcess?
        var reader: OutputReader?
        var timer: LoopTimer?
        var words: [UInt8] = []
        var isLate = false
    }

    func tryOut(_ state: Int32, then: @escaping (String?) -> Void) {
        defer { close(state) }
        let trial = Trial()
        do throws(SystemError) {
            try start(trial, state, then)
        } catch {
            trial.reader?.close()
            then("\(path) can't be started: \(error)")
            return
        }
        trial.timer = LoopTimer(loop) { [unowned trial] in
            trial.isLate = true
            trial.child?.kill(SIGKILL)
        }
        trial.timer?.start(after: Self.patience)
        self.trial = trial
    }

    private func start(_ trial: Trial, _ state: Int32, _ then: @escaping (String?) -> Void) throws(SystemError) {
        let output = try Pipe()
        defer { output.closeWriting() }
        trial.reader = try OutputReader(
            loop, descriptor: output.reading,
            onBytes: { [unowned trial] bytes in
                trial.words += bytes.prefix(max(0, Self.longestWords - trial.words.count))
            }, onEnd: {})
        var command = ChildProcess.Command(
            arguments: [path, "--try", "3"], environment: Self.environment, folder: "/")
        command.descriptors = [nil, nil, output.writing, state]
        trial.child = try ChildProcess(loop, command) { [unowned self] exit in ended(exit, then) }
    }

    private func ended(_ exit: ChildProcess.Exit, _ then: (String?) -> Void) {
        guard let trial else { return }
        self.trial = nil
        trial.reader?.drain()
        trial.reader?.close()
        trial.timer?.close()
        if exit == .code(0) { return then(nil) }
        if trial.isLate { return then("\(path) did not read its state within \(Self.patience) ms") }
        let words = String(decoding: trial.words, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
        then("\(path) was tried, and ended with \(exit)\(words.isEmpty ? "" : ": \(words)")")
    }

    private static var environment: [String] {
        var all: [String] = []
        var next = environ
        while let entry = next.pointee {
            all.append(String(cString: entry))
            next += 1
        }
        return all.filter { !$0.hasPrefix("STRATA_LIFELINE=") }
    }

    // MARK: the change

    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String? {
        var kept = descriptors + [state]
        if let lifeline { kept.append(lifeline) }
        defer {
            for descriptor in kept { try? Descriptors.hand(descriptor, on: false) }
            close(state)
        }
        do throws(SystemError) {
            for descriptor in kept { try Descriptors.hand(descriptor, on: true) }
        } catch {
            return "\(error)"
        }
        var (held, before) = (sigset_t(), sigset_t())
        sigemptyset(&held)
        for signal in Self.heldBack { sigaddset(&held, signal) }
        sigprocmask(SIG_BLOCK, &held, &before)
        let texts: [String] = [path, "--resume", "\(state)"]
        var words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        words.append(nil)
        execv(path, words)
        let code = errno
        sigprocmask(SIG_SETMASK, &before, nil)
        for word in words { free(word) }
        return "\(SystemError(code, "execute \(path)"))"
    }

    /// The next program watches its signals: those that came meanwhile come now.
    static func takeSignals() {
        var held = sigset_t()
        sigemptyset(&held)
        for signal in heldBack { sigaddset(&held, signal) }
        sigprocmask(SIG_UNBLOCK, &held, nil)
    }
}
