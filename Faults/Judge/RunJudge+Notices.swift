internal import FaultRecord

/// Judges notices: none is missing silently, and none comes twice or late.
extension RunJudge {
    /// The nanoseconds that a broadcast may wait in its sender, which may be halted.
    static let delay: UInt64 = 6_000_000_000

    mutating func judgeNotices() {
        let publications = Publication.all(logs)
        summarize { $0.broadcasts = publications.values.reduce(0) { $0 + $1.times.count } }
        // What the last process of a role, or of one of its replicas, has seen of each publication, by observation.
        var before: [Seat: (log: ProcessLog, seen: [Observer.Key: [UInt64: UInt64]])] = [:]
        for log in logs where !log.records.isEmpty {
            let role = Role.all[Int(log.role)]
            var predecessor: [Observer.Key: [UInt64: UInt64]]?
            var isBesideOther = false
            if role.overlaps, let other = before[Seat(log)], let end = other.log.records.last,
                end.time > log.records[0].time
            {
                isBesideOther = true
                if other.log.records.contains(where: { $0.event == .drained && $0.detail > 0 }) {
                    predecessor = other.seen
                }
            }
            let hasSuccessor =
                role.overlaps
                && logs.contains {
                    Seat($0) == Seat(log) && $0.process > log.process
                        && $0.records.first.map(\.time) ?? .max
                            < log.records.last!.time
                }
            var run = ObservedRun(
                log: log, role: role, publications: publications, views: views, delay: Self.delay,
                hasNodes: placement.hasNodes, isBesideOther: isBesideOther, predecessor: predecessor,
                hasSuccessor: hasSuccessor)
            run.judge()
            for finding in run.findings {
                found(
                    finding.isOfAParting ? .gapAfterParting : .silentGap, finding.text, process: log.process,
                    time: finding.time)
            }
            summarize {
                $0.notices += run.notices
                $0.crossedNotices += run.crossed
                $0.missed += run.missed
            }
            before[Seat(log)] = (log, run.seen)
        }
        judgeShares(publications)
    }

    /// What one process has after another: a row on a node, or one of its replicas.
    private struct Seat: Hashable {
        let role, replica, node: UInt8

        init(_ log: ProcessLog) { (role, replica, node) = (log.role, log.replica, log.node) }
    }
}
