internal import StrataCore

/// The wait for handlers that run when tearDown is asked for: what a module is
/// asked before it is stopped or replaced is answered still.
extension ModuleRuntime {
    /// Calls back when no handler runs that somebody waits for within a time, or
    /// when half of the time for tearDown has passed; that time is from `scope`.
    /// A call without a deadline, a stream that may go on for ever, is not waited
    /// for. Without a scope, at SIGTERM, nothing is.
    func whenHandlersAreDone(_ scope: CallScope?, then: @escaping () -> Void) {
        guard let session, session.hasUnfinished, let left = scope?.remaining, left > 1 else {
            then()
            return
        }
        finishing = then
        session.onHandlersDone = { [weak self] in self?.stopFinishing() }
        let timer = LoopTimer(ModuleExecutor.shared.loop) { [weak self] in self?.stopFinishing() }
        timer.start(after: left / 2)
        finishingTimer = timer
    }

    /// Handlers are not waited for any longer.
    func stopFinishing() {
        guard let then = finishing else { return }
        finishing = nil
        finishingTimer?.close()
        finishingTimer = nil
        session?.onHandlersDone = nil
        then()
    }
}
