internal import Strata
internal import Synchronization

#if compiler(>=6.3) && compiler(<6.4)
    @_spi(ExperimentalScheduling) @_spi(ExperimentalCustomExecutors) internal import _Concurrency
#endif

/// Notices when a simulated module waits for something outside the simulation. Such a wait takes
/// real time, and no seed controls its order.
///
/// One simulation runs at a time. Its thread is the thread of `ModuleActor` for that time.
enum RealTimeWatch {
    private static let found = Mutex<String?>(nil)

    /// Starts to watch.
    static func begin() {
        found.withLock { $0 = nil }
        ModuleExecutor.shared.setWake {
            // The simulation's own thread wakes itself when a drain leaves jobs.
            guard !ModuleExecutor.shared.isCurrent else { return }
            note("A thread outside the simulation resumed a module's task.")
        }
    }

    /// - Throws: `TestFailure` with the first thing that was noticed.
    static func check() throws {
        guard let found = found.withLock({ $0 }) else { return }
        throw TestFailure(
            """
            \(found) It takes real time, and no seed controls its order: wait with `sleep(milliseconds:)`, and put \
            what blocks into `blocking { }`
            """)
    }

    private static func note(_ what: String) { found.withLock { $0 = $0 ?? what } }

    /// Called when the running task calls `Task.sleep`.
    fileprivate static func sleeps() {
        let name = ModuleActor.assumeIsolated { RunningHandler.name }
        note("\(name ?? "A module") uses `Task.sleep`.")
    }
}

// Swift 6.3 asks an executor of this form to schedule `Task.sleep`. With other compilers, a sleep
// is noticed when it ends.
#if compiler(>=6.3) && compiler(<6.4)
    extension ModuleExecutor: SchedulingExecutor {
        package func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
        ) {
            if isCurrent { RealTimeWatch.sleeps() }
            scheduler.enqueue(job, at: instant, tolerance: tolerance, clock: clock)
        }

        package func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
        ) {
            if isCurrent { RealTimeWatch.sleeps() }
            scheduler.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        }

        /// The executor that sleeps if no preferred executor can: Swift's own.
        private var scheduler: any SchedulingExecutor {
            Task<Never, Never>.defaultExecutor as! any SchedulingExecutor  // because Swift's own executor conforms
        }
    }
#endif
