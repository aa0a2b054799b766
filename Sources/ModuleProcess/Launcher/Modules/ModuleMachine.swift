import Glibc
import StrataCore
import StrataManifest

/// The state machine of one module's process: events go in, actions come out. It does no I/O, and
/// its only clock is `now`, in milliseconds.
///
/// Its driver performs the actions in order, and reports their results. It calls `deadlinePassed`
/// when `deadline` is reached.
struct ModuleMachine {
    /// The manifest's settings for the process.
    struct Policy: Equatable {
        var restart = AppTable.Restart.onFailure
        var backoff = ModuleProcess.Backoff()
        /// The milliseconds from tearDown to SIGTERM, and again from SIGTERM to SIGKILL.
        var stop: UInt64 = 5_000
        /// The milliseconds for hello, for setUp and for initialize, each.
        var startup: UInt64 = 30_000
    }

    enum Action: Equatable {
        /// Start a process; `spawned` or `couldNotSpawn` must follow.
        case spawn
        case tell(ModuleReport)
        /// Ask the broker for tearDown; `retired` must follow.
        case retire
        /// Send a signal. SIGKILL goes to the whole process group.
        case signal(Int32)
        /// The module did `setUp`, for the first time in this process.
        case passedSetUp
        /// The module is ready, for the first time in this process.
        case becameReady(pid: Int32, milliseconds: UInt64)
        /// The process has ended before it was ready, or could not be started.
        case startFailed
        /// The process that was being stopped has ended, and what follows begins.
        case stopped
        /// There is no process, and none is started until someone asks.
        case settled(Settled)
        /// The process of the loan is attached; the broker is to accept it as the module.
        case lent
        /// The broker is to end the attached process's session.
        case takeBack
        /// A message for people.
        case note(String)
    }

    /// The state of a module without a process.
    enum Settled: Equatable {
        case absent(String)
        /// The reason, and the last lines of its process.
        case failed(String, lines: [String] = [])
    }

    /// What happens when the module has been stopped.
    enum Afterwards: Equatable {
        case nothing, start
        case lend(Loan)
    }

    /// A process that a person runs in place of the module.
    struct Loan: Equatable {
        var pid: Int32
        /// Whether the launcher starts a process when this one has ended.
        var startsAgain: Bool
        /// The process before it; nil if there was none.
        var follows: Int32?
        var lentAt: UInt64 = 0
        var isReady = false
    }

    /// The milliseconds that the steps of stopping may take.
    struct StopTimes: Equatable {
        var tearDown: UInt64
        var terminate: UInt64
    }

    /// How long a process may be without a connection, in milliseconds: the runtime tries to
    /// connect again for 30 s.
    static let reconnect: UInt64 = 35_000
    /// How long the launcher waits for the broker, which limits setUp and initialize itself, before
    /// it acts on its own.
    static let slack: UInt64 = 5_000

    struct Run: Equatable {
        enum Phase: Equatable {
            /// Not connected yet.
            case spawned
            /// Connected, and waiting for the start order.
            case joined
            case settingUp, setUp, initializing, ready
            /// Without a connection, because that was lost or the broker ended.
            case reconnecting
            /// Being killed, for the given reason.
            case doomed(String)
        }

        var pid: Int32
        var spawnedAt: UInt64
        var phase = Phase.spawned
        var passedSetUp = false
        var readyAt: UInt64?
        var deadline: UInt64?
        /// Whether the session ended because the broker went away.
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
        /// Whether the process is an attached one, which gets no signals.
        var isLent = false
    }

    enum State: Equatable {
        /// Nothing has asked for the module yet.
        case untouched
        case settled(Settled)
        /// A process is started at the given time, once there is a bus.
        case pending(at: UInt64, reason: String)
        case running(Run)
        case stopping(Stopping)
        /// A process is attached, and the launcher starts none.
        case lent(Loan)
    }

    private(set) var policy: Policy
    var state = State.untouched
    var restarts: RestartPlan
    var hasBus = false
    /// Whether a start that fails is final, because the app can't start without the module.
    var mustStart = false
    /// Why the last process ended, or could not be started, without its last lines. Empty if
    /// neither has happened.
    var cause = ""

    init(_ policy: Policy) {
        self.policy = policy
        restarts = RestartPlan(policy.backoff)
    }

    /// Takes over the policy of a reloaded manifest.
    mutating func update(_ policy: Policy) {
        self.policy = policy
        restarts.update(policy.backoff)
    }

    /// The process of the module, even if it is ending.
    var pid: Int32? {
        switch state {
        case .untouched, .settled, .pending: nil
        case .running(let run): run.pid
        case .stopping(let stopping): stopping.pid
        case .lent(let loan): loan.pid
        }
    }

    /// The report for a newly started broker; nil if the broker assumes that state anyway.
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

    /// The outcome of the first start.
    var firstStart: StartProgress.Fate {
        switch state {
        case _ where isReady: .ready
        case .settled, .stopping, .lent: .missed
        case .untouched: .open
        case .pending: restarts.quickDeaths == 0 ? .open : .missed
        case .running(let run): run.readyAt == nil && restarts.quickDeaths == 0 ? .open : .missed
        }
    }

    /// What the module is doing before it is ready, for people; nil if it is ready or isn't meant
    /// to be.
    var activity: String? {
        switch state {
        case .untouched, .settled, .stopping: return nil
        case .lent(let loan): return loan.isReady ? nil : "for process \(loan.pid), which is run by hand"
        case .pending: return hasBus ? "to be started again" : "for the bus"
        case .running(let run):
            switch run.phase {
            case .spawned: return "to say hello to the bus"
            case .joined: return "for the modules before it"
            case .settingUp: return "in its setUp"
            case .setUp: return "after its setUp, for other modules' setUp"
            case .initializing: return "in its initialize"
            case .ready: return nil
            case .reconnecting: return "to connect again"
            case .doomed: return "to end"
            }
        }
    }

    /// Whether there is no process, and none is started until someone asks.
    var isAtRest: Bool {
        switch state {
        case .untouched, .settled: true
        case .pending, .running, .stopping, .lent: false
        }
    }

    /// Whether there is a process that isn't being ended.
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

/// Formats milliseconds for people.
func seconds(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
}
