internal import Glibc
internal import StrataCore
internal import StrataLoop

/// Runs work that blocks or computes for long, off the module's loop, and waits for its result. At
/// most four threads run such work; each is started when it is needed.
///
/// Cancelling the task doesn't stop work that is already running.
/// - Parameters:
///   - label: Work with the same label runs one after another, in the order in which it was added;
///     work without a label runs side by side.
///   - work: The work to run.
/// - Throws: The error that the work throws; `overloaded` if 1,024 work items are waiting.
@ModuleActor
public func blocking<Result: Sendable>(
    label: String? = nil, _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try Task.checkCancellation()
    let scope = CallScope.current
    let result = try await withUnsafeThrowingContinuation { continuation in
        let taken = ProcessSurroundings.current.block(label: label) {
            continuation.resume(with: Swift.Result { try work() })
        }
        if !taken {
            continuation.resume(
                throwing: BusError(
                    .overloaded, "\(BlockingPool.mostWaiting) blocking jobs wait in this module, its limit"))
        }
    }
    scope?.resumed()
    return result
}

/// The threads for blocking work. There are few, and each is started when it is needed. Work with
/// the same label runs one after another, in order.
final class BlockingPool: Sendable {
    static let shared = BlockingPool()

    /// The most threads.
    static let mostThreads = 4
    /// The most work items that may wait.
    static let mostWaiting = 1_024

    private typealias Work = @Sendable () -> Void

    private struct State {
        var ready: [(label: String?, work: Work)] = []
        /// The work that waits for the running work of the same label.
        var behind: [String: [Work]] = [:]
        var waiting = 0
        var threads = 0
        var idle = 0
    }

    private let state = Locked(State())
    private let signal = Signal()

    /// Queues work for one of the threads; returns false if too much is waiting.
    func add(label: String?, _ work: @escaping @Sendable () -> Void) -> Bool {
        let (taken, needsThread) = state.withLock { state -> (Bool, Bool) in
            guard state.waiting < Self.mostWaiting else { return (false, false) }
            state.waiting += 1
            if let label {
                if state.behind[label] != nil {
                    state.behind[label]!.append(work)  // because it was just looked up
                    return (true, false)
                }
                state.behind[label] = []
            }
            state.ready.append((label, work))
            guard state.idle < state.ready.count, state.threads < Self.mostThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        if needsThread { startThread() } else if taken { signal.raise() }
        return taken
    }

    private func startThread() {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { _ in
                BlockingPool.shared.serve()
                return nil
            }, nil)
        precondition(status == 0, "a module's process can't have another thread: \(String(cString: strerror(status)))")
        pthread_detach(thread)
    }

    private func serve() {
        while true {
            let next = state.withLock { state -> (label: String?, work: Work)? in
                guard !state.ready.isEmpty else {
                    state.idle += 1
                    return nil
                }
                state.waiting -= 1
                return state.ready.removeFirst()
            }
            guard let next else {
                signal.wait()
                state.withLock { $0.idle -= 1 }
                continue
            }
            next.work()
            if let label = next.label { finished(label) }
        }
    }

    private func finished(_ label: String) {
        state.withLock { state in
            if state.behind[label]!.isEmpty {  // because the label stays while its work runs
                state.behind[label] = nil
            } else {
                state.ready.append((label, state.behind[label]!.removeFirst()))
            }
        }
    }
}

/// A counting semaphore.
///
/// `@unchecked Sendable` because its count is accessed only under the condition's lock.
final class Signal: @unchecked Sendable {
    private let condition = Condition()
    private var count = 0

    func raise() {
        condition.lock()
        count += 1
        condition.broadcast()
        condition.unlock()
    }

    func wait() {
        condition.lock()
        while count == 0 { condition.wait() }
        count -= 1
        condition.unlock()
    }

    /// Waits up to the given number of milliseconds.
    /// - Returns: Whether it was raised.
    @discardableResult
    func wait(milliseconds: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard condition.wait(milliseconds: milliseconds, until: { count > 0 }) else { return false }
        count -= 1
        return true
    }
}
