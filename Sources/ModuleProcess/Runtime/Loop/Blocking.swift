internal import Glibc
internal import StrataCore
internal import StrataLoop

/// Runs what blocks or computes long, off the module's loop, and waits for it.
/// At most four threads do that, each made when it is needed.
/// - Parameters:
///   - label: work of one label runs one after another, in the order in which
///     it was given; work without one runs side by side.
///   - work: what is run.
/// - Throws: what the work throws; `overloaded` where 1,024 pieces wait.
///   Cancelling the task doesn't stop work that runs.
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
                    .overloaded, "\(BlockingPool.mostWaiting) pieces of blocking work wait in this module, its limit"))
        }
    }
    scope?.resumed()
    return result
}

/// The threads for what blocks. Few, made when they are needed; work of one
/// label runs one after another, in order.
final class BlockingPool: Sendable {
    static let shared = BlockingPool()

    /// Threads at most.
    static let mostThreads = 4
    /// Pieces of work that wait, at most.
    static let mostWaiting = 1_024

    private typealias Work = @Sendable () -> Void

    private struct State {
        var ready: [(label: String?, work: Work)] = []
        /// What waits behind the running work of its label.
        var behind: [String: [Work]] = [:]
        var waiting = 0
        var threads = 0
        var idle = 0
    }

    private let state = Locked(State())
    private let signal = Signal()

    /// Runs it on one of the threads; false where too much waits.
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
/// `@unchecked Sendable` because its count is under the condition's lock.
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

    /// Waits no longer than so many milliseconds.
    /// - Returns: whether it was raised.
    @discardableResult
    func wait(milliseconds: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard condition.wait(milliseconds: milliseconds, until: { count > 0 }) else { return false }
        count -= 1
        return true
    }
}
