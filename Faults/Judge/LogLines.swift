public import FaultRecord

/// Records as lines, for a person who looks for the cause of a violation.
public struct LogLines {
    private let logs: [ProcessLog]
    private let placement: RolePlacement
    private let start: UInt64

    public init(_ logs: [ProcessLog], _ placement: RolePlacement) {
        self.logs = logs
        self.placement = placement
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
        let pids = Set(logs.filter { processes.contains($0.process) }.map(\.pid))
        for log in logs where processes.contains(log.process) || log.role == Role.index(of: "driver") {
            let life = log.records.filter {
                $0.isOfLife && isNear($0.time, moment) && (violation.request == nil || $0.time <= moment)
                    && $0.concerns(pids)
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
        let replica = log.replica > 0 ? "~\(log.replica)" : ""
        let role = Int(log.role) < Role.all.count ? Role.all[Int(log.role)].name + replica : "?"
        let place = placement.name(of: log.node).map { " on \($0)" } ?? ""
        return "\(seconds)  \(role) \(log.process) (\(log.pid))\(place)  \(record.text(placement))"
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
        case .session, .setUp, .ready, .tearDown, .flushed, .drained, .closed, .fault, .nodeLost, .nodeBack: true
        default: false
        }
    }

    /// Whether it is no fault of another process.
    fileprivate func concerns(_ pids: Set<Int32>) -> Bool {
        guard event == .fault, let kind = FaultKind(rawValue: kind) else { return true }
        switch kind {
        case .killModule, .haltModule, .cutConnection, .halfFrame, .delayReader, .guestComes, .guestGoes:
            return pids.contains(Int32(bitPattern: extra))
        default: return true
        }
    }

    fileprivate func text(_ placement: RolePlacement) -> String {
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
            let place = placement.name(of: code).map { " on \($0)" } ?? ""
            return "\(name) \(FaultKind(rawValue: kind)?.name ?? "?")\(place)\(pid), \(number) ms, \(detail)"
        case .nodeLost, .nodeBack: return "\(name) \(placement.name(of: kind) ?? "?")"
        default: return "\(name) \(number) \(extra)"
        }
    }
}
