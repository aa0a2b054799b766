import StrataCore
import StrataReplay

/// Shows how a replay goes: lines for a person, or JSON for a program.
struct ReplayView {
    private static let mostShown = 600

    private let module: String
    private let answer: Answer
    private let isVerbose: Bool

    init(_ module: String, _ answer: Answer, isVerbose: Bool) {
        (self.module, self.answer, self.isVerbose) = (module, answer, isVerbose)
    }

    /// What is shown while it goes.
    var story: Replay.Story {
        var story = Replay.Story()
        if isVerbose { story.onFrame = { StandardError.write($0) } }
        story.onDifference = show
        story.onEnd = showEnd
        if !answer.isForPrograms {
            story.onStart = { number, count in
                if count > 1 { StandardOutput.write(line: answer.painter.paint("start \(number) of \(count)", .dim)) }
            }
        }
        return story
    }

    private func show(_ difference: Difference) {
        guard !answer.isForPrograms else { return StandardOutput.write(line: difference.json.encoded()) }
        let time = difference.at == 0 ? "" : ClockTime.text(difference.at, digits: 3) + "  "
        StandardOutput.write(
            line: answer.painter.paint("\(time)\(Self.cut(difference.what))", .yellow)
                + (difference.params.map { $0 == .null ? "" : "  \(Self.cut("\($0)"))" } ?? ""))
        StandardOutput.write(line: "    recorded  \(Self.cut(difference.recorded))")
        StandardOutput.write(line: "    replayed  \(Self.cut(difference.replayed))")
    }

    private func showEnd(_ how: String, _ wasExpected: Bool, _ doing: [String], _ lines: [String]) {
        guard !answer.isForPrograms else {
            let end: JSON = [
                "end": .string(how), "recorded": .bool(wasExpected), "open": .strings(doing), "lines": .strings(lines),
            ]
            return StandardOutput.write(line: end.encoded())
        }
        let then = wasExpected ? "as in the recording" : "in the recording it goes on"
        StandardOutput.write(
            line: answer.painter.paint("\(Printable.line(module)) ended: \(how); \(then)", wasExpected ? .bold : .red))
        for call in doing { StandardOutput.write(line: "    it had not answered \(Self.cut(call))") }
        for line in lines { StandardOutput.write(line: answer.painter.paint("    ! \(line)", .dim)) }
    }

    func show(_ count: ReplayCount) {
        guard !answer.isForPrograms else { return StandardOutput.write(line: count.json.encoded()) }
        func counted(_ number: Int, _ one: String, _ more: String) -> String { "\(number) \(number == 1 ? one : more)" }
        var parts = [
            counted(count.answered, "answer", "answers"), counted(count.requests, "request", "requests"),
            counted(count.notices, "notice", "notices"),
        ]
        if count.unsent > 0 { parts.append("\(count.unsent) not sent: their bodies aren't in the recording") }
        StandardOutput.write(
            line: parts.joined(separator: ", ") + ": "
                + counted(count.differences, "difference", "differences"))
    }

    private static func cut(_ text: String) -> String {
        let line = Printable.line(text)
        return line.count > mostShown ? line.prefix(mostShown) + "…" : line
    }
}
