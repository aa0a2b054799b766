import Glibc
import StrataCore
import StrataLoop

/// Kills the processes that a command's programs leave behind, in whatever session.
///
/// This process adopts them. They are the children that the kernel lists for it and that it didn't
/// have before the command began.
final class Leftovers {
    /// How long killing may take, in milliseconds. It goes one generation after another.
    private static let patience = 2_000

    /// The children that an earlier program had before this process executed this one.
    private let earlier: Set<Int32>
    private var signals: [SignalWatcher] = []

    /// Adopts leftovers until `end`. A signal that ends this process kills them first.
    init(_ loop: Loop) throws(SystemError) {
        try ProcessControl.becomeSubreaper()
        earlier = Set(ProcessFiles.children())
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let watcher = try SignalWatcher(loop, signal: number) { [unowned self] in
                kill()
                // End as the process would have without the watcher.
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

    /// Kills all leftovers, and waits until they have ended.
    /// - Parameter running: The programs that are still asked. What they have started is theirs, not
    ///   this process's child.
    func kill(except running: Set<Int32> = []) {
        let kept = earlier.union(running)
        for _ in 0..<Self.patience {
            if ProcessFiles.killChildren(except: kept.contains).allSatisfy(kept.contains) { return }
            // because no signal reports that all descendants have ended
            usleep(1_000)
        }
    }

    func end() {
        kill()
        for watcher in signals { watcher.close() }
        ProcessControl.endSubreaping()
    }
}
