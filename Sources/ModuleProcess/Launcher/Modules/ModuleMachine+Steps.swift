import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// Steps that several events share.
extension ModuleMachine {
    mutating func spawnIfDue(_ now: UInt64) -> [Action] {
        guard hasBus, case .pending(let at, _) = state, at <= now else { return [] }
        return [.spawn]
    }

    mutating func settle(_ settled: Settled, exit: ChildProcess.Exit? = nil) -> [Action] {
        state = .settled(settled)
        mustStart = false
        let report =
            switch settled {
            case .absent(let reason): ModuleReport(state: .absent, reason: reason, exit: exit?.description)
            case .failed(let reason, let lines):
                ModuleReport(state: .failed, reason: reason, lines: lines, exit: exit?.description)
            }
        return [.tell(report), .settled(settled)]
    }

    /// A process that was to end has ended, or no longer belongs to the launcher.
    mutating func stopped(_ stopping: Stopping, exit: ChildProcess.Exit?, at now: UInt64) -> [Action] {
        cause = stopping.reason
        switch stopping.afterwards {
        case .nothing: return settle(.absent(stopping.reason), exit: exit)
        case .start:
            state = .pending(at: now, reason: stopping.reason)
            let report = ModuleReport(
                state: .restarting, reason: stopping.reason, exit: exit?.description, wasAsked: true)
            return [.tell(report), .stopped] + spawnIfDue(now)
        case .lend(var loan):
            loan.follows = stopping.pid
            return [.stopped] + lend(loan, at: now)
        }
    }

    mutating func terminate(_ stopping: inout Stopping, _ now: UInt64) -> [Action] {
        if stopping.isLent { return [.takeBack] + stopped(stopping, exit: nil, at: now) }
        stopping.step = stopping.times.terminate == 0 ? .killing : .terminating
        stopping.deadline = stopping.times.terminate == 0 ? nil : now + stopping.times.terminate
        state = .stopping(stopping)
        return [.signal(stopping.times.terminate == 0 ? SIGKILL : SIGTERM)]
    }

    mutating func ended(
        _ run: Run, _ exit: ChildProcess.Exit, _ known: String?, _ lastLines: [String], _ now: UInt64
    ) -> [Action] {
        var reason = "it ended with \(exit)"
        if case .doomed(let why) = run.phase {
            reason = "\(why), and was ended"
        } else if let known {
            reason = known
        } else if run.readyAt == nil {
            reason += " before it was ready"
        }
        cause = reason
        var isDoomed = false
        if case .doomed = run.phase { isDoomed = true }
        // A process that ended because the broker was told to end must come back with the bus. If a
        // process ended by itself, the bus may report that before its exit is known.
        let isFailure = isDoomed || known != nil || exit != .code(0) || run.readyAt == nil || run.lostBus
        switch policy.restart {
        case .never:
            return settle(isFailure ? .failed(reason, lines: lastLines) : .absent(reason), exit: exit)
        case .onFailure where !isFailure:
            return settle(.absent(reason), exit: exit)
        case .onFailure, .always:
            let actions = died(
                reason, exit: exit, lastLines: lastLines, spawnedAt: run.spawnedAt, readyAt: run.readyAt, at: now)
            return run.readyAt == nil ? actions + [.startFailed] : actions
        }
    }

    mutating func died(
        _ reason: String, exit: ChildProcess.Exit?, lastLines: [String], spawnedAt: UInt64, readyAt: UInt64?,
        at now: UInt64
    ) -> [Action] {
        cause = reason
        if policy.restart == .never || mustStart {
            return settle(.failed(reason, lines: lastLines), exit: exit)
        }
        switch restarts.died(at: now, spawnedAt: spawnedAt, readyAt: readyAt) {
        case .giveUp:
            let message =
                "\(reason); that was the \(RestartPlan.mostQuickDeaths)th time in a row, so it is not started again"
            cause = message
            return settle(.failed(message, lines: lastLines), exit: exit)
        case .start(let at):
            state = .pending(at: at, reason: "it starts again: \(reason)")
            let report = ModuleReport(
                state: .restarting, reason: reason, lines: lastLines, exit: exit?.description)
            return [.tell(report), .note("\(reason); it starts again in \(at - now) ms")]
        }
    }

    static func with(_ lastLines: [String], _ reason: String) -> String {
        lastLines.isEmpty ? reason : "\(reason); its last lines: \(lastLines.joined(separator: " | "))"
    }
}
