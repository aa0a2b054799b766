/// The legend below the levels: the meaning of the lines, and remarks on what couldn't be drawn.
struct GraphLegend {
    private static let size = 11.0
    private static let sample = 24.0
    private static let lineHeight = 20.0
    /// The most remarks; if there are more, the last one counts the rest.
    private static let mostRemarks = 8
    /// The most characters of a remark.
    private static let longestRemark = 240

    private struct Entry {
        var classes: String
        var colour: String
        /// The kind of the arrow; nil for a line without one.
        var kind: AppGraph.Kind?
        var text: String
        var x = 0.0
        var line = 0
    }

    private var entries: [Entry] = []
    /// The remarks, broken into lines.
    private var remarks: [String] = []
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
        if let opens = Self.opens(graph) {
            entries.insert(Entry(classes: "line open", colour: "open", kind: .open, text: opens), at: 1)
        }
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
        var all = graph.remarks
        if all.count > Self.mostRemarks {
            all = all.prefix(Self.mostRemarks - 1) + ["And \(all.count - Self.mostRemarks + 1) remarks more."]
        }
        remarks = all.flatMap {
            Self.lines(Card.cut($0, to: Self.longestRemark), width: width - 2 * GraphLayout.margin)
        }
        height = 24 + Double(lines + remarks.count) * Self.lineHeight
    }

    /// Breaks a remark at spaces.
    private static func lines(_ remark: String, width: Double) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in remark.split(separator: " ") {
            let longer = line.isEmpty ? String(word) : "\(line) \(word)"
            if !line.isEmpty, TextWidth.of(longer, size: size) > width {
                lines.append(line)
                line = String(word)
            } else {
                line = longer
            }
        }
        return lines + [line]
    }

    /// Returns the text for opens; nil if no URL leads to a module.
    private static func opens(_ graph: AppGraph) -> String? {
        if graph.edges.contains(where: { $0.kind == .open }) { return "opens a URL" }
        return graph.modules.contains { !$0.urls.isEmpty } ? "URLs that can be opened" : nil
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

    /// Draws a sample line: upright with its arrow, or level if it has none.
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
