internal import Strata
internal import Synchronization

#if compiler(>=6.3) && compiler(<6.4)
    @_spi(ExperimentalScheduling) @_spi(ExperimentalCustomExecutors) internal import _Concurrency
#endif

/// Sees where a simulated module leaves the simulation: what then happens takes real time, and
/// no seed says in which order.
///
/// One simulation runs at a time, on the thread that is `ModuleActor`'s meanwhile.
enum RealTimeWatch {
    private static let found = Mutex<String?>(nil)

    /// Begins to watch.
    static func begin() {
        found.withLock { $0 = nil }
        ModuleExecutor.shared.setWake {
            // Its own thread wakes itself where there is much to do.
            guard !ModuleExecutor.shared.isCurrent else { return }
            note("Something of a module was done on another thread, and a handler goes on with it.")
        }
    }

    /// - Throws: what was seen first.
    static func check() throws {
        guard let found = found.withLock({ $0 }) else { return }
        throw TestFailure(
            """
            \(found) That takes real time, and its order is no seed's: wait with `sleep(milliseconds:)`, and put what \
            blocks into `blocking { }`
            """)
    }

    private static func note(_ what: String) { found.withLock { $0 = $0 ?? what } }

    /// Told of a wait on the thread of a simulation.
    fileprivate static func sleeps() {
        let name = ModuleActor.assumeIsolated { RunningHandler.name }
        note("\(name ?? "A module") uses `Task.sleep`.")
    }
}

// Only this says when `Task.sleep` is called, and only Swift 6.3 has it in this form. With another
// one a sleep is seen when it is over.
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

        /// What sleeps where no executor says that it can.
        private var scheduler: any SchedulingExecutor {
            Task<Never, Never>.defaultExecutor as! any SchedulingExecutor  // because Swift's own is one
        }
    }
#endif
