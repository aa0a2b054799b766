import Glibc
import StrataCore
import StrataLoop

/// What the programs that a command started have left behind, in whatever session: this
/// process adopts it, and kills it.
///
/// Whose a process is the kernel says: it is a child of this one, which none of them was
/// before the command's own began.
final class Leftovers {
    /// How long killing may take, in milliseconds: one generation after another.
    private static let patience = 2_000

    /// Children that another program left to this process when it became this one.
    private let earlier: Set<Int32>
    private var signals: [SignalWatcher] = []

    /// Until `end` a signal that would end this process kills them first.
    init(_ loop: Loop) throws(SystemError) {
        try ProcessControl.becomeSubreaper()
        earlier = Set(ProcessFiles.children())
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let watcher = try SignalWatcher(loop, signal: number) { [unowned self] in
                kill()
                // As it would have ended without a watcher.
                signal(number, SIG_DFL)
                var one = sigset_t()
                sigemptyset(&one)
                sigaddset(&one, number)
                pthread_sigmask(SIG_UNBLOCK, &one, nil)
                raise(number)
            }
            signals.append(watcher)
        }
    }

    /// Kills all that is left, and waits for its end.
    func kill() {
        for _ in 0..<Self.patience
        where !ProcessFiles.killChildren(except: earlier.contains).allSatisfy(earlier.contains) {
            // because no signal tells when all descendants have ended
            usleep(1_000)
        }
    }

    func end() {
        kill()
        for watcher in signals { watcher.close() }
        ProcessControl.endSubreaping()
    }
}
