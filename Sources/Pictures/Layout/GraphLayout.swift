/// The positions of everything in a graph's picture. A value: the same graph gives the same layout.
///
/// Levels are bands, with the foundation on top, as in the level table. So messages that go down
/// the table go down in the picture.
public struct GraphLayout: Sendable, Equatable {
    /// A level.
    public struct Band: Sendable, Equatable {
        public var rank: Int
        public var frame: Rectangle
    }

    /// The frame around the modules of a node, or of a list of nodes.
    public struct Frame: Sendable, Equatable {
        /// Its index in the graph's frames.
        public var number: Int
        public var label: String
        public var frame: Rectangle
    }

    /// A module.
    public struct Box: Sendable, Equatable {
        public var module: Int
        public var frame: Rectangle
        public var card: Card
    }

    /// The path of one or more edges between two modules.
    public struct Line: Sendable, Equatable {
        /// The indices of the graph's edges.
        public var edges: [Int]
        /// The module that is reached, where the arrow is.
        public var to: Int
        public var from: Int
        public var kind: AppGraph.Kind
        public var isDeclared: Bool
        /// The curves from `from` to `to`. Lines of one bundle share their first or last curves.
        public var curves: [Curve]
        /// The end that no other line shares.
        public var ownEnd: Point

        /// Where a count is written: next to the end that it doesn't share, on the side away from the
        /// line. The anchor is SVG's.
        var countPlace: (point: Point, anchor: String) {
            let first = curves[0]
            let last = curves[curves.count - 1]
            let (next, far) = ownEnd == last.end ? (last.control2, last.start) : (first.control1, first.end)
            let isLeft = far.x > ownEnd.x
            let y = ownEnd.y + (next.y < ownEnd.y ? -11 : 18)
            return (Point(ownEnd.x + (isLeft ? -6 : 6), y), isLeft ? "end" : "start")
        }
    }

    static let margin = 24.0
    /// The height of the title above the bands.
    static let head = 74.0
    /// The size of a frame's label.
    static let frameLabel = 11.0
    /// The space between a frame and its boxes.
    static let framePadding = 16.0
    private static let narrowest = 460.0

    public private(set) var bands: [Band] = []
    public private(set) var frames: [Frame] = []
    public private(set) var boxes: [Box] = []
    public private(set) var lines: [Line] = []
    public private(set) var width = 0.0
    /// The height up to the end of the last band.
    public private(set) var height = 0.0
    /// The width of the levels' names on the left.
    let labels: Double

    public init(_ graph: AppGraph) {
        let bundles = Bundle.all(of: graph)
        let levelRows = LevelRows.of(graph)
        let net = RowOrder.sort(Net(graph, bundles, rows: levelRows.map(\.modules)))
        var ports = Ports(net, bundles)
        let cards = graph.modules.indices.map { module in
            Card(graph.modules[module], bundles.filter { $0.hub == module })
        }
        let boxWidths = cards.indices.map { max(cards[$0].width, ports.width(of: $0), 84) }
        let widths = net.nodes.map { node in
            switch node {
            case .box(let module): boxWidths[module]
            case .bend: 10.0
            }
        }
        labels = (graph.levels.map { TextWidth.of($0, size: 13, isBold: true) }.max() ?? 0) + 2 * Self.margin + 40
        let shift = labels + Self.margin
        let frameLabels = graph.frames.map { Card.cut($0, to: Card.longest) }
        let frameWidths = frameLabels.map { TextWidth.of($0, size: Self.frameLabel, isBold: true) }
        let columns = graph.frames.isEmpty ? [] : frameWidths + [0]
        let middles = Spacing.place(net, widths: widths, columns: columns).map { $0 + shift }
        var boxMiddles = Array(repeating: 0.0, count: graph.modules.count)
        for (node, middle) in zip(net.nodes, middles) {
            if case .box(let module) = node { boxMiddles[module] = middle }
        }
        ports.spread(middles, boxMiddles: boxMiddles, boxWidths: boxWidths)
        let sides = zip(middles, widths).map { (left: $0 - $1 / 2, right: $0 + $1 / 2) }
        for (number, label) in frameLabels.enumerated() {
            let own = sides.indices.filter { net.column[$0] == number }.map { sides[$0] }
            guard let left = own.map(\.left).min(), let right = own.map(\.right).max() else { continue }
            let width = max(right - left, frameWidths[number]) + 2 * Self.framePadding
            frames.append(
                Frame(
                    number: number, label: label,
                    frame: Rectangle(x: left - Self.framePadding, y: Self.head + 6, width: width, height: 0)))
        }
        let right = (sides.map(\.right) + frames.map { $0.frame.right - Self.framePadding }).max() ?? shift
        width = max(Self.narrowest, right + 2 * Self.margin).rounded(.up)

        let heights = levelRows.map { row in row.modules.map { cards[$0].height }.max() ?? 18 }
        let tops = placeRows(levelRows, heights, RowGaps.of(net, bundles, ports, middles), graph)
        for index in frames.indices { frames[index].frame.height = height - 6 - frames[index].frame.y }
        boxes = graph.modules.indices.map { module in
            let row = levelRows.firstIndex { $0.modules.contains(module) } ?? 0
            return Box(
                module: module,
                frame: Rectangle(
                    x: boxMiddles[module] - boxWidths[module] / 2, y: tops[row], width: boxWidths[module],
                    height: heights[row]),
                card: cards[module])
        }
        let routing = Routing(
            net: net, bundles: bundles, ports: ports, middles: middles, tops: tops, heights: heights,
            end: height)
        lines = routing.lines()
    }

    /// - Returns: the top of each row.
    private mutating func placeRows(
        _ rows: [LevelRows.Row], _ heights: [Double], _ gaps: [Double], _ graph: AppGraph
    ) -> [Double] {
        var tops: [Double] = []
        var bandTop = Self.head
        var y = Self.head + gaps[0]
        for (index, row) in rows.enumerated() {
            tops.append(y)
            let bottom = y + heights[index]
            y = bottom + gaps[index + 1]
            let isLast = index == rows.count - 1
            if isLast || rows[index + 1].rank != row.rank {
                let bandBottom = isLast ? y : bottom + gaps[index + 1] / 2
                bands.append(
                    Band(
                        rank: row.rank,
                        frame: Rectangle(x: 0, y: bandTop, width: width, height: bandBottom - bandTop)))
                bandTop = bandBottom
            }
        }
        height = bandTop
        return tops
    }
}
