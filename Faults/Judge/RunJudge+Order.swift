internal import FaultRecord

/// Judges the order of requests between two processes: their handlers begin in the order in which
/// they were sent.
extension RunJudge {
    /// Looks at requests of one kind only, because handlers that wait, or that the authorizer is
    /// asked for, begin when they can.
    mutating func judgeOrder() {
        for log in logs {
            var last: [UInt32: UInt64] = [:]
            for record in log.records where record.event == .started {
                let number = RequestNumber(record.number)
                guard let states = requests[number.process], number.index < states.count,
                    states[Int(number.index)].kind == RequestKind.atOnce.rawValue
                else { continue }
                if let before = last[number.process], before > number.index {
                    found(
                        .outOfOrder, "\(roleName(log)) began a request after a later one of the same caller",
                        request: record.number, process: log.process, time: record.time)
                }
                last[number.process] = max(last[number.process] ?? 0, number.index)
            }
        }
    }
}
