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
        /// There is no process, and none will be started unless somebody asks.
        case settled(Settled)
        /// Something that a person wants to read.
        case note(String)
    }

    /// How a module without a process stands.
    enum Settled: Equatable {
        case absent(String)
        case failed(String)
    }

    /// What happens when it has been stopped.
    enum Afterwards: Equatable { case nothing, start }

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
    }

    struct Stopping: Equatable {
        enum Step: Equatable { case retiring, terminating, killing }

        var pid: Int32
        var step: Step
        var deadline: UInt64?
        var times: StopTimes
        var afterwards: Afterwards
        var reason: String
    }

    enum State: Equatable {
        /// Nobody has asked for it yet.
        case untouched
        case settled(Settled)
        /// A process is started at that time, and not without a bus.
        case pending(at: UInt64, reason: String)
        case running(Run)
        case stopping(Stopping)
    }

    var policy: Policy
    private(set) var state = State.untouched
    private var restarts: RestartPlan
    private var hasBus = false

    init(_ policy: Policy) {
        self.policy = policy
        restarts = RestartPlan(policy.backoff)
    }

    /// The process there is, also one that is ending.
    var pid: Int32? {
        switch state {
        case .untouched, .settled, .pending: nil
        case .running(let run): run.pid
        case .stopping(let stopping): stopping.pid
        }
    }

    /// What a broker that knows nothing is told; nil where that is what it
    /// supposes anyway.
    var report: ModuleReport? {
        switch state {
        case .untouched, .stopping: nil
        case .settled(.absent(let reason)): ModuleReport(state: .absent, reason: reason)
        case .settled(.failed(let reason)): ModuleReport(state: .failed, reason: reason)
        case .pending(_, let reason): ModuleReport(state: .restarting, reason: reason)
        case .running: ModuleReport(state: .starting, reason: "it runs already")
        }
    }

    /// Whether its first start is still going on: nothing is known of its fate.
    var isStarting: Bool {
        switch state {
        case .untouched, .settled, .stopping: false
        case .pending: restarts.quickDeaths == 0
        case .running(let run): run.readyAt == nil && restarts.quickDeaths == 0
        }
    }

    /// What it does instead of being ready, for a person; nil where it is ready
    /// or not meant to be.
    var activity: String? {
        switch state {
        case .untouched, .settled, .stopping: return nil
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

    var isReady: Bool {
        guard case .running(let run) = state else { return false }
        return run.phase == .ready
    }

    /// When `deadlinePassed` is due; nil for never.
    var deadline: UInt64? {
        switch state {
        case .untouched, .settled: nil
        case .pending(let at, _): hasBus ? at : nil
        case .running(let run): run.deadline
        case .stopping(let stopping): stopping.deadline
        }
    }

    // MARK: What somebody asks for

    /// It is wanted: by the order at the start, by a call on demand, by a person.
    /// - Parameter impatiently: whether a delay after deaths is cut short.
    mutating func start(at now: UInt64, reason: String, impatiently: Bool = true) -> [Action] {
        switch state {
        case .untouched, .settled:
            restarts.forget()
            state = .pending(at: now, reason: reason)
            return spawnIfDue(now)
        case .pending:
            guard impatiently else { return [] }
            restarts.forget()
            state = .pending(at: now, reason: reason)
            return spawnIfDue(now)
        case .running:
            return []
        case .stopping(var stopping):
            stopping.afterwards = .start
            state = .stopping(stopping)
            return []
        }
    }

    /// - Parameter asksForTearDown: false where the broker did that already, or
    ///   where the module can't answer.
    mutating func stop(
        at now: UInt64, reason: String, then afterwards: Afterwards = .nothing, asksForTearDown: Bool = true,
        within times: StopTimes? = nil
    ) -> [Action] {
        let times = times ?? StopTimes(tearDown: policy.stop, terminate: policy.stop)
        switch state {
        case .untouched, .settled:
            return afterwards == .start ? start(at: now, reason: reason) : []
        case .pending:
            if afterwards == .start { return start(at: now, reason: reason) }
            return settle(.absent(reason))
        case .running(let run):
            var stopping = Stopping(
                pid: run.pid, step: .retiring, deadline: now + times.tearDown, times: times,
                afterwards: afterwards, reason: reason)
            let canRetire =
                switch run.phase {
                case .joined, .settingUp, .setUp, .initializing, .ready: hasBus && asksForTearDown && times.tearDown > 0
                case .spawned, .reconnecting, .doomed: false
                }
            if canRetire {
                state = .stopping(stopping)
                return [.retire]
            }
            return terminate(&stopping, now)
        case .stopping(var stopping):
            // The later wish wins, and time only gets shorter.
            stopping.afterwards = afterwards
            stopping.reason = reason
            stopping.times.terminate = min(stopping.times.terminate, times.terminate)
            let wanted = stopping.step == .retiring ? times.tearDown : times.terminate
            if let deadline = stopping.deadline { stopping.deadline = min(deadline, now + wanted) }
            state = .stopping(stopping)
            return []
        }
    }

    /// Ends it at once, without asking.
    mutating func kill(reason: String) -> [Action] {
        switch state {
        case .untouched, .settled: return []
        case .pending: return settle(.absent(reason))
        case .running(let run):
            state = .stopping(
                Stopping(
                    pid: run.pid, step: .killing, deadline: nil, times: StopTimes(tearDown: 0, terminate: 0),
                    afterwards: .nothing, reason: reason))
            return [.signal(SIGKILL)]
        case .stopping(var stopping):
            stopping.step = .killing
            stopping.deadline = nil
            stopping.afterwards = .nothing
            state = .stopping(stopping)
            return [.signal(SIGKILL)]
        }
    }

    /// A running process must go, and counts as having failed: it uses too much
    /// memory, or doesn't answer.
    /// - Parameter grace: milliseconds between SIGTERM and SIGKILL; 0 is SIGKILL.
    mutating func doom(at now: UInt64, reason: String, grace: UInt64) -> [Action] {
        guard case .running(var run) = state else { return [] }
        if case .doomed = run.phase { return [] }
        run.phase = .doomed(reason)
        run.deadline = grace == 0 ? nil : now + grace
        state = .running(run)
        return [.note("\(reason): it is \(grace == 0 ? "killed" : "ended")"), .signal(grace == 0 ? SIGKILL : SIGTERM)]
    }

    // MARK: What became of actions

    mutating func spawned(_ pid: Int32, at now: UInt64) -> [Action] {
        guard case .pending(_, let reason) = state else {
            preconditionFailure("illegal transition: \(state), spawned")
        }
        state = .running(Run(pid: pid, spawnedAt: now, since: now, deadline: now + policy.startup))
        return [.tell(ModuleReport(state: .starting, reason: reason))]
    }

    /// - Parameter isTemporary: whether trying again may help.
    mutating func couldNotSpawn(_ message: String, isTemporary: Bool, at now: UInt64) -> [Action] {
        guard case .pending = state else { preconditionFailure("illegal transition: \(state), couldNotSpawn") }
        guard isTemporary else { return settle(.failed(message)) }
        return died(message, exit: nil, lastLines: [], spawnedAt: now, readyAt: nil, at: now)
    }

    /// The broker is done with tearDown, or refused to begin it.
    mutating func retired(at now: UInt64) -> [Action] {
        guard case .stopping(var stopping) = state, stopping.step == .retiring else { return [] }
        return terminate(&stopping, now)
    }

    // MARK: What happened

    mutating func busCame(at now: UInt64) -> [Action] {
        hasBus = true
        return spawnIfDue(now)
    }

    mutating func busWent(at now: UInt64) -> [Action] {
        hasBus = false
        switch state {
        case .untouched, .settled, .pending: return []
        case .running(var run):
            switch run.phase {
            case .spawned, .joined, .settingUp, .setUp, .initializing, .ready:
                run.phase = .reconnecting
                run.deadline = now + Self.reconnect
                state = .running(run)
            case .reconnecting, .doomed: break
            }
            return []
        case .stopping: return retired(at: now)
        }
    }

    /// What the broker says of the module.
    /// - Parameter pid: that of its session; 0 where it has none.
    mutating func saw(_ bus: BusState, pid: Int32, reason: String, at now: UInt64) -> [Action] {
        guard case .running(var run) = state else { return [] }
        if case .doomed = run.phase { return [] }
        let before = run.phase
        defer { if case .running(var run) = state, run.phase != before { run.since = now; state = .running(run) } }
        var actions: [Action] = []
        switch bus {
        case .starting where pid == run.pid:
            run.phase = .joined
            run.deadline = nil
            state = .running(run)
            return []
        case .settingUp, .setUp, .initializing, .ready:
            // A session of a process that is gone, told late.
            guard pid == 0 || pid == run.pid else { return [] }
            run.deadline = nil
            switch bus {
            case .settingUp:
                run.phase = .settingUp
                run.deadline = now + policy.startup + Self.slack
            case .setUp: run.phase = .setUp
            case .initializing:
                run.phase = .initializing
                run.deadline = now + policy.startup + Self.slack
            default: run.phase = .ready
            }
            if bus != .settingUp, !run.passedSetUp {
                run.passedSetUp = true
                actions.append(.passedSetUp)
            }
            if bus == .ready, run.readyAt == nil {
                run.readyAt = now
                actions.append(.becameReady(pid: run.pid, milliseconds: now - run.spawnedAt))
            }
            state = .running(run)
            return actions
        case .absent, .starting, .restarting, .failed:
            switch run.phase {
            case .joined, .settingUp, .setUp, .initializing, .ready:
                if reason == ErrorCode.failed.rawValue, run.readyAt == nil {
                    return doom(at: now, reason: failedStart(run, now), grace: min(policy.stop, 1_000))
                }
                run.phase = .reconnecting
                run.deadline = now + Self.reconnect
                state = .running(run)
            case .spawned, .reconnecting, .doomed: break
            }
            return []
        case .stopping:
            return []
        }
    }

    /// Its process ended.
    /// - Parameter lastLines: what it wrote last.
    mutating func exited(_ exit: ChildProcess.Exit, lastLines: [String], at now: UInt64) -> [Action] {
        switch state {
        case .untouched, .settled, .pending:
            preconditionFailure("illegal transition: \(state), exited")
        case .stopping(let stopping):
            guard stopping.afterwards == .start else { return settle(.absent(stopping.reason), exit: exit) }
            state = .pending(at: now, reason: stopping.reason)
            let report = ModuleReport(state: .restarting, reason: stopping.reason, exit: exit.description)
            return [.tell(report)] + spawnIfDue(now)
        case .running(let run):
            return ended(run, exit, lastLines, now)
        }
    }

    mutating func deadlinePassed(at now: UInt64) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .untouched, .settled: return []
        case .pending: return spawnIfDue(now)
        case .running(var run):
            let grace = min(policy.stop, 1_000)
            switch run.phase {
            case .spawned:
                return doom(at: now, reason: "it did not say hello to the bus within \(seconds(policy.startup))", grace: grace)
            case .settingUp: return doom(at: now, reason: "it hangs in setUp", grace: grace)
            case .initializing: return doom(at: now, reason: "it hangs in initialize", grace: grace)
            case .reconnecting:
                return doom(at: now, reason: "it lost the bus and did not come back within \(seconds(Self.reconnect))", grace: grace)
            case .doomed:
                run.deadline = nil
                state = .running(run)
                return [.signal(SIGKILL)]
            case .joined, .setUp, .ready: return []
            }
        case .stopping(var stopping):
            switch stopping.step {
            case .retiring: return terminate(&stopping, now)
            case .terminating:
                stopping.step = .killing
                stopping.deadline = nil
                state = .stopping(stopping)
                return [.note("it did not end within \(seconds(stopping.times.terminate)) of SIGTERM: it is killed"), .signal(SIGKILL)]
            case .killing: return []
            }
        }
    }

    // MARK: -

    /// The broker ended its connection because a step of its start failed.
    private func failedStart(_ run: Run, _ now: UInt64) -> String {
        let step = run.phase == .initializing ? "initialize" : "setUp"
        return now - run.since >= policy.startup
            ? "it did not answer \(step) within \(seconds(policy.startup))" : "its \(step) failed"
    }

    private mutating func spawnIfDue(_ now: UInt64) -> [Action] {
        guard hasBus, case .pending(let at, _) = state, at <= now else { return [] }
        return [.spawn]
    }

    private mutating func settle(_ settled: Settled, exit: ChildProcess.Exit? = nil) -> [Action] {
        state = .settled(settled)
        let report =
            switch settled {
            case .absent(let reason): ModuleReport(state: .absent, reason: reason, exit: exit?.description)
            case .failed(let reason): ModuleReport(state: .failed, reason: reason, exit: exit?.description)
            }
        return [.tell(report), .settled(settled)]
    }

    private mutating func terminate(_ stopping: inout Stopping, _ now: UInt64) -> [Action] {
        stopping.step = stopping.times.terminate == 0 ? .killing : .terminating
        stopping.deadline = stopping.times.terminate == 0 ? nil : now + stopping.times.terminate
        state = .stopping(stopping)
        return [.signal(stopping.times.terminate == 0 ? SIGKILL : SIGTERM)]
    }

    private mutating func ended(_ run: Run, _ exit: ChildProcess.Exit, _ lastLines: [String], _ now: UInt64) -> [Action] {
        var reason = "it ended with \(exit)"
        if case .doomed(let why) = run.phase {
            reason = "\(why), and was ended"
        } else if run.readyAt == nil {
            reason += " before it was ready"
        }
        var isDoomed = false
        if case .doomed = run.phase { isDoomed = true }
        // One that ended because its bus did (the broker was told to go) is to
        // come back with it.
        let isFailure = isDoomed || exit != .code(0) || run.readyAt == nil || run.phase == .reconnecting
        switch policy.restart {
        case .never:
            return settle(isFailure ? .failed(Self.with(lastLines, reason)) : .absent(reason), exit: exit)
        case .onFailure where !isFailure:
            return settle(.absent(reason), exit: exit)
        case .onFailure, .always:
            return died(reason, exit: exit, lastLines: lastLines, spawnedAt: run.spawnedAt, readyAt: run.readyAt, at: now)
        }
    }

    private mutating func died(
        _ reason: String, exit: ChildProcess.Exit?, lastLines: [String], spawnedAt: UInt64, readyAt: UInt64?, at now: UInt64
    ) -> [Action] {
        restarts.backoff = policy.backoff
        if policy.restart == .never { return settle(.failed(reason), exit: exit) }
        switch restarts.died(at: now, spawnedAt: spawnedAt, readyAt: readyAt) {
        case .giveUp:
            let message = "\(reason); that was the \(RestartPlan.mostQuickDeaths)th time in a row, so it is not started again"
            return settle(.failed(Self.with(lastLines, message)), exit: exit)
        case .start(let at):
            state = .pending(at: at, reason: "it starts again: \(reason)")
            let report = ModuleReport(state: .restarting, reason: Self.with(lastLines, reason), exit: exit?.description)
            return [.tell(report), .note("\(reason); it starts again in \(at - now) ms")]
        }
    }

    private static func with(_ lastLines: [String], _ reason: String) -> String {
        lastLines.isEmpty ? reason : "\(reason); its last lines: \(lastLines.joined(separator: " | "))"
    }
}

/// Milliseconds as a person reads them.
func seconds(_ milliseconds: UInt64) -> String {
    guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
}
