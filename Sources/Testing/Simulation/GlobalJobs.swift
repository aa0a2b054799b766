internal import Glibc
internal import Strata

/// The jobs that a simulation's thread submits to Swift's global executor: those of detached tasks,
/// and of tasks without a module's loop as their preference. They run in the simulation, in an
/// order that the seed chooses.
enum GlobalJobs {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Jobs that wait. Unsafe, because only the simulation's thread uses it.
    nonisolated(unsafe) private static var jobs: [UnownedJob] = []
    /// Whether a simulation runs. Unsafe for the same reason, as is the next one.
    nonisolated(unsafe) private static var isTaking = false

    static var count: Int { jobs.count }

    /// Takes the jobs from now on.
    static func begin() {
        _ = hook
        isTaking = true
    }

    /// Runs one of the jobs that wait.
    static func run(_ place: Int) {
        jobs.remove(at: place).runSynchronously(on: ModuleExecutor.shared.asUnownedTaskExecutor())
    }

    /// Submits the jobs that wait to Swift's own threads, and takes no more.
    static func end() {
        isTaking = false
        for job in jobs { swiftEnqueue?(job) }
        jobs = []
    }

    nonisolated(unsafe) private static var swiftEnqueue: Enqueue?

    /// Swift's runtime calls this hook instead of submitting a job to its threads. A statically linked
    /// runtime has no symbol of that name: then the jobs take real time, and `RealTimeWatch` notices
    /// one that resumes a module's task.
    private static let hook: Void = {
        guard let place = dlsym(nil, "swift_task_enqueueGlobal_hook") else { return }
        place.assumingMemoryBound(to: Hook?.self).pointee = { job, enqueue in
            guard ModuleExecutor.shared.isCurrent, GlobalJobs.isTaking else { return enqueue(job) }
            GlobalJobs.swiftEnqueue = enqueue
            GlobalJobs.jobs.append(job)
        }
    }()
}
