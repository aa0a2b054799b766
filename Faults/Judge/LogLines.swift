public import FaultRecord

/// Records as lines, for a person who looks for the cause of a violation.
public struct LogLines {
    private let logs: [ProcessLog]
    private let start: UInt64

    public init(_ logs: [ProcessLog]) {
        self.logs = logs
        start = logs.compactMap { $0.records.first?.time }.min() ?? 0
    }

    /// Returns the lines about a violation. They are the records of its request and of the
    /// requests made for that one, or the records of its process. The faults and the lives of
    /// these processes around that moment come with them.
    public func about(_ violation: Violation, most: Int = 24) -> [String] {
        var lines: [(time: UInt64, text: String)] = []
        var processes: Set<UInt32> = Set(violation.process.map { [$0] } ?? [])
        var moment = violation.time
        if let request = violation.request {
            for log in logs {
                for record in log.records where record.isOf(request.value) {
                    lines.append((record.time, line(record, log)))
                    processes.insert(log.process)
                    moment = max(moment, record.time)
                }
            }
        }
        for log in logs where processes.contains(log.process) || log.role == Role.index(of: "driver") {
            let life = log.records.filter {
                $0.isOfLife && isNear($0.time, moment) && (violation.request == nil || $0.time <= moment)
            }
            lines += life.map { ($0.time, line($0, log)) }
        }
        return lines.sorted { $0.time < $1.time }.suffix(most).map(\.text)
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
