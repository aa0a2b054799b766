import Glibc
import StrataCore
import StrataManifest

/// The requests that a module starts or stops.
extension ModuleMachine {
    /// Handles a request to start: from the start order, from a call on demand, or from a person.
    /// - Parameter impatiently: Whether the delay after a failure is cut short.
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
        case .lent:
            // The start order has reached the module, and must not wait for a process that a person
            // runs.
            return [.passedSetUp]
        case .stopping(var stopping):
            // The next process is the one that waits to be attached.
            if case .lend = stopping.afterwards { return [] }
            stopping.afterwards = .start
            state = .stopping(stopping)
            return []
        }
    }

    /// Handles a request to stop.
    /// - Parameter asksForTearDown: False if the broker has already done that, or if the module
    ///   can't answer.
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
        case .lent(let loan):
            var stopping = Stopping(
                pid: loan.pid, step: .retiring, deadline: now + times.tearDown, times: times,
                afterwards: afterwards, reason: reason, isLent: true)
            guard hasBus, asksForTearDown, times.tearDown > 0 else { return terminate(&stopping, now) }
            state = .stopping(stopping)
            return [.retire]
        case .stopping(var stopping):
            // The latest request wins, but the time only gets shorter.
            stopping.afterwards = afterwards
            stopping.reason = reason
            stopping.times.terminate = min(stopping.times.terminate, times.terminate)
            let wanted = stopping.step == .retiring ? times.tearDown : times.terminate
            if let deadline = stopping.deadline { stopping.deadline = min(deadline, now + wanted) }
            state = .stopping(stopping)
            return []
        }
    }

    /// Ends the process at once, without tearDown.
    mutating func kill(reason: String) -> [Action] {
        switch state {
        case .untouched, .settled: return []
        case .pending: return settle(.absent(reason))
        case .lent: return [.takeBack] + settle(.absent(reason))
        case .running(let run):
            state = .stopping(
                Stopping(
                    pid: run.pid, step: .killing, deadline: nil, times: StopTimes(tearDown: 0, terminate: 0),
                    afterwards: .nothing, reason: reason))
            return [.signal(SIGKILL)]
        case .stopping(let stopping) where stopping.isLent: return [.takeBack] + settle(.absent(reason))
        case .stopping(var stopping):
            stopping.step = .killing
            stopping.deadline = nil
            stopping.afterwards = .nothing
            state = .stopping(stopping)
            return [.signal(SIGKILL)]
        }
    }

    /// Ends a running process that counts as failed: it uses too much memory, or doesn't answer.
    /// - Parameter grace: The milliseconds between SIGTERM and SIGKILL; 0 for SIGKILL at once.
    mutating func doom(at now: UInt64, reason: String, grace: UInt64) -> [Action] {
        guard case .running(var run) = state else { return [] }
        if case .doomed = run.phase { return [] }
        run.phase = .doomed(reason)
        run.deadline = grace == 0 ? nil : now + grace
        state = .running(run)
        return [.note("\(reason): it is \(grace == 0 ? "killed" : "ended")"), .signal(grace == 0 ? SIGKILL : SIGTERM)]
    }
}
