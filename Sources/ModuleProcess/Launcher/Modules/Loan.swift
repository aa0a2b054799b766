import StrataCore
import StrataManifest

/// A module's place, lent to a process that a person runs: the token that the process
/// shows, and the watch for its end.
final class Loan {
    let pid: Int32
    let token = Token.make()
    /// The row that the process got; nil until it has the place.
    var startedAs: ModuleProcess?
    private let watcher: ProcessEndWatcher

    /// - Parameter onEnd: the process has ended.
    /// - Throws: where there is no such process.
    init(_ pid: Int32, _ loop: Loop, onEnd: @escaping () -> Void) throws(SystemError) {
        self.pid = pid
        watcher = try ProcessEndWatcher(loop, pid: pid, onEnd: onEnd)
    }

    func close() { watcher.close() }
}
