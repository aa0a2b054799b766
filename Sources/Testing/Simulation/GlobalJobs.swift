internal import Glibc
internal import Strata

/// The jobs that a simulation's thread submits to Swift's global executor.
///
/// They come from detached tasks, and from tasks that don't prefer a module's loop. They run in
/// the simulation, in an order that the seed chooses.
enum GlobalJobs {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The waiting jobs. Unsafe, because only the simulation's thread uses it.
    nonisolated(unsafe) private static var jobs: [UnownedJob] = []
    /// Whether a simulation runs. `nonisolated(unsafe)` for the same reason, as is
    /// `swiftEnqueue`.
    nonisolated(unsafe) private static var isTaking = false

    static var count: Int { jobs.count }

    /// Starts to take jobs.
    static func begin() {
        _ = hook
        isTaking = true
    }

    /// Runs one of the waiting jobs.
    static func run(_ place: Int) {
        jobs.remove(at: place).runSynchronously(on: ModuleExecutor.shared.asUnownedTaskExecutor())
    }

    /// Submits the waiting jobs to Swift's own threads, and stops taking jobs.
    static func end() {
        isTaking = false
        for job in jobs { swiftEnqueue?(job) }
        jobs = []
    }

    nonisolated(unsafe) private static var swiftEnqueue: Enqueue?

    /// Swift's runtime calls this hook instead of submitting a job to its threads. A statically
    /// linked runtime has no symbol of that name. Then the jobs take real time, and
    /// `RealTimeWatch` notices a job that resumes a module's task.
    private static let hook: Void = {
        guard let place = dlsym(nil, "swift_task_enqueueGlobal_hook") else { return }
        place.assumingMemoryBound(to: Hook?.self).pointee = { job, enqueue in
            guard ModuleExecutor.shared.isCurrent, GlobalJobs.isTaking else { return enqueue(job) }
            GlobalJobs.swiftEnqueue = enqueue
            GlobalJobs.jobs.append(job)
        }
    }()
}
