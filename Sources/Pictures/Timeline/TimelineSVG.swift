/// A start as an SVG picture, with a bar for each module on a common axis.
public struct TimelineSVG {
    private static let margin = 24.0
    private static let head = 96.0
    private static let rowHeight = 28.0
    private static let barHeight = 14.0
    private static let plot = 620.0
    private static let right = 92.0

    private let timeline: StartTimeline
    private let labels: Double
    private let range: ClosedRange<Int64>
    private let critical: Set<String>
    private let hasMarks: Bool
    private var document: SVGDocument

    /// Returns the picture; the same timeline gives the same bytes.
    public static func text(of timeline: StartTimeline, theme: Theme = .auto) -> String {
        var picture = TimelineSVG(timeline, theme)
        picture.draw()
        return picture.document.text
    }

    private init(_ timeline: StartTimeline, _ theme: Theme) {
        self.timeline = timeline
        range = timeline.range
        hasMarks = timeline.rows.contains { !$0.marks.isEmpty }
        critical = Set(timeline.criticalPath.map(Self.key))
        let names = timeline.rows.map { TextWidth.of(Card.cut($0.name, to: 30), size: 12, isBold: true) }
        labels = max(90, names.max() ?? 0) + 2 * Self.margin
        let rows = timeline.rows.count + (timeline.rows.contains { timeline.isLate($0) } ? 1 : 0)
        document = SVGDocument(
            width: (labels + Self.plot + Self.right).rounded(.up),
            height: Self.head + Double(rows) * Self.rowHeight + 52, title: "The start of \(timeline.app)", theme: theme,
            rules: { [hasMarks] palette in
                Self.rules(palette) + (hasMarks ? [(".mark", "stroke: \(palette.text); stroke-width: 1.5")] : [])
            })
    }

    private static func rules(_ palette: Palette) -> [(String, String)] {
        [
            (".title, .name", "fill: \(palette.text)"), (".dim", "fill: \(palette.dim)"),
            (".bad", "fill: \(palette.report)"), (".odd", "fill: \(palette.bands[0])"),
            (".tick", "stroke: \(palette.border); stroke-width: 1"),
            (".ready", "stroke: \(palette.broadcast); stroke-width: 1.5; stroke-dasharray: 4 3"),
            (".fill-ready", "fill: \(palette.broadcast)"), (".connect", "fill: \(palette.connect)"),
            (".waiting", "fill: \(palette.waiting)"), (".setUp", "fill: \(palette.setUp)"),
            (".initialize", "fill: \(palette.initialize)"), (".cut", "fill-opacity: 0.45"),
            (".critical", "stroke: \(palette.text); stroke-width: 1.5"),
        ]
    }

    private static func key(_ step: StartTimeline.Step) -> String { "\(step.span.from) \(step.span.to) \(step.module)" }

    private func x(_ time: Int64, from begin: Int64) -> Double {
        labels + Double(time - begin) / Double(range.upperBound - range.lowerBound) * Self.plot
    }

    private mutating func draw() {
        document.text("Start of \(timeline.app)", at: Point(Self.margin, 36), size: 20, "title", isBold: true)
        let most = Int((labels + Self.plot + Self.right - 2 * Self.margin) / 6.6)
        document.text(
            Card.cut(timeline.summary, to: most), at: Point(Self.margin, 56), size: 12, "dim")
        let punctual = timeline.rows.filter { !timeline.isLate($0) }
        let late = timeline.rows.filter(timeline.isLate)
        var y = Self.head
        for index in stride(from: 0, to: punctual.count, by: 2) { stripe(y + Double(index) * Self.rowHeight) }
        let bottom = Self.head + Double(punctual.count) * Self.rowHeight
        drawAxis(to: bottom)
        y = Self.head
        for row in punctual {
            draw(row, y)
            y += Self.rowHeight
        }
        if !late.isEmpty {
            document.text(
                "Started when the app was ready, each from its own beginning", at: Point(Self.margin, y + 19), size: 11,
                "dim")
            y += Self.rowHeight
        }
        for row in late {
            draw(row, y)
            y += Self.rowHeight
        }
        drawLegend(y + 26)
    }

    private mutating func stripe(_ y: Double) {
        document.rectangle(
            Rectangle(x: 12, y: y, width: labels + Self.plot + Self.right - 24, height: Self.rowHeight), "odd",
            radius: 4)
    }

    private mutating func drawAxis(to bottom: Double) {
        for tick in TimelineAxis(length: range.upperBound - range.lowerBound).ticks {
            let x = SVGDocument.number(self.x(range.lowerBound + tick, from: range.lowerBound))
            document.path(
                "M\(x) \(SVGDocument.number(Self.head - 6))V\(SVGDocument.number(bottom))", "tick")
            document.text(
                TimelineAxis.label(tick),
                at: Point(self.x(range.lowerBound + tick, from: range.lowerBound), Self.head - 12),
                size: 10, "dim", anchor: "middle")
        }
        if let ready = timeline.ready, timeline.begun != nil {
            let x = self.x(ready, from: range.lowerBound)
            document.path(
                "M\(SVGDocument.number(x)) \(SVGDocument.number(Self.head - 6))V\(SVGDocument.number(bottom + 4))",
                "ready", tip: "the app is ready")
            document.text("ready", at: Point(x + 5, bottom + 4), size: 10, "fill-ready")
        }
    }

