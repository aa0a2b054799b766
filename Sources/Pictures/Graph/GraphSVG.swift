/// A graph as an SVG picture.
public struct GraphSVG {
    /// The most edges that the tooltip of a line names.
    private static let mostSentences = 12

    private let graph: AppGraph
    private let layout: GraphLayout
    private var document: SVGDocument
    private var legend: GraphLegend

    /// Returns the picture; the same graph gives the same bytes.
    public static func text(of graph: AppGraph, theme: Theme = .auto) -> String {
        var picture = GraphSVG(graph, theme)
        picture.draw()
        return picture.document.text
    }

    private init(_ graph: AppGraph, _ theme: Theme) {
        self.graph = graph
        layout = GraphLayout(graph)
        legend = GraphLegend(graph, width: layout.width)
        document = SVGDocument(
            width: layout.width, height: layout.height + legend.height, title: "The app \(graph.app)", theme: theme,
            rules: { Self.rules($0, hasFrames: !graph.frames.isEmpty) })
    }

    private static func rules(_ palette: Palette, hasFrames: Bool) -> [(String, String)] {
        var rules = [
            (".title, .name", "fill: \(palette.text)"), (".dim", "fill: \(palette.dim)"),
            (".band0", "fill: \(palette.bands[0])"), (".band1", "fill: \(palette.bands[1])"),
            (".border", "stroke: \(palette.border); fill: none"),
            (".box", "fill: \(palette.box); stroke: \(palette.boxBorder)"),
            (".guest", "stroke-dasharray: 5 3"), (".line", "fill: none; stroke-width: 1.5"),
            (".unseen", "stroke-dasharray: 5 4"),
            (".count", "paint-order: stroke; stroke-width: 3; stroke-linejoin: round"),
            (".on0", "stroke: \(palette.bands[0])"), (".on1", "stroke: \(palette.bands[1])"),
        ]
        if hasFrames { rules.append((".node", "fill: none; stroke: \(palette.boxBorder); stroke-dasharray: 2 3")) }
        let colours = AppGraph.Kind.allCases.map { ($0.rawValue, palette.colour(of: $0)) }
        for (name, colour) in colours + [("undeclared", palette.undeclared)] {
            rules.append((".\(name)", "stroke: \(colour)"))
            rules.append((".fill-\(name)", "fill: \(colour)"))
        }
        return rules
    }

    private mutating func draw() {
        document.text(graph.app, at: Point(GraphLayout.margin, 36), size: 20, "title", isBold: true)
        document.text(subtitle, at: Point(GraphLayout.margin, 56), size: 12, "dim")
        for band in layout.bands { draw(band) }
        for frame in layout.frames { draw(frame) }
        drawLines()
        for box in layout.boxes { draw(box) }
        for line in layout.lines { drawCount(line) }
        legend.draw(into: &document, y: layout.height)
    }

