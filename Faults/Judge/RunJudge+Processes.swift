internal import FaultRecord

/// Judges processes and sessions: none ends without a reason, and no process is set up twice.
extension RunJudge {
    /// The nanoseconds that a fault's consequences may take.
    private static let aftermath: UInt64 = 15_000_000_000
    /// The same for the broker's death, which all processes notice at once.
    private static let afterBroker: UInt64 = 2_000_000_000

    mutating func judgeProcesses() {
        let processes = logs.count
        summarize { $0.processes = processes }
        for fault in faults { summarize { $0.faults[fault.kind, default: 0] += 1 } }
        for log in logs where !log.records.isEmpty && Role.all[Int(log.role)].hasRow {
            let setUps = log.records.count { $0.event == .setUp }
            if setUps > 1 { found(.doubled, "\(roleName(log)) was set up \(setUps) times", process: log.process) }
            judgeSessions(log)
            judgeEnd(log)
        }
    }

    /// The nanoseconds for which a process may have nothing to log. All its requests may wait for
    /// nodes that are about to be lost.
    private var quiet: UInt64 { placement.hasNodes ? lost + 3_000_000_000 : 1_000_000_000 }

    /// Whether a fault explains what happened to a process at that time.
    private func isExplained(_ log: ProcessLog, at time: UInt64, by kinds: Set<FaultKind>) -> Bool {
        faults.contains { fault in
            guard let kind = FaultKind(rawValue: fault.kind), kinds.contains(kind), fault.time <= time,
                time - fault.time < Self.aftermath
            else { return false }
            switch kind {
            case .killBroker: return fault.code == log.node && time - fault.time < Self.afterBroker
            case .killNode: return fault.code == log.node
            case .killLauncher: return true
            case .restartModule, .scale: return fault.detail == UInt64(log.role)
            default: return Int32(bitPattern: fault.extra) == log.pid
            }
        }
    }

    /// Judges the ends of sessions. A connection may end because the broker died, because it was
    /// cut, or because its owner did not read.
    private mutating func judgeSessions(_ log: ProcessLog) {
        let reasons: Set<FaultKind> = [
            .killBroker, .cutConnection, .haltModule, .delayReader, .halfFrame, .killLauncher,
            .killNode,
        ]
        for record in log.records where isLoss(record) && record.time < end {
            if !isExplained(log, at: record.time, by: reasons) {
                found(
                    .unexplainedEnd, "a session of \(roleName(log)) has ended, and nothing was done to it",
                    process: log.process, time: record.time)
            }
        }
    }

    private func isLoss(_ record: Record) -> Bool {
        switch record.event {
        case .session: record.number > 1
        case .closed: record.extra > 0
        default: false
        }
    }

    /// Judges the end of a process. A process that was ready may end by a fault or a replacement.
    /// A process on demand may also end because it is idle.
    private mutating func judgeEnd(_ log: ProcessLog) {
        guard let last = log.records.last, last.time < end else { return }
        guard log.records.contains(where: { $0.event == .ready || $0.event == .session }) else { return }
        // Processes that lived to the end of the run have finished their part.
        let ending = log.records.first { $0.event == .tearDown }
        if ending == nil && last.event == .drained { return }
        if ending == nil, log.records.contains(where: { $0.event == .drained }) { return }
        if ending != nil, Role.all[Int(log.role)].start == .onDemand { return }
        let reasons: Set<FaultKind> = [
            .killModule, .haltModule, .delayReader, .restartModule, .scale, .killLauncher, .killNode,
        ]
        if !isExplained(log, at: ending?.time ?? last.time + quiet, by: reasons) {
            found(
                .unexplainedEnd, "a process of \(roleName(log)) has ended, and nothing was done to it",
                process: log.process, time: last.time)
        }
    }
}
