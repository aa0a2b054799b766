import StrataCore
import StrataManifest

/// A module's place, lent to a process that a person runs: the token that the process
/// shows, and the watch for its end.
final class Loan {
    let process: ProcessIdentity
    let token = Token.make()
    /// The row that the process got; nil until it has the place.
    private(set) var startedAs: ModuleProcess?
    private let watcher: ProcessEndWatcher

    var pid: Int32 { process.pid }

    /// - Parameter onEnd: the process has ended.
    /// - Throws: where there is no such process any more.
    init(_ process: ProcessIdentity, _ loop: Loop, onEnd: @escaping () -> Void) throws(SystemError) {
        self.process = process
        watcher = try ProcessEndWatcher(loop, process, onEnd: onEnd)
    }

    /// It has the place, with this row.
    func took(as process: ModuleProcess) { startedAs = process }

    func close() { watcher.close() }
}