    private mutating func draw(_ row: StartTimeline.Row, _ y: Double) {
        let base = y + Self.rowHeight / 2 + 4
        document.text(Card.cut(row.name, to: 30), at: Point(Self.margin, base), size: 12, "name", isBold: true)
        let isLate = timeline.isLate(row)
        let begin = isLate ? row.begun ?? range.lowerBound : range.lowerBound
        let end = labels + Self.plot
        for span in row.spans {
            let from = min(x(span.from, from: begin), end)
            let width = max(1.5, min(x(span.to, from: begin), end) - from)
            let height = span.phase == .waiting ? 4 : Self.barHeight
            let isCritical = critical.contains(Self.key(.init(module: row.name, span: span)))
            document.rectangle(
                Rectangle(x: from, y: y + (Self.rowHeight - height) / 2, width: width, height: height),
                "\(span.phase.rawValue)\(span.isCut ? " cut" : "")\(isCritical ? " critical" : "")", radius: 2,
                tip: "\(row.name) \(span.phase.rawValue): \(StartTimeline.text(span.microseconds))")
        }
        // A mark that came after the picture's end has no place.
        for mark in row.marks where mark.at >= begin && x(mark.at, from: begin) <= end {
            document.path(
                "M\(SVGDocument.number(x(mark.at, from: begin))) \(SVGDocument.number(y + 3))"
                    + "V\(SVGDocument.number(y + Self.rowHeight - 3))", "mark",
                tip: "\(row.name) \(mark.name): +\(StartTimeline.text(row.microseconds(to: mark)))")
        }
        drawEnd(of: row, begin, base, isLate: isLate)
    }

    /// Draws the text after the bar: how long it took, or why it has no bar.
    private mutating func drawEnd(of row: StartTimeline.Row, _ begin: Int64, _ base: Double, isLate: Bool) {
        let right = labels + Self.plot + Self.right - Self.margin + 8
        if row.ready != nil, row.isResumed {
            document.text("resumed", at: Point(right, base), size: 11, "dim", anchor: "end")
        } else if let ready = row.ready, let first = row.begun {
            let after = isLate ? "" : "+"
            document.text(
                after + StartTimeline.text(isLate ? ready - first : ready - range.lowerBound), at: Point(right, base),
                size: 11, "dim", anchor: "end")
        } else if row.begun == nil {
            document.text("not started", at: Point(labels + 4, base), size: 11, "dim")
        } else {
            let end = row.spans.last.map { min(x($0.to, from: begin), labels + Self.plot) } ?? labels
            let word = row.connected == nil ? "never connected" : row.ended == nil ? row.state : "failed"
            let text = row.reason.isEmpty ? word : "\(word): \(row.reason)"
            document.text(
                Card.cut(text, to: max(20, Int((right - end) / 6.4))), at: Point(end + 8, base), size: 11, "bad")
        }
    }

    private mutating func drawLegend(_ y: Double) {
        var x = Self.margin
        let entries = [
            ("connect", "from its process to hello"), ("waiting", "waits for others"), ("setUp", "setUp"),
            ("initialize", "initialize"), ("connect critical", "critical path"),
        ]
        for (classes, text) in entries {
            let height = classes == "waiting" ? 4.0 : 10.0
            document.rectangle(Rectangle(x: x, y: y - height / 2, width: 18, height: height), classes, radius: 2)
            document.text(text, at: Point(x + 24, y + 4), size: 11, "dim")
            x += 24 + TextWidth.of(text, size: 11) + 20
        }
        guard hasMarks else { return }
        document.path("M\(SVGDocument.number(x + 9)) \(SVGDocument.number(y - 7))v14", "mark")
        document.text("a module's own mark", at: Point(x + 24, y + 4), size: 11, "dim")
    }
}

/// A module's start as a line of fixed-width characters.
public enum TimelineBar {
    /// Returns the phase that each character shows; nil where no phase was running.
    /// - Parameter width: the number of characters, at least 1.
    public static func cells(_ row: StartTimeline.Row, _ timeline: StartTimeline, width: Int) -> [StartTimeline.Phase?]
    {
        var cells = [StartTimeline.Phase?](repeating: nil, count: width)
        let range = timeline.range
        // A module that started late begins at the left.
        let begin = timeline.isLate(row) ? row.begun ?? range.lowerBound : range.lowerBound
        let length = Double(range.upperBound - range.lowerBound)
        func cell(_ time: Int64) -> Int {
            min(width - 1, max(0, Int(Double(time - begin) / length * Double(width))))
        }
        for span in row.spans where span.phase == .waiting {
            for index in cell(span.from)...cell(span.to) { cells[index] = .waiting }
        }
        // Even a short phase takes a cell; longer phases are drawn over it.
        let own = row.spans.filter { $0.phase != .waiting }.sorted { $0.microseconds < $1.microseconds }
        for span in own {
            let first = cell(span.from)
            // A cell belongs to the phase that begins in it.
            for index in first...max(first, cell(span.to) - 1) { cells[index] = span.phase }
        }
        return cells
    }
}

/// Round times along the edge of a picture.
struct TimelineAxis {
    /// The times from the beginning, in microseconds.
    let ticks: [Int64]

    /// - Parameter most: the most ticks that there is room for, besides the one at 0.
    init(length: Int64, most: Int64 = 9) {
        var step: Int64 = 1
        // 1, 2, 5, 10, 20 …
        var factor = 0
        while length / step > most {
            step = factor % 3 == 1 ? step / 2 * 5 : step * 2
            factor += 1
        }
        ticks = (0...(length / step)).map { $0 * step }
    }

    /// Returns a label such as `20 ms`; it needs no decimals, since ticks are round.
    static func label(_ tick: Int64) -> String {
        switch tick {
        case 0: "0"
        case _ where tick % 1_000_000 == 0: "\(tick / 1_000_000) s"
        case _ where tick % 1_000 == 0: "\(tick / 1_000) ms"
        default: "\(tick) µs"
        }
    }
}
