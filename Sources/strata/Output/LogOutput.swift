import StrataCore
import StrataLoop
import StrataOperator

/// Shows modules' lines, across all the connections that they come over.
final class LogOutput {
    private let answer: Answer
    private var view: LineView
    private var shown: ShownLines
    /// The reason why the first line that couldn't be shown failed.
    private(set) var failure: Failure?

    /// In microseconds since 1970; older lines aren't shown.
    private let since: Int64
    /// Less serious lines aren't shown.
    private let level: Severity

    /// - Parameter modules: the modules whose names are padded to the same length.
    init(_ modules: [String], _ answer: Answer, since: Int64, level: Severity) {
        (self.answer, self.since, self.level) = (answer, since, level)
        view = LineView(modules, answer.painter)
        shown = ShownLines(since: Int64(clamping: Loop.wallMicroseconds))
    }

    /// Notes that all kept lines will come again.
    func resume() { shown.resume() }

    /// Shows a partial reply of `launcher/logs`, unless it was already shown.
    func show(_ body: [UInt8]) {
        let entry = try? JSON(parsing: body)
        if let entry {
            guard shown.isNew(entry), entry["at"]?.integer ?? .max >= since else { return }
            let severity = entry["severity"]?.string.flatMap(Severity.init(name:)) ?? .info
            guard severity <= level else { return }
        }
        if answer.isForPrograms {
            do throws(Failure) { try answer.show(body) } catch { failure = failure ?? error }
            return
        }
        guard let entry else { return }
        for line in view.lines(entry) { StandardOutput.write(line: line) }
    }
}

/// The look of modules' lines to a person: time, module, line, as `strata up` shows them.
struct LineView {
    private let painter: Painter
    private let width: Int
    /// For each module, the number of the process that wrote last.
    private var starts: [String: Int64] = [:]

    /// - Parameter modules: the modules whose names are padded to the same length. A very long
    ///   name sticks out.
    init(_ modules: [String], _ painter: Painter) {
        self.painter = painter
        width = min(20, modules.reduce(6) { max($0, $1.count) })
    }

    /// Returns the lines for a partial reply of `launcher/logs`. Lines about missed output or a
    /// new process come first.
    mutating func lines(_ entry: JSON) -> [String] {
        let module = entry["module"]?.string ?? "?"
        let name = Printable.line(module)
        let padded = name + String(repeating: " ", count: max(0, width - name.count))
        let time = ClockTime.text(entry["at"]?.integer ?? 0, digits: 3)
        let head = "\(painter.paint(time, .dim))  \(painter.paint(padded, ofModule: module)) "
        var lines: [String] = []
        if let missed = entry["missed"]?.integer, missed > 0 {
            lines.append(head + painter.paint("  \(Self.missed(missed))", .yellow))
        }
        let start = entry["start"]?.integer ?? 0
        if let before = starts.updateValue(start, forKey: module), before != start {
            let process = "process \(entry["pid"]?.integer ?? 0), start \(start)"
            lines.append(head + painter.paint("  \(process)", .dim))
        }
        let isError = entry["stream"]?.string == "err"
        let severity = entry["severity"]?.string.flatMap(Severity.init(name:)) ?? .info
        let colour: Colour = severity <= .error ? .red : severity == .warning ? .yellow : .plain
        let text = Printable.output(entry["line"]?.string ?? "") + (entry["cut"]?.bool == true ? " …" : "")
        lines.append(head + (isError ? painter.paint("!", .red) : "|") + " " + painter.paint(text, colour))
        return lines
    }

    /// Returns text like `1 line was missed`.
    static func missed(_ count: Int64) -> String { count == 1 ? "1 line was missed" : "\(count) lines were missed" }
}
