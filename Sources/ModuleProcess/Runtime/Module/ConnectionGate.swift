internal import StrataCore

/// The requests that wait for a connection.
@ModuleActor
final class ConnectionGate {
    /// The most requests that may wait; further ones fail.
    static let most = 1_024

    private var waiters: [(key: UInt64, continuation: UnsafeContinuation<Void, any Error>, alarm: any Alarm)] = []
    private var nextKey: UInt64 = 0
    private var isOver = false

    private let surroundings: any Surroundings

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    /// Waits for a connection.
    /// - Parameters:
    ///   - deadline: The time in milliseconds; nil for the bus's default.
    ///   - isThere: Called once more when the wait begins: a task without the loop's preference
    ///     yields at each `await`, even on the same actor.
    func wait(for what: String, deadline: UInt64?, unless isThere: () -> Bool) async throws {
        let key = nextKey
        nextKey += 1
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                if isThere() {
                    continuation.resume()
                    return
                }
                guard !isOver, waiters.count < Self.most, !Task.isCancelled else {
                    continuation.resume(
                        throwing: Task.isCancelled
                            ? BusError(.cancelled, "\(what) was cancelled before it was sent") : .notConnected(what))
                    return
                }
                let alarm = surroundings.after(deadline.flatMap { $0 > 0 ? $0 : nil } ?? 30_000) { [unowned self] in
                    self.fail(
                        key, BusError(.deadlineExceeded, "\(what) was not sent: the bus was away until its deadline"))
                }
                waiters.append((key, continuation, alarm))
            }
        } onCancel: {
            onModuleActor { self.fail(key, BusError(.cancelled, "\(what) was cancelled before it was sent")) }
        }
    }

    func open() {
        let all = waiters
        waiters = []
        for waiter in all {
            waiter.alarm.close()
            waiter.continuation.resume()
        }
    }

    /// Fails all waiting requests, because there will be no further connection.
    func close(_ error: BusError) {
        isOver = true
        for waiter in waiters { fail(waiter.key, error) }
    }

    private func fail(_ key: UInt64, _ error: BusError) {
        guard let index = waiters.firstIndex(where: { $0.key == key }) else { return }
        let waiter = waiters.remove(at: index)
        waiter.alarm.close()
        waiter.continuation.resume(throwing: error)
    }
}

/// The wait for running handlers before tearDown, so that calls that arrived before the module is
/// stopped or replaced are still answered.
@ModuleActor
final class HandlerWait {
    private weak var session: Session?
    private var then: (() -> Void)?
    private var alarm: (any Alarm)?
    private let surroundings: any Surroundings

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    /// Calls back when no handler of a call with a deadline is left, or after half of the time for
    /// tearDown. It doesn't wait for calls without a deadline, such as endless streams.
    /// - Parameter left: The time left for tearDown in milliseconds; nil, as at SIGTERM, means not
    ///   to wait.
    func begin(on session: Session?, _ left: UInt64?, then: @escaping () -> Void) {
        guard let session, session.hasUnfinished, let left, left > 1 else { return then() }
        self.then = then
        self.session = session
        session.onHandlersDone = { [weak self] in self?.stop() }
        alarm = surroundings.after(left / 2) { [weak self] in self?.stop() }
    }

    /// Ends the wait and calls back now.
    func stop() {
        guard let then else { return }
        cancel()
        then()
    }

    /// Ends the wait without calling back.
    func cancel() {
        then = nil
        alarm?.close()
        alarm = nil
        session?.onHandlersDone = nil
    }
}
