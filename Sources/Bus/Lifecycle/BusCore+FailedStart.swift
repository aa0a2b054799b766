import StrataCore

/// Failed starts. A module whose start has failed holds nobody up: the app's start goes on without
/// it, and requests to it are `unavailable` until its next process says hello.
extension BusCore {
    /// Ends a session because its start has failed.
    /// - Parameters:
    ///   - why: the reason, as people read it after the module's name.
    ///   - message: the message of the session's last frame.
    func failStart(of module: ModuleRecord, _ peer: Peer, _ why: String, _ message: String) {
        // The start of a successor is not the module's: the session that serves continues.
        if module.peer === peer { module.history.startFailed(why) }
        end(peer, .failed, message)
    }

    /// Formats milliseconds for people.
    func duration(_ milliseconds: UInt64) -> String {
        milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    /// Whether a session that ends has failed its start: it wasn't ready, and neither a person nor
    /// the launcher has ended it to start another one.
    /// - Parameter reason: `closed`, the launcher's reason, or the code of the broker's error.
    func hasFailedStart(_ module: ModuleRecord, reason: String) -> Bool {
        guard stage == .running, !module.isReady, !module.isRetired else { return false }
        return reason != ErrorCode.shuttingDown.rawValue || module.said.verdict == .restarting
    }

    /// Returns why the start of a session failed that has ended.
    func failure(of module: ModuleRecord, _ reason: String) -> String {
        if !module.history.startFailure.isEmpty { return module.history.startFailure }
        if !module.said.reason.isEmpty { return module.said.reason }
        return reason == "closed"
            ? "it closed its connection before it was ready"
            : "the broker ended its connection with \(reason) before it was ready"
    }

    /// Notes that a module's start has failed. The app's start goes on without the module, unless
    /// its row is required: then the launcher ends the app.
    func startFailed(_ module: ModuleRecord, _ why: String) {
        module.history.startFailed(why)
        if module.row?.required == true {
            start.begins(again: module.number)
        } else {
            start.leave(module.number)
        }
    }

    /// Whether the launcher's word that a module restarts means that a start has failed: its last
    /// process ended before hello, or its session has ended like that already.
    func saysThatStartFailed(_ process: ModuleLife.Absence.Process, _ module: ModuleRecord) -> Bool {
        process == .restarting
            && (module.life.absence.process == .starting || !module.history.startFailure.isEmpty)
    }
}
