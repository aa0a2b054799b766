internal import Glibc
internal import Strata

/// The jobs that a simulation's thread gives to Swift's global executor: detached tasks, and tasks
/// that nobody has told to stay on a module's loop. They run in the simulation, when the seed says so.
///
/// On the simulation's thread, but for `Glibc`'s look-up.
enum GlobalJobs {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Those that wait. Unsafe, because only the thread that is the actor's now uses it.
    nonisolated(unsafe) private static var jobs: [UnownedJob] = []
    /// While it ends, all are Swift's own again.
    nonisolated(unsafe) private static var isTaking = false

    static var count: Int { jobs.count }

    /// Takes jobs from now on.
    static func begin() {
        _ = hook
        isTaking = true
    }

    /// Runs one of those that wait.
    static func run(_ place: Int) {
        jobs.remove(at: place).runSynchronously(on: ModuleExecutor.shared.asUnownedTaskExecutor())
    }

    /// Gives those that wait to Swift's own threads, and takes no more.
    static func end() {
        isTaking = false
        for job in jobs { swiftEnqueue?(job) }
        jobs = []
    }

    nonisolated(unsafe) private static var swiftEnqueue: Enqueue?

    /// Swift's runtime asks this before it gives a job to its threads. It is found by its name,
    /// and isn't there in a program that has the runtime in itself: then jobs take real time, which
    /// is seen when one comes back.
    private static let hook: Void = {
        guard let place = dlsym(nil, "swift_task_enqueueGlobal_hook") else { return }
        place.assumingMemoryBound(to: Hook?.self).pointee = { job, enqueue in
            guard ModuleExecutor.shared.isCurrent, GlobalJobs.isTaking else { return enqueue(job) }
            GlobalJobs.swiftEnqueue = enqueue
            GlobalJobs.jobs.append(job)
        }
    }()
}
