internal import FaultRecord

/// Measures how long the app stood still.
extension RunJudge {
    mutating func measure() {
        var (back, handOver, outage): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for fault in faults {
            switch FaultKind(rawValue: fault.kind) {
            case .killBroker:
                back = max(back, timeToReturn(fault))
                outage = max(outage, longestSilence(fault, from: fault.time, to: fault.time + 2_000_000_000))
            case .handOver:
                let end = fault.time + fault.number * 1_000_000
                handOver = max(handOver, longestSilence(fault, from: fault.time - 50_000_000, to: end + 500_000_000))
            default: break
            }
        }
        summarize {
            $0.longestReturn = back
            $0.longestHandOver = handOver
            $0.longestOutage = outage
        }
    }

    /// Returns the time until the last surviving process has a session again. Processes that
    /// another fault has hit don't count.
    private func timeToReturn(_ fault: Record) -> UInt64 {
        let time = fault.time
        return logs.reduce(0) { longest, log in
            guard log.node == fault.code, Int(log.role) < Role.all.count, Role.all[Int(log.role)].player != .guest,
                // A process that is still starting isn't notified of the new session.
                let first = log.records.first(where: { $0.event == .ready || $0.event == .session }), first.time < time,
                let back = log.records.first(where: { $0.time > time && $0.event == .session })?.time,
                !faults.contains(where: { other in
                    (Int32(bitPattern: other.extra) == log.pid
                        || other.kind == FaultKind.killNode.rawValue && other.code == log.node)
                        && other.time + 2_000_000_000 > time && other.time < back
                })
            else { return longest }
            return max(longest, back - time)
        }
    }

    /// Returns the longest time in which no process of the fault's node got an answer.
    private func longestSilence(_ fault: Record, from: UInt64, to: UInt64) -> UInt64 {
        var times = logs.filter { $0.node == fault.code }.flatMap { log in
            log.records.filter { $0.event == .answered && $0.time >= from && $0.time <= to }.map(\.time)
        }
        times.append(from)
        times.sort()
        return zip(times, times.dropFirst()).reduce(0) { max($0, $1.1 - $1.0) }
    }
}
