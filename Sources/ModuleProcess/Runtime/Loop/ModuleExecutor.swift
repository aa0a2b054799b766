internal import Glibc
internal import Synchronization

/// Runs Swift's jobs on one thread. It is the executor of `ModuleActor`, and the preference of
/// every task that the runtime starts. With the preference, a continuation resumes here at once;
/// without it, each `await` would first go through the generic executor's threads. The owner of the
/// thread calls `drain`.
///
/// `@unchecked Sendable` because `jobs`, `batch` and `afterJobs` are accessed on the actor's thread
/// only. The rest is atomic, locked or constant.
package final class ModuleExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    package static let shared = ModuleExecutor()

    /// The most batches of jobs that one drain runs, before input and timers get their turn.
    private static let mostBatches = 16

    /// The actor's thread; 0 before there is one.
    private let thread = Atomic<UInt>(0)
    // Unchecked exclusivity, here and on the path of each message: these properties are used on one
    // thread only, and no call holds one across another call. The checks would cost more than the
    // work.
    @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @exclusivity(unchecked) private var batch: [UnownedJob] = []
    private let foreign = Locked(ForeignJobs())
    private let hasForeign = Atomic<Bool>(false)
    /// Called after each drain to write what the jobs have sent. The order of the loop's hooks
    /// within a round can't be chosen, so a hook could not do that.
    @exclusivity(unchecked) private var afterJobs: [(owner: AnyObject, body: () -> Void)] = []
    let watch = LoopWatch()

    /// The jobs that other threads enqueued, and the function that wakes the loop for a drain. A
    /// struct: with a tuple, the lock's generic code would wrap the closure once more at each
    /// access.
    private struct ForeignJobs {
        var jobs: [UnownedJob] = []
        var wake: @Sendable () -> Void = {}
    }

    /// Creates an executor for tests; a process uses `shared`.
    init() {}

    /// Sets the function that makes the loop drain soon; it is called on any thread.
    package func setWake(_ wake: @escaping @Sendable () -> Void) { foreign.withLock { $0.wake = wake } }

    /// Whether the caller is on the actor's thread.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Makes the calling thread the actor's, once per process.
    func claimThread() {
        let (claimed, owner) = thread.compareExchange(
            expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent)
        precondition(claimed || owner == UInt(pthread_self()), "the module's loop has a thread already")
    }

    /// Makes the calling thread the actor's until `giveThreadBack`.
    /// - Returns: False if another thread is the actor's.
    package func borrowThread() -> Bool {
        thread.compareExchange(expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent).exchanged
    }

    /// Leaves the actor without a thread.
    package func giveThreadBack() {
        precondition(isCurrent, "the module's loop is another thread's")
        thread.store(0, ordering: .sequentiallyConsistent)
    }

    func addAfterJobs(_ owner: AnyObject, _ body: @escaping () -> Void) {
        afterJobs.append((owner, body))
    }

    func removeAfterJobs(_ owner: AnyObject) { afterJobs.removeAll { $0.owner === owner } }

    /// Whether a job is waiting to run on the loop's thread.
    package var hasJobs: Bool { !jobs.isEmpty }

    // MARK: SerialExecutor and TaskExecutor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.append(job)
            return
        }
        foreign.withLock { $0.jobs.append(job) }
        if !hasForeign.exchange(true, ordering: .acquiringAndReleasing) { wake() }
    }

    private func wake() { foreign.withLock { $0.wake() } }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
    package func checkIsolated() { precondition(isCurrent, "this must run on the module's loop thread") }

    // MARK: Jobs

    /// Runs the waiting jobs, then the jobs that they have made, and so on, for up to `mostBatches`
    /// batches.
    package func drain() {
        var batches = 0
        while true {
            takeForeign()
            if jobs.isEmpty { break }
            if batches == Self.mostBatches {
                // Jobs are left, so the loop must not sleep.
                wake()
                break
            }
            swap(&jobs, &batch)
            watch.begin()
            for job in batch {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                watch.next()
            }
            watch.end()
            batch.removeAll(keepingCapacity: true)
            batches += 1
        }
        for (_, body) in afterJobs { body() }
        // Writing may have made jobs; the loop must not sleep then.
        if !jobs.isEmpty { wake() }
    }

    /// Drops the waiting jobs: their tasks never resume.
    package func dropJobs() {
        takeForeign()
        jobs = []
    }

    private func takeForeign() {
        guard hasForeign.exchange(false, ordering: .acquiringAndReleasing) else { return }
        foreign.withLock {
            jobs.append(contentsOf: $0.jobs)
            $0.jobs.removeAll(keepingCapacity: true)
        }
    }
}

/// The actor of a module: it runs on the one thread of the module's loop. All of a module's
/// handlers are on it, and all of its state that isn't declared to be elsewhere.
///
/// State needs no lock: other code runs only at an `await`.
@globalActor
public actor ModuleActor {
    /// The only instance.
    public static let shared = ModuleActor()

    private init() {}

    /// The module's loop as a serial executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        ModuleExecutor.shared.asUnownedSerialExecutor()
    }

    /// Whether a caller's `#isolation` is this actor. That its thread is the loop's is not enough: another
    /// actor may run there now, and continue elsewhere after a wait.
    nonisolated static func isIsolation(_ actor: (any Actor)?) -> Bool { actor === shared }

    /// Runs code that must be on the actor, for callers that are on its thread without the compiler
    /// knowing. Traps on any other thread.
    package nonisolated static func assumeIsolated<Result: Sendable>(
        _ body: @ModuleActor () throws -> Result
    ) rethrows -> Result {
        precondition(ModuleExecutor.shared.isCurrent, "this must run on the module's loop thread")
        // The cast removes the isolation that was just checked, as `MainActor.assumeIsolated` does.
        return try withoutActuallyEscaping(body) { body in
            try unsafeBitCast(body, to: (() throws -> Result).self)()
        }
    }
}
