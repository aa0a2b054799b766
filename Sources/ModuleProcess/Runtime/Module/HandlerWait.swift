internal import StrataCore

/// The wait for handlers that run when tearDown is asked for: what a module is
/// asked before it is stopped or replaced is answered still.
@ModuleActor
final class HandlerWait {
    private weak var session: Session?
    private var then: (() -> Void)?
    private var alarm: (any Alarm)?
    private let surroundings: any Surroundings

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    /// Calls back when no handler runs that somebody waits for within a time, or
    /// when half of the time for tearDown has passed. A call without a deadline, a
    /// stream that may go on for ever, is not waited for.
    /// - Parameter left: of the time for tearDown, in milliseconds; nil, at SIGTERM, for none.
    func begin(on session: Session?, _ left: UInt64?, then: @escaping () -> Void) {
        guard let session, session.hasUnfinished, let left, left > 1 else { return then() }
        self.then = then
        self.session = session
        session.onHandlersDone = { [weak self] in self?.stop() }
        alarm = surroundings.after(left / 2) { [weak self] in self?.stop() }
    }

    /// Handlers are not waited for any longer.
    func stop() {
        guard let then else { return }
        cancel()
        then()
    }

    /// Nobody is called back any more.
    func cancel() {
        then = nil
        alarm?.close()
        alarm = nil
        session?.onHandlersDone = nil
    }
}
