import Glibc
import StrataCore
import StrataManifest

/// One module's process, as a state machine: what happened goes in, what is to
/// be done comes out. No I/O, and no clock but `now`, in milliseconds.
///
/// Its driver performs each action, in order, and reports what became of it. It
/// calls `deadlinePassed` when `deadline` has come.
struct ModuleMachine {
    /// What the manifest says of its process.
    struct Policy: Equatable {
        var restart = AppTable.Restart.onFailure
        var backoff = ModuleProcess.Backoff()
        /// From tearDown to SIGTERM, and again to SIGKILL.
        var stop: UInt64 = 5_000
        /// For hello, for setUp and for initialize, each.
        var startup: UInt64 = 30_000
    }

    enum Action: Equatable {
        /// Start a process: `spawned` or `couldNotSpawn` must follow.
        case spawn
        case tell(ModuleReport)
        /// Ask the broker for tearDown: `retired` must follow.
        case retire
        /// SIGKILL goes to all of its process group.
        case signal(Int32)
        /// It did `setUp`, for the first time in this process.
        case passedSetUp
        /// It is ready, for the first time in this process.
        case becameReady(pid: Int32, milliseconds: UInt64)
        /// The process that was to end has ended, and what comes next begins.
        case stopped
        /// There is no process, and none will be started unless somebody asks.
        case settled(Settled)
        /// The broker is to take the process for it that the loan names.
        case lent
        /// The broker is to end the session of whoever has the place.
        case takeBack
        /// Something that a person wants to read.
        case note(String)
    }

    /// How a module without a process stands.
    enum Settled: Equatable {
        case absent(String)
        /// With what its process wrote last.
        case failed(String, lines: [String] = [])
    }

    /// What happens when it has been stopped.
    enum Afterwards: Equatable {
        case nothing, start
        case lend(Loan)
    }

    /// A process that a person runs has its place.
    struct Loan: Equatable {
        var pid: Int32
        /// Whether a process is started when that one has ended.
        var startsAgain: Bool
        /// The process that was there before, where there was one.
        var follows: Int32?
        var lentAt: UInt64 = 0
        var isReady = false
    }

    /// How long the steps of stopping may take.
    struct StopTimes: Equatable {
        var tearDown: UInt64
        var terminate: UInt64
    }

    /// The time that the runtime tries to connect again (30 s), and some more.
    static let reconnect: UInt64 = 35_000
    /// The broker watches setUp and initialize itself; so much later the launcher
    /// doesn't rely on it.
    static let slack: UInt64 = 5_000

    struct Run: Equatable {
        enum Phase: Equatable {
            /// Not connected yet.
            case spawned
            /// Connected; it isn't its turn yet.
            case joined
            case settingUp, setUp, initializing, ready
            /// Its connection, or the broker, is gone.
            case reconnecting
            /// It is being killed, and why.
            case doomed(String)
        }

        var pid: Int32
        var spawnedAt: UInt64
        var phase = Phase.spawned
        /// When the phase began.
        var since: UInt64
        var passedSetUp = false
        var readyAt: UInt64?
        var deadline: UInt64?
        /// The broker went away, and its session with it.
        var lostBus = false
    }

    struct Stopping: Equatable {
        enum Step: Equatable { case retiring, terminating, killing }

        var pid: Int32
        var step: Step
        var deadline: UInt64?
        var times: StopTimes
        var afterwards: Afterwards
        var reason: String
        /// The process isn't the launcher's, and gets no signals.
        var isLent = false
    }

    enum State: Equatable {
        /// Nobody has asked for it yet.
        case untouched
        case settled(Settled)
        /// A process is started at that time, and not without a bus.
        case pending(at: UInt64, reason: String)
        case running(Run)
        case stopping(Stopping)
        /// The launcher starts nothing meanwhile.
        case lent(Loan)
    }

    private(set) var policy: Policy
    var state = State.untouched
    var restarts: RestartPlan
    var hasBus = false
    /// Why its last process ended, or none could be started; without the lines that
    /// it wrote. Empty where none has.
    var cause = ""

    init(_ policy: Policy) {
        self.policy = policy
        restarts = RestartPlan(policy.backoff)
    }

    /// The manifest was read again.
    mutating func update(_ policy: Policy) {
        self.policy = policy
        restarts.update(policy.backoff)
    }

    /// The process there is, also one that is ending.
    var pid: Int32? {
        switch state {
        case .untouched, .settled, .pending: nil
        case .running(let run): run.pid
        case .stopping(let stopping): stopping.pid
        case .lent(let loan): loan.pid
        }
    }

    /// What a broker that knows nothing is told; nil where that is what it
    /// supposes anyway.
    var report: ModuleReport? {
        switch state {
        case .untouched, .stopping: nil
        case .settled(.absent(let reason)): ModuleReport(state: .absent, reason: reason)
        case .settled(.failed(let reason, let lines)): ModuleReport(state: .failed, reason: reason, lines: lines)
        case .pending(_, let reason):
            ModuleReport(state: restarts.quickDeaths == 0 ? .starting : .restarting, reason: reason)
        case .running: ModuleReport(state: .starting, reason: "it runs already")
        case .lent(let loan): ModuleReport(state: .starting, reason: Self.reason(of: loan))
        }
    }

    /// What became of its first start.
    var firstStart: StartProgress.Fate {
        switch state {
        case _ where isReady: .ready
        case .settled, .stopping, .lent: .missed
        case .untouched: .open
        case .pending: restarts.quickDeaths == 0 ? .open : .missed
        case .running(let run): run.readyAt == nil && restarts.quickDeaths == 0 ? .open : .missed
        }
    }

    /// What it does instead of being ready, for a person; nil where it is ready
    /// or not meant to be.
    var activity: String? {
        switch state {
        case .untouched, .settled, .stopping: return nil
        case .lent(let loan): return loan.isReady ? nil : "for process \(loan.pid), which is run by hand"
        case .pending: return hasBus ? "to be started again" : "for the bus"
        case .running(let run):
            switch run.phase {
            case .spawned: return "to say hello to the bus"
            case .joined: return "for those before it"
            case .settingUp: return "in its setUp"
            case .setUp: return "after its setUp, for the others'"
            case .initializing: return "in its initialize"
            case .ready: return nil
            case .reconnecting: return "to connect again"
            case .doomed: return "to end"
            }
        }
    }

    /// Whether there is no process, and none will be started unless somebody asks.
    var isAtRest: Bool {
        switch state {
        case .untouched, .settled: true
        case .pending, .running, .stopping, .lent: false
        }
    }

    /// Whether there is a process that is not to end.
    var isRunning: Bool {
        guard case .running(let run) = state else { return false }
        if case .doomed = run.phase { return false }
        return true
    }

    var isReady: Bool {
        if case .lent(let loan) = state { return loan.isReady }
        guard case .running(let run) = state else { return false }
        return run.phase == .ready
    }

    /// When `deadlinePassed` is due; nil for never.
    var deadline: UInt64? {
        switch state {
        case .untouched, .settled, .lent: nil
        case .pending(let at, _): hasBus ? at : nil
        case .running(let run): run.deadline
        case .stopping(let stopping): stopping.deadline
        }
    }
}

/// Milliseconds as a person reads them.
func seconds(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
}
