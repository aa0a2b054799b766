internal import Glibc
import StrataCore
import StrataLoop

/// `strata-broker` as a broker's next program: the file that this process was
/// started from, which may be another version by now.
///
/// A broker starts no processes, but for this trial: after `execve` there is no
/// way back, so the file must have shown before that it runs and understands.
final class NextProgram: NextBroker {
    /// Signals whose sender must not find this process without their watchers.
    private static let heldBack = [SIGTERM, SIGINT]

    private let loop: Loop
    private let path: String
    /// Where the launcher's end is seen; handed on.
    private let lifeline: Int32?
    private var trial: Trial?
    /// The file that was tried: the same one is executed, or none.
    private var tried: ProgramFile.Identity?

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

    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void) {
        defer { close(state) }
        // Before the trial: what takes the file's place from now on is another one.
        tried = ProgramFile.Identity(path)
        do throws(SystemError) {
            trial = try Trial(loop, path, state: state, expecting: answer) { [unowned self] problem in
                let trial = trial
                self.trial = nil
                withExtendedLifetime(trial) { then(problem) }
            }
        } catch {
            then(
                error.code == ENOEXEC
                    ? "\(path) is no program: it begins neither as ELF does nor with #!"
                    : "\(path) can't be started: \(error)")
        }
    }

    /// The app ends: nobody waits for a trial.
    func giveUp() { trial?.end("was being tried when the app ended") }

    // MARK: the change

    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String? {
        defer { close(state) }
        guard tried != nil, tried == ProgramFile.Identity(path) else {
            return "\(path) was changed after it was tried: try again"
        }
        var kept = descriptors + [state]
        if let lifeline { kept.append(lifeline) }
        defer {
            for descriptor in kept { try? Descriptors.hand(descriptor, on: false) }
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

/// What a broker may be replaced with while it runs: its program executed anew,
/// in place (`NextProgram`).
public protocol NextBroker: AnyObject {
    /// Lets the next one show that it understands a state, while this one goes on.
    /// - Parameters:
    ///   - state: a sealed file, whose descriptor is the callee's to close.
    ///   - answer: what one that has understood it says, exactly.
    ///   - then: called once, on the loop's thread: nil, or why it doesn't.
    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void)

    /// Becomes the next one.
    /// - Parameters:
    ///   - state: a sealed file; closed by the callee where it returns.
    ///   - descriptors: what must stay open.
    ///   - letGo: leaves all of them to another broker of this process.
    /// - Returns: why it could not be; nil where another broker goes on here.
    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String?
}
