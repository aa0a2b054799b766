internal import FaultRecord

/// Judges the keys of requests to replicas: those of one key are handled by one process until its
/// session ends, or until it is replaced or scaled away.
extension RunJudge {
    /// The nanoseconds from the order to replace a process to the last request that it may get, and
    /// from its last request to its end.
    static let ending: UInt64 = 12_000_000_000

    mutating func judgeKeys() {
        // In an app of several nodes no row has replicas.
        guard !placement.hasNodes else { return }
        let byKey = Dictionary(grouping: keyedRequests(), by: \.state.key)
        for requests in byKey.values { judgeKey(requests.sorted { $0.state.sentAt < $1.state.sentAt }) }
    }

    private struct KeyedRequest {
        var number: RequestNumber
        var state: RequestState
    }

    private func keyedRequests() -> [KeyedRequest] {
        requests.flatMap { process, states in
            states.enumerated().compactMap { index, state in
                guard state.key > 0, state.starts == 1 else { return nil }
                return KeyedRequest(number: RequestNumber(process: process, index: UInt64(index)), state: state)
            }
        }
    }

    /// Compares each request with two that the broker sent on earlier. One is the caller's previous
    /// request, unless either waited for the authorizer. The other is the newest one that was answered
    /// before this one was sent.
    private mutating func judgeKey(_ all: [KeyedRequest]) {
        var byCaller: [UInt32: KeyedRequest] = [:]
        let answered = all.filter { $0.state.answers > 0 }.sorted { $0.state.answeredAt < $1.state.answeredAt }
        var next = 0
        var newest: KeyedRequest?
        for request in all {
            while next < answered.count, answered[next].state.answeredAt < request.state.sentAt {
                newest = answered[next]
                next += 1
            }
            let isInOrder = request.state.kind == RequestKind.keyed.rawValue
            for before in [isInOrder ? byCaller[request.number.process] : nil, newest].compactMap({ $0 })
            where !mayMove(from: before.state, to: request.state) {
                found(
                    .wrongReplica,
                    "a request with key \(request.state.key) went to process \(request.state.handler), and process "
                        + "\(before.state.handler) had the key (request \(before.number))",
                    request: request.number.value,
                    process: before.state.handler)
                break
            }
            if isInOrder { byCaller[request.number.process] = request }
        }
    }

    /// Whether two requests of a key may have gone where they went. A key goes to another process with
    /// the broker's death, and if a fault ended the session of the process that had it.
    private func mayMove(from: RequestState, to: RequestState) -> Bool {
        guard from.handler != to.handler else { return true }
        let log = logs.first { $0.process == from.handler }
        guard let log else { return true }
        let isLost = endOfSession(log, at: from.startedAt).map { $0 < to.startedAt + Self.ending } ?? false
        return faults.contains { fault in
            guard let kind = FaultKind(rawValue: fault.kind), fault.time <= to.startedAt, fault.code == log.node
            else { return false }
            switch kind {
            case .killBroker, .killNode: return fault.time >= from.sentAt
            case .restartModule, .scale:
                return isLost && fault.detail == UInt64(log.role) && fault.time + Self.ending > from.startedAt
            default:
                return isLost && Int32(bitPattern: fault.extra) == log.pid && fault.time + Self.ending > from.startedAt
            }
        }
    }

    /// Returns the time of the first sign that a process's session of that time had ended; nil if it
    /// lasted to the run's end.
    private func endOfSession(_ log: ProcessLog, at time: UInt64) -> UInt64? {
        for record in log.records where record.time > time {
            switch record.event {
            case .session, .closed, .tearDown: return record.time
            case .drained: return nil
            default: break
            }
        }
        return log.records.last?.time
    }
}
