public import FaultRecord

/// Records as lines, for whoever looks for a violation's cause.
public struct LogLines {
    private let logs: [ProcessLog]
    private let start: UInt64

    public init(_ logs: [ProcessLog]) {
        self.logs = logs
        start = logs.compactMap { $0.records.first?.time }.min() ?? 0
    }

    /// All that a violation is about: each record of its request and of those made
    /// for it; or its process's around the moment, with the faults.
    public func about(_ violation: Violation, most: Int = 24) -> [String] {
        if let request = violation.request { return about(request.value, most) }
        guard let process = violation.process else { return [] }
        var lines: [(UInt64, String)] = []
        for log in logs where log.process == process || log.role == Role.index(of: "driver") {
            let life = log.records.filter { $0.isOfLife && isNear($0.time, violation.time) }
            lines += life.map { ($0.time, line($0, log)) }
        }
        return lines.sorted { $0.0 < $1.0 }.suffix(most).map(\.1)
    }

    private func about(_ request: UInt64, _ most: Int) -> [String] {
        var lines: [(UInt64, String)] = []
        for log in logs {
            for record in log.records where record.isOf(request) { lines.append((record.time, line(record, log))) }
        }
        return lines.sorted { $0.0 < $1.0 }.prefix(most).map(\.1)
    }

    private func isNear(_ time: UInt64, _ other: UInt64) -> Bool {
        other == 0 || (time < other + 2_000_000_000 && other < time + 6_000_000_000)
    }

    private func line(_ record: Record, _ log: ProcessLog) -> String {
        let micros = (record.time - min(record.time, start)) / 1_000
        let seconds = "\(micros / 1_000_000)." + String("\(1_000_000 + micros % 1_000_000)".dropFirst())
        let role = Int(log.role) < Role.all.count ? Role.all[Int(log.role)].name : "?"
        return "\(seconds)  \(role) \(log.process) (\(log.pid))  \(record.text)"
    }
}

extension Record {
    fileprivate func isOf(_ request: UInt64) -> Bool {
        switch event {
        case .sent: number == request || detail == request
        case .answered, .answeredAgain, .wrongReply, .gaveUp, .started, .ended: number == request
        default: false
        }
    }

    fileprivate var isOfLife: Bool {
        switch event {
        case .session, .setUp, .ready, .tearDown, .flushed, .drained, .closed, .fault: true
        default: false
        }
    }

    fileprivate var text: String {
        let name = event.map { "\($0)" } ?? "?"
        switch event {
        case .sent:
            let parent = detail > 0 ? " for \(RequestNumber(detail))" : ""
            return "\(name) \(RequestKind(rawValue: kind)?.name ?? "?") \(RequestNumber(number))\(parent)"
        case .answered:
            return
                "\(name) \(RequestNumber(number)): \(AnswerCode.name(code)), \(Ran(rawValue: ran).map { "\($0)" } ?? "?")"
        case .answeredAgain, .wrongReply, .gaveUp, .started, .ended: return "\(name) \(RequestNumber(number))"
        case .fault:
            let pid = extra > 0 ? ", process \(extra)" : ""
            return "\(name) \(FaultKind(rawValue: kind)?.name ?? "?")\(pid), \(number) ms, \(detail)"
        default: return "\(name) \(number) \(extra)"
        }
    }
}
