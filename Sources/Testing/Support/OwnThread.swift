internal import Dispatch

/// Runs blocking code of an asynchronous test on a thread of its own.
///
/// Swift Testing's tests share a pool of as many threads as there are processors, and a test that waits
/// on one of them holds others up. The code stays part of its task, so failures belong to the test.
enum OwnThread {
    static func run<Result: Sendable>(_ work: () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(Executor()) { try await onPreferred(work) }
    }

    /// Isolated to no actor, so that it runs on the preferred executor.
    @concurrent
    private static func onPreferred<Result>(_ work: () throws -> Result) async throws -> Result { try work() }

    /// A queue that isn't concurrent gets a thread outside the pool.
    private final class Executor: TaskExecutor {
        private let queue = DispatchQueue(label: "a test")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
