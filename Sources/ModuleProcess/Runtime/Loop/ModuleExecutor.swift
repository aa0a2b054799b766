internal import Glibc
internal import Synchronization

/// Runs Swift's jobs on one thread: the executor of `ModuleActor`, and the
/// preference of every task that the runtime starts. With the preference a
/// continuation resumes here at once; without it each `await` would go through
/// the generic executor's threads first. Whoever owns the thread calls `drain`.
///
/// `@unchecked Sendable` because `jobs`, `batch` and `afterJobs` are touched on
/// the actor's thread alone, and the rest is atomic, locked or never changes.
package final class ModuleExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    package static let shared = ModuleExecutor()

    /// So often a drain takes jobs, before input and timers have their turn.
    private static let mostBatches = 16

    /// The actor's thread; 0 before there is one.
    private let thread = Atomic<UInt>(0)
    // Unchecked exclusivity, here and in what each message passes: these are
    // on one thread, no call holds one across another, and the checks cost more
    // than the work.
    @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @exclusivity(unchecked) private var batch: [UnownedJob] = []
    private let foreign = Locked(ForeignJobs())
    private let hasForeign = Atomic<Bool>(false)
    /// Called after each drain: what jobs have sent is written here, since the
    /// order of one round's hooks isn't ours to choose.
    @exclusivity(unchecked) private var afterJobs: [(owner: AnyObject, body: () -> Void)] = []
    let watch = LoopWatch()

    /// Jobs that other threads enqueued, and what brings about the next drain. A struct: in a
    /// tuple the lock's generic code would wrap the closure once more at each access.
    private struct ForeignJobs {
        var jobs: [UnownedJob] = []
        var wake: @Sendable () -> Void = {}
    }

    /// For tests; a process has `shared`.
    init() {}

    /// Says how a drain is brought about, from any thread.
    package func setWake(_ wake: @escaping @Sendable () -> Void) { foreign.withLock { $0.wake = wake } }

    /// Whether the caller is on the actor's thread.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Says that the calling thread is the actor's, once per process.
    func claimThread() {
        let (claimed, owner) = thread.compareExchange(
            expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent)
        precondition(claimed || owner == UInt(pthread_self()), "the module's loop has a thread already")
    }

    /// Makes the calling thread the actor's until `giveThreadBack`.
    /// - Returns: false where another one is the actor's.
    package func borrowThread() -> Bool {
        thread.compareExchange(expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent).exchanged
    }

    /// The actor has no thread again.
    package func giveThreadBack() {
        precondition(isCurrent, "the module's loop is another thread's")
        thread.store(0, ordering: .sequentiallyConsistent)
    }

    func addAfterJobs(_ owner: AnyObject, _ body: @escaping () -> Void) {
        afterJobs.append((owner, body))
    }

    func removeAfterJobs(_ owner: AnyObject) { afterJobs.removeAll { $0.owner === owner } }

    /// Whether something waits for its turn on the loop's thread.
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

    /// Runs the jobs that wait, then the jobs that these have made, and so on: so many times
    /// as `mostBatches` says.
    package func drain() {
        var batches = 0
        while true {
            takeForeign()
            if jobs.isEmpty { break }
            if batches == Self.mostBatches {
                // Nobody must wait while there are jobs.
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
        // What was written may have made jobs; nobody must wait then.
        if !jobs.isEmpty { wake() }
    }

    /// Forgets the jobs that wait: their tasks never go on.
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

/// The actor on the one thread that a module's loop runs on. All of a module's
/// handlers, and all of its state that isn't said to be elsewhere, are on it.
///
/// State needs no lock: only at an `await` does anything else run.
@globalActor
public actor ModuleActor {
    /// The one that there is.
    public static let shared = ModuleActor()

    private init() {}

    /// The module's loop, as the language asks for it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        ModuleExecutor.shared.asUnownedSerialExecutor()
    }

    /// Runs what must be on the actor, from code that is on its thread and
    /// that the compiler doesn't know to be; traps elsewhere.
    package nonisolated static func assumeIsolated<Result: Sendable>(
        _ body: @ModuleActor () throws -> Result
    ) rethrows -> Result {
        precondition(ModuleExecutor.shared.isCurrent, "this must run on the module's loop thread")
        // As `MainActor.assumeIsolated` does: the isolation that is cast away
        // is the one just checked.
        return try withoutActuallyEscaping(body) { body in
            try unsafeBitCast(body, to: (() throws -> Result).self)()
        }
    }
}
