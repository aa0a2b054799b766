internal import FaultJudge
internal import FaultRecord

/// The run's result as text.
struct SummaryTable {
    let summary: Summary
    let violations: [Violation]
    let run: Run

    var lines: [String] {
        var lines: [String] = []
        let total = summary.sent.values.reduce(0, +)
        let rate = Int(Double(total) / max(run.loadSeconds, 0.001))
        lines.append("requests  \(total), \(rate) a second")
        lines += columns(
            RequestKind.allCases.compactMap { kind in
                summary.sent[kind.rawValue].map { (kind.name, "\($0)") }
            })
        lines.append("answers")
        let answers = summary.answers.sorted { ($0.key >> 8, $0.key) < ($1.key >> 8, $1.key) }
        lines += columns(
            answers.map { key, count in
                let ran = Ran(rawValue: UInt8(key & 0xFF)).map { "\($0)" } ?? "?"
                let name = AnswerCode.name(UInt8(key >> 8))
                return (name == "reply" ? name : "\(name), \(ran)", "\(count)")
            } + [("given up by the caller", "\(summary.givenUp)"), ("ended with their process", "\(summary.out)")])
        lines.append(
            "notices  \(summary.notices), of \(summary.broadcasts) broadcasts; \(summary.missed) replaced by newer ones, "
                + "\(summary.shared) shared by replicas"
        )
        if run.placement.hasNodes {
            lines.append(
                "between nodes  \(summary.crossed) requests, of which \(summary.crossedFailures) failed; "
                    + "\(summary.crossedNotices) notices")
        }
        lines.append("faults")
        lines += columns(
            FaultKind.allCases.compactMap { kind in
                summary.faults[kind.rawValue].map { (kind.name, "\($0)") }
            })
        lines.append("processes  \(summary.processes)")
        lines.append("replaced  \(run.replaced.done) modules (\(run.replaced.refused) refused or lost)")
        if !run.placement.hasNodes {
            lines.append("scaled  \(run.scaled.done) times (\(run.scaled.refused) refused or lost)")
        }
        lines.append(
            run.nodes.allSatisfy(\.canHandOver)
                ? "broker  \(summary.faults[FaultKind.killBroker.rawValue] ?? 0) starts after a kill, "
                    + "\(run.handOvers.done) replacements in place (\(run.handOvers.refused) refused or lost)"
                : "broker  \(summary.faults[FaultKind.killBroker.rawValue] ?? 0) starts after a kill; it can't be "
                    + "replaced in place")
        lines.append(
            "from the broker's death to the last module's return  \(milliseconds(summary.longestReturn)) at most")
        lines.append(
            "nobody got an answer around a death of the broker  \(milliseconds(summary.longestOutage)) at most")
        if run.handOvers.done > 0 {
            lines.append("nobody got an answer around a replacement  \(milliseconds(summary.longestHandOver)) at most")
            lines.append("the broker stood still for  \(milliseconds(UInt64(run.stoodStill) * 1_000)) at most")
        }
        lines.append("longest wait for an answer  \(milliseconds(summary.longestWait))")
        lines += Violation.Kind.allCases.map { kind in
            "\(kind.rawValue)  \(violations.count { $0.kind == kind })"
        }
        return lines
    }

    private func milliseconds(_ nanoseconds: UInt64) -> String {
        let tenths = nanoseconds / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    private func columns(_ pairs: [(String, String)]) -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        let numbers = pairs.map(\.1.count).max() ?? 0
        let cells = pairs.map { name, number in
            "  " + name + String(repeating: " ", count: width - name.count + 1 + numbers - number.count) + number
        }
        return stride(from: 0, to: cells.count, by: 3).map { cells[$0..<min($0 + 3, cells.count)].joined() }
    }
}
