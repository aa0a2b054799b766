/// Below the levels: what the lines mean, and what couldn't be drawn.
struct GraphLegend {
    private static let size = 11.0
    private static let sample = 24.0
    private static let lineHeight = 20.0
    /// So many remarks, and one that counts the rest.
    private static let mostRemarks = 8

    private struct Entry {
        var classes: String
        var colour: String
        /// Nil for a line without arrow.
        var kind: AppGraph.Kind?
        var text: String
        var x = 0.0
        var line = 0
    }

    private var entries: [Entry] = []
    private var remarks: [String]
    private var lines = 1
    let height: Double

    init(_ graph: AppGraph, width: Double) {
        entries = [
            Entry(classes: "line call", colour: "call", kind: .call, text: "calls"),
            Entry(
                classes: "line broadcast", colour: "broadcast", kind: .broadcast,
                text: "broadcasts, down the table"),
            Entry(classes: "line report", colour: "report", kind: .report, text: "reports, up the table"),
        ]
        if graph.watched != nil {
            entries.append(Entry(classes: "line call unseen", colour: "call", text: "declared, not seen"))
            entries.append(Entry(classes: "line undeclared", colour: "undeclared", text: "seen, not declared"))
        }
        var x = GraphLayout.margin
        for index in entries.indices {
            let room = Self.sample + 8 + TextWidth.of(entries[index].text, size: Self.size) + 22
            if x + room > width, x > GraphLayout.margin {
                x = GraphLayout.margin
                lines += 1
            }
            (entries[index].x, entries[index].line) = (x, lines - 1)
            x += room
        }
        remarks = graph.remarks
        if remarks.count > Self.mostRemarks {
            remarks =
                remarks.prefix(Self.mostRemarks - 1) + ["And \(remarks.count - Self.mostRemarks + 1) remarks more."]
        }
        let most = max(20, Int((width - 2 * GraphLayout.margin) / 6.5))
        remarks = remarks.map { Card.cut($0, to: most) }
        height = 24 + Double(lines + remarks.count) * Self.lineHeight
    }

    func draw(into document: inout SVGDocument, y: Double) {
        for entry in entries {
            let middle = y + 22 + Double(entry.line) * Self.lineHeight
            drawSample(of: entry, middle, into: &document)
            document.text(
                entry.text, at: Point(entry.x + Self.sample + 8, middle + 4), size: Self.size, "dim")
        }
        for (index, remark) in remarks.enumerated() {
            let middle = y + 26 + Double(lines + index) * Self.lineHeight
            document.text(remark, at: Point(GraphLayout.margin, middle), size: Self.size, "dim")
        }
    }

    /// A piece of a line: upright with its arrow, or level where it has none.
    private func drawSample(of entry: Entry, _ middle: Double, into document: inout SVGDocument) {
        guard let kind = entry.kind else {
            let (left, right) = (SVGDocument.number(entry.x), SVGDocument.number(entry.x + Self.sample))
            return document.path("M\(left) \(SVGDocument.number(middle))H\(right)", entry.classes)
        }
        let x = entry.x + Self.sample / 2
        let (top, bottom) = (SVGDocument.number(middle - 8), SVGDocument.number(middle + 8))
        document.path("M\(SVGDocument.number(x)) \(top)V\(bottom)", entry.classes)
        let isDown = kind == .broadcast
        document.path(
            Arrow.path(kind, tip: Point(x, middle + (isDown ? 8 : -8)), isDown: isDown),
            Arrow.classes(entry.colour, kind))
    }
}
