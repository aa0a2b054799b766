internal import FaultRecord

/// Judges the order of requests between two processes: their handlers begin in the order in which
/// they were sent. At replicas this holds for requests with the same key.
extension RunJudge {
    /// Looks at requests of two kinds only, because handlers that wait, or that the authorizer is
    /// asked for, begin when they can.
    mutating func judgeOrder() {
        for log in logs {
            var last: [Line: UInt64] = [:]
            for record in log.records where record.event == .started {
                let number = RequestNumber(record.number)
                guard let states = requests[number.process], number.index < states.count,
                    isOrdered(states[Int(number.index)])
                else { continue }
                let line = Line(caller: number.process, key: states[Int(number.index)].key)
                if let before = last[line], before > number.index {
                    found(
                        .outOfOrder, "\(roleName(log)) began a request after a later one of the same caller",
                        request: record.number, process: log.process, time: record.time)
                }
                last[line] = max(last[line] ?? 0, number.index)
            }
        }
    }

    /// Requests that stay in their order.
    private struct Line: Hashable {
        var caller: UInt32
        var key: UInt8
    }

    private func isOrdered(_ state: RequestState) -> Bool {
        switch RequestKind(rawValue: state.kind) {
        case .keyed: true
        case .atOnce: state.callee == 0 || Role.all[Int(state.callee) - 1].replicas == nil
        default: false
        }
    }
}
