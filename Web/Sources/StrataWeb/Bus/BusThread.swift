import Foundation
import StrataOperator
import Synchronization

/// The thread on which the bus's client lives, and the way to it from the server's tasks.
final class BusThread: Sendable {
    typealias Job = @Sendable (BusSession) -> Void

    /// What other threads want done.
    private final class Jobs: Sendable {
        private let jobs = Mutex<[Job]>([])

        func add(_ job: @escaping Job) { jobs.withLock { $0.append(job) } }

        func take() -> [Job] {
            jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
        }
    }

    private let jobs = Jobs()
    private let wake: WakeUp

    /// Starts the thread, which connects at once and whenever the connection is lost.
    /// - Throws: `SystemError` if the kernel gives no event loop.
    init(path: String, node: String?, feed: LiveFeed, options: BusSession.Options) throws {
        let loop = try Loop()
        // Unsafe, because from now on only the thread below uses it.
        nonisolated(unsafe) let session = BusSession(loop, path: path, node: node, feed: feed, options: options)
        wake = try WakeUp(loop) { [jobs] in
            for job in jobs.take() { job(session) }
        }
        let thread = Thread {
            session.begin()
            session.loop.run()
        }
        thread.name = "bus"
        thread.start()
    }

    /// Runs a job on the bus's thread.
    func post(_ job: @escaping Job) {
        jobs.add(job)
        wake.send()
    }

    /// Runs a job on the bus's thread, and waits for what it answers with.
    func ask<Value: Sendable>(
        _ job: @escaping @Sendable (BusSession, @escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        await withCheckedContinuation { continuation in
            post { session in job(session) { continuation.resume(returning: $0) } }
        }
    }
}