    private var subtitle: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        var text = "\(count(graph.modules.count, "module")) on \(count(graph.levels.count, "level"))"
        if let watched = graph.watched {
            text += ", watched for \(SVGDocument.number(Double(watched) / 1_000)) s"
        }
        return text
    }

    private mutating func draw(_ band: GraphLayout.Band) {
        document.rectangle(band.frame, "band\(band.rank % 2)")
        let middle = band.frame.y + band.frame.height / 2
        let x = GraphLayout.margin
        document.text(graph.levels[band.rank], at: Point(x, middle - 2), size: 13, "title", isBold: true)
        let word = band.rank == 0 && graph.levels.count > 1 ? ", foundation" : ""
        document.text("rank \(band.rank)\(word)", at: Point(x, middle + 14), size: 10, "dim")
    }

    private mutating func draw(_ frame: GraphLayout.Frame) {
        document.rectangle(frame.frame, "node", radius: 10)
        document.text(
            frame.label, at: Point(frame.frame.x + GraphLayout.framePadding, frame.frame.y + 14),
            size: GraphLayout.frameLabel, "dim", isBold: true)
    }

    private mutating func draw(_ box: GraphLayout.Box) {
        let module = graph.modules[box.module]
        let provides = module.provides.isEmpty ? "" : " provides \(module.provides.joined(separator: ", "))"
        document.begin("module", tip: "\(module.name)\(provides)")
        document.rectangle(box.frame, module.isListed ? "box" : "box guest", radius: 8)
        let x = box.frame.x + Card.padding
        document.text(box.card.name, at: Point(x, box.frame.y + 23), size: Card.nameSize, "name", isBold: true)
        var y = box.frame.y + 41
        for line in box.card.lines {
            if let kind = line.kind {
                let colour = line.isUndeclared ? "undeclared" : kind.rawValue
                // As in the legend: broadcasts point down, incoming messages up.
                let isDown = kind == .broadcast
                document.path(
                    Arrow.path(kind, tip: Point(x + 4, y + (isDown ? 0 : -9)), isDown: isDown),
                    Arrow.classes(colour, kind))
                document.text(
                    line.text, at: Point(x + Card.mark, y),
                    size: Card.lineSize, line.isUnheard ? "dim" : "fill-\(colour)")
            } else {
                document.text(line.text, at: Point(x, y), size: Card.lineSize, "dim")
            }
            y += Card.lineHeight
        }
        document.end()
    }

    private func colour(_ line: GraphLayout.Line) -> String { line.isDeclared ? line.kind.rawValue : "undeclared" }

    private func isUnseen(_ line: GraphLayout.Line) -> Bool {
        graph.watched != nil && line.edges.allSatisfy { graph.edges[$0].seen == 0 }
    }

    /// Draws the part that several lines share only once, since overlapping dashes would fill the
    /// gaps.
    private mutating func drawLines() {
        var users: [Curve: [Int]] = [:]
        for (index, line) in layout.lines.enumerated() {
            for curve in line.curves { users[curve, default: []].append(index) }
        }
        var tips: Set<Point> = []
        for (index, line) in layout.lines.enumerated() {
            var stretch: [Curve] = []
            for (place, curve) in line.curves.enumerated() {
                let all = users[curve] ?? []
                // The first of the lines that share it draws it.
                if all.first == index { stretch.append(curve) }
                let next = place + 1 < line.curves.count ? users[line.curves[place + 1]] : nil
                guard next != all, !stretch.isEmpty else { continue }
                draw(stretch, of: all.map { layout.lines[$0] })
                stretch = []
            }
            let last = line.curves[line.curves.count - 1]
            guard tips.insert(last.end).inserted else { continue }
            document.path(Arrow.path(line), Arrow.classes(colour(line), line.kind))
        }
    }

    /// Draws a part that these lines share; dashed if none of them was seen.
    private mutating func draw(_ stretch: [Curve], of lines: [GraphLayout.Line]) {
        var sentences = lines.flatMap(\.edges).map { graph.sentence(graph.edges[$0]) }
        if sentences.count > Self.mostSentences {
            let rest = sentences.count - Self.mostSentences
            sentences = sentences.prefix(Self.mostSentences) + ["and \(rest) more"]
        }
        let isUnseen = lines.allSatisfy(self.isUnseen)
        document.path(
            Self.path(stretch), "line \(colour(lines[0]))\(isUnseen ? " unseen" : "")",
            tip: sentences.joined(separator: "\n"))
    }

    static func path(_ curves: [Curve]) -> String {
        func place(_ point: Point) -> String { "\(SVGDocument.number(point.x)) \(SVGDocument.number(point.y))" }
        var data = "M\(place(curves[0].start))"
        for curve in curves {
            data +=
                curve.isStraight
                ? "L\(place(curve.end))" : "C\(place(curve.control1)) \(place(curve.control2)) \(place(curve.end))"
        }
        return data
    }

    /// Draws how often a line was seen.
    private mutating func drawCount(_ line: GraphLayout.Line) {
        guard graph.watched != nil else { return }
        let seen = line.edges.reduce(0) { $0 + (graph.edges[$1].seen ?? 0) }
        guard seen > 0 else { return }
        let place = line.countPlace
        let band = layout.bands.first { $0.frame.y <= place.point.y && place.point.y < $0.frame.bottom }?.rank ?? 0
        document.text(
            "×\(Self.short(seen))", at: place.point, size: 9, "count on\(band % 2) fill-\(colour(line))",
            anchor: place.anchor)
    }

    /// Returns a short count: `812`, `12k`, `3M`.
    private static func short(_ count: UInt64) -> String {
        switch count {
        case ..<10_000: "\(count)"
        case ..<10_000_000: "\(count / 1_000)k"
        default: "\(count / 1_000_000)M"
        }
    }
}
