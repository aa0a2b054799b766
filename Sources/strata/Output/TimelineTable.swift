import StrataCore
import StrataPictures

/// A start for a person: a table, with a bar for each module if the terminal is wide enough.
struct TimelineTable {
    private static let narrowestBar = 14
    private static let widestBar = 100

    private let timeline: StartTimeline
    private let painter: Painter

    init(_ timeline: StartTimeline, _ painter: Painter) {
        self.timeline = timeline
        self.painter = painter
    }

    func print() {
        let plain = table(bar: nil)
        let room = min(Self.widestBar, Table.terminalWidth - plain.width - Table.gap.count)
        let hasBars = room >= Self.narrowestBar
        (hasBars ? table(bar: room) : plain).print(painter)
        for row in timeline.rows { explain(row) }
        for row in timeline.rows where !row.marks.isEmpty { showMarks(of: row) }
        if hasBars {
            let legend = StartTimeline.Phase.allCases.map { phase in
                "\(painter.paint(Self.sign(phase), Self.colour(phase))) \(painter.paint(Self.word(phase), .dim))"
            }
            StandardOutput.write(line: legend.joined(separator: "   "))
        }
        for text in [timeline.summary, timeline.pathSummary].compactMap({ $0 }) {
            for line in Paragraph.lines(Printable.line(text), width: Table.terminalWidth) {
                StandardOutput.write(line: line)
            }
        }
    }

    private func table(bar: Int?) -> Table {
        var columns: [Table.Column] = [
            .init("MODULE", isFlexible: true), .init("BEGAN", isRight: true), .init("CONNECT", isRight: true),
            .init("SETUP", isRight: true), .init("INIT", isRight: true), .init("READY", isRight: true),
        ]
        // A title as wide as the bars sets the column's width.
        if let bar { columns.append(.init(axis(bar))) }
        var table = Table(columns: columns)
        for row in timeline.rows { table.add(cells(row) + (bar.map { [self.bar(row, $0)] } ?? [])) }
        return table
    }

    private func cells(_ row: StartTimeline.Row) -> [Table.Cell] {
        func time(_ phase: StartTimeline.Phase) -> Table.Cell {
            if let time = row.microseconds(phase) { return .init(StartTimeline.text(time)) }
            // The phase never came to its end.
            return row.spans.contains { $0.phase == phase } ? .init("✗", .red) : .init("–", .dim)
        }
        let began = row.begun.map {
            "+" + StartTimeline.text(max(0, $0 - (timeline.begun ?? timeline.range.lowerBound)))
        }
        return [
            .init(row.name, .bold), .init(row.isResumed ? "–" : began ?? "–", .dim), time(.connect), time(.setUp),
            time(.initialize), last(row),
        ]
    }

    /// The cell for the whole time, or for what happened instead.
    private func last(_ row: StartTimeline.Row) -> Table.Cell {
        if row.isResumed { return .init("resumed", .dim) }
        if let ready = row.ready, let begun = row.begun { return .init(StartTimeline.text(ready - begun), .green) }
        if row.begun == nil { return .init(row.state, row.state == "failed" ? .red : .dim) }
        return .init(row.ended == nil ? row.state : "failed", row.ended == nil ? .yellow : .red)
    }

    /// Explains what happened to a module that was started and isn't ready.
    private func explain(_ row: StartTimeline.Row) {
        guard row.ready == nil, row.begun != nil || row.state == "failed" else { return }
        var text = "\(row.name) "
        switch row.spans.last {
        case let span? where span.isCut && row.connected != nil:
            text += "failed in \(span.phase.rawValue) after \(StartTimeline.text(span.microseconds))"
        case _ where row.begun == nil: text += "was not started"
        case _ where row.connected == nil:
            text += row.ended == nil ? "has not connected yet" : "never connected"
        case _: text += "is \(row.state)"
        }
        if !row.reason.isEmpty { text += ": \(row.reason)" }
        StandardOutput.write(line: painter.paint(Printable.line(text), row.ended == nil ? .yellow : .red))
    }

    /// Lists what a module has marked itself, with the times since its own beginning.
    private func showMarks(of row: StartTimeline.Row) {
        let marks = row.marks.map { "\($0.name) +\(StartTimeline.text(row.microseconds(to: $0)))" }
        let text = Printable.line("\(row.name) marked \(marks.joined(separator: ", "))")
        for line in Paragraph.lines(text, width: Table.terminalWidth) { StandardOutput.write(line: line) }
    }

    // MARK: bars

    private func bar(_ row: StartTimeline.Row, _ width: Int) -> Table.Cell {
        var pieces: [(text: String, colour: Colour)] = []
        for phase in TimelineBar.cells(row, timeline, width: width) {
            let colour = phase.map(Self.colour) ?? .plain
            let sign = phase.map(Self.sign) ?? " "
            if let last = pieces.last, last.colour == colour {
                pieces[pieces.count - 1].text += sign
            } else {
                pieces.append((sign, colour))
            }
        }
        // Leave out spaces at a line's end.
        if pieces.last?.colour == .plain { pieces.removeLast() }
        return .init(pieces: pieces)
    }

    /// The title of the bars' column: the time span that it shows.
    private func axis(_ width: Int) -> String {
        let range = timeline.range
        let end = StartTimeline.text(range.upperBound - range.lowerBound)
        return "0" + String(repeating: " ", count: max(1, width - 1 - end.count)) + end
    }

    private static func sign(_ phase: StartTimeline.Phase) -> String {
        switch phase {
        case .connect: "░"
        case .waiting: "·"
        case .setUp: "▒"
        case .initialize: "█"
        }
    }

    private static func word(_ phase: StartTimeline.Phase) -> String {
        phase == .waiting ? "waits for others" : phase.rawValue
    }

    private static func colour(_ phase: StartTimeline.Phase) -> Colour {
        switch phase {
        case .connect: .yellow
        case .waiting: .dim
        case .setUp: .blue
        case .initialize: .magenta
        }
    }
}
