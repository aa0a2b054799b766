import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// The events of a module: from its process, its session, the bus, and the clock.
extension ModuleMachine {
    // MARK: Results of actions

    mutating func spawned(_ pid: Int32, at now: UInt64) -> [Action] {
        guard case .pending(_, let reason) = state else {
            preconditionFailure("illegal transition: \(state), spawned")
        }
        state = .running(Run(pid: pid, spawnedAt: now, deadline: now + policy.startup))
        return [.tell(ModuleReport(state: .starting, reason: reason))]
    }

    /// Handles a failed start.
    /// - Parameter isTemporary: Whether another attempt may succeed.
    mutating func couldNotSpawn(_ message: String, isTemporary: Bool, at now: UInt64) -> [Action] {
        guard case .pending = state else { preconditionFailure("illegal transition: \(state), couldNotSpawn") }
        cause = message
        guard isTemporary else { return settle(.failed(message)) }
        return died(message, exit: nil, lastLines: [], spawnedAt: now, readyAt: nil, at: now) + [.startFailed]
    }

    /// The broker has finished tearDown, or refused to begin it.
    mutating func retired(at now: UInt64) -> [Action] {
        guard case .stopping(var stopping) = state, stopping.step == .retiring else { return [] }
        return terminate(&stopping, now)
    }

    // MARK: Events

    mutating func busCame(at now: UInt64) -> [Action] {
        hasBus = true
        return spawnIfDue(now)
    }

    mutating func busWent(at now: UInt64) -> [Action] {
        hasBus = false
        switch state {
        case .untouched, .settled, .pending: return []
        case .lent(var loan):
            loan.isReady = false
            state = .lent(loan)
            return []
        case .running(var run):
            switch run.phase {
            case .spawned, .joined, .settingUp, .setUp, .initializing, .ready:
                run.phase = .reconnecting
                run.deadline = now + Self.reconnect
                run.lostBus = true
                state = .running(run)
            case .reconnecting, .doomed: break
            }
            return []
        case .stopping: return retired(at: now)
        }
    }

    /// Handles the module's state as the broker reports it.
    /// - Parameters:
    ///   - pid: The process of the module's session; 0 if there is none.
    ///   - startFailed: Why its start failed; empty if it didn't.
    mutating func saw(
        _ bus: BusState, pid: Int32, reason: String, startFailed: String = "", at now: UInt64
    ) -> [Action] {
        if case .lent(let loan) = state { return saw(bus, pid: pid, of: loan, at: now) }
        guard case .running(var run) = state else { return [] }
        if case .doomed = run.phase { return [] }
        var actions: [Action] = []
        switch bus {
        case .starting where pid == run.pid:
            run.phase = .joined
            run.deadline = nil
            run.lostBus = false
            state = .running(run)
            return []
        case .settingUp, .setUp, .initializing, .ready:
            // A late report may be about the session of an earlier process.
            guard pid == 0 || pid == run.pid else { return [] }
            run.deadline = nil
            run.lostBus = false
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
                mustStart = false
                actions.append(.becameReady(pid: run.pid, milliseconds: now - run.spawnedAt))
            }
            state = .running(run)
            return actions
        case .absent, .starting, .restarting, .failed:
            switch run.phase {
            case .joined, .settingUp, .setUp, .initializing, .ready:
                if reason == ErrorCode.failed.rawValue, run.readyAt == nil {
                    return doom(at: now, reason: startFailed, grace: min(policy.stop, 1_000))
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

    /// Another process has replaced the running one: it has taken over, or it is the only one left
    /// and still starts.
    /// - Parameter spawnedAt: The time on the clock of `now`.
    mutating func replaced(by pid: Int32, spawnedAt: UInt64, isReady: Bool, at now: UInt64) -> [Action] {
        guard case .running = state else { preconditionFailure("illegal transition: \(state), replaced") }
        var run = Run(pid: pid, spawnedAt: spawnedAt, passedSetUp: true)
        if isReady {
            run.phase = .ready
            run.readyAt = now
        } else {
            run.deadline = now + policy.startup
        }
        state = .running(run)
        return isReady ? [.becameReady(pid: pid, milliseconds: now - spawnedAt)] : []
    }

    /// Handles the end of the module's process.
    /// - Parameters:
    ///   - lastLines: The last lines that it wrote.
    ///   - cause: Why it ended, if more is known than its exit.
    mutating func exited(
        _ exit: ChildProcess.Exit, lastLines: [String], because cause: String? = nil, at now: UInt64
    ) -> [Action] {
        switch state {
        case .untouched, .settled, .pending, .lent:
            preconditionFailure("illegal transition: \(state), exited")
        case .stopping(let stopping):
            return stopped(stopping, exit: exit, at: now)
        case .running(let run):
            return ended(run, exit, cause, lastLines, now)
        }
    }

    mutating func deadlinePassed(at now: UInt64) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .untouched, .settled, .lent: return []
        case .pending: return spawnIfDue(now)
        case .running(var run):
            let grace = min(policy.stop, 1_000)
            switch run.phase {
            case .spawned:
                return doom(
                    at: now, reason: "it did not say hello to the bus within \(seconds(policy.startup))", grace: grace)
            case .settingUp: return doom(at: now, reason: "it hangs in setUp", grace: grace)
            case .initializing: return doom(at: now, reason: "it hangs in initialize", grace: grace)
            case .reconnecting:
                return doom(
                    at: now, reason: "it lost the bus and did not reconnect within \(seconds(Self.reconnect))",
                    grace: grace)
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
                return [
                    .note("it did not end within \(seconds(stopping.times.terminate)) of SIGTERM: it is killed"),
                    .signal(SIGKILL),
                ]
            case .killing: return []
            }
        }
    }
}
