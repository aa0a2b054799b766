internal import Glibc
import StrataCore
import StrataLoop

/// `strata-broker` as a broker's next program: the file from which this process was started, which
/// may be another version by now.
///
/// A broker starts no processes except for this trial. There is no way back after `execve`, so the
/// file must have shown before that it runs and understands the state.
final class NextProgram: NextBroker {
    /// Signals that must not reach the process before the next program watches them.
    private static let heldBack = [SIGTERM, SIGINT]

    private let loop: Loop
    private let path: String
    /// The pipe by which the launcher's end is noticed; the next program gets it too.
    private let lifeline: Int32?
    private var trial: Trial?
    /// The file that was tried. Only the same file is executed.
    private var tried: ProgramFile.Identity?

    /// - Parameter path: an absolute path.
    init(_ loop: Loop, path: String, lifeline: Int32?) {
        self.loop = loop
        self.path = path
        self.lifeline = lifeline
    }

    /// The path from which this process was started, as it was written. A link in it leads to
    /// another version once that is installed.
    static var ownPath: String {
        let named = CommandLine.arguments[0]
        if named.hasPrefix("/") { return named }
        return ProcessFiles.executable() ?? named
    }

    // MARK: the trial

    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void) {
        defer { close(state) }
        // Taken before the trial, so that a file that replaces it from now on is noticed.
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
                    ? "\(path) is not a program: it is neither an ELF file nor begins with #!"
                    : "\(path) can't be started: \(error)")
        }
    }

    /// Ends a trial, because the app ends.
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
            // If this process continues, programs that it starts must not inherit them.
            for descriptor in kept { try? Descriptors.hand(descriptor, on: false) }
        }
        do throws(SystemError) {
            for descriptor in kept { try Descriptors.hand(descriptor, on: true) }
        } catch {
            return "\(error)"
        }
        // Until the next program watches these signals, they would kill it.
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

    /// Unblocks the signals, because the next program watches them. Those that came meanwhile are
    /// delivered now.
    static func takeSignals() {
        var held = sigset_t()
        sigemptyset(&held)
        for signal in heldBack { sigaddset(&held, signal) }
        sigprocmask(SIG_UNBLOCK, &held, nil)
    }
}

/// The replacement of a running broker: its program, executed again in place (`NextProgram`).
public protocol NextBroker: AnyObject {
    /// Tests whether the next program understands a state, while this one continues.
    /// - Parameters:
    ///   - state: a sealed file; the callee closes its descriptor.
    ///   - answer: the exact output of a program that has understood it.
    ///   - then: called once, on the loop's thread, with nil or with the reason why it didn't.
    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void)

    /// Becomes the next program.
    /// - Parameters:
    ///   - state: a sealed file; the callee closes it if it returns.
    ///   - descriptors: the descriptors that must stay open.
    ///   - letGo: leaves all of them to another broker of this process.
    /// - Returns: why this failed; nil if another broker of this process continues.
    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String?
}
