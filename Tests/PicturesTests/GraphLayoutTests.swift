import StrataCore
import TestSupport
import Testing

@testable import StrataPictures

/// The places of things in a graph's picture.
struct GraphLayoutTests {
    private static let apps = Apps.all

    /// Random graphs, as no person would draw them.
    private static func random(_ seed: UInt64) -> AppGraph {
        var generator = Random(state: seed)
        var graph = AppGraph(app: "random", levels: (0..<Int.random(in: 1...5, using: &generator)).map { "level\($0)" })
        let count = Int.random(in: 1...30, using: &generator)
        graph.modules = (0..<count).map {
            .init(name: "Module\($0)", rank: Int.random(in: graph.levels.indices, using: &generator))
        }
        for _ in 0..<Int.random(in: 0...80, using: &generator) {
            let kind = AppGraph.Kind.allCases.randomElement(using: &generator) ?? .call
            var edge = AppGraph.Edge(
                kind: kind, from: Int.random(in: 0..<count, using: &generator),
                to: Int.random(in: 0..<count, using: &generator), name: "n\(Int.random(in: 0..<9, using: &generator))")
            edge.isDeclared = Bool.random(using: &generator)
            graph.edges.append(edge)
        }
        return graph
    }

    static let graphs = apps.map { AppGraph($0) } + (1...40).map { random(UInt64($0)) }

    @Test(arguments: graphs.indices)
    func noTwoBoxesOverlapAndEachIsInItsLevelsBand(number: Int) throws {
        let graph = Self.graphs[number]
        let layout = GraphLayout(graph)
        #expect(layout.boxes.map(\.module) == Array(graph.modules.indices))
        #expect(layout.bands.map(\.rank) == Array(graph.levels.indices))
        for (index, box) in layout.boxes.enumerated() {
            for other in layout.boxes[(index + 1)...] { #expect(!box.frame.overlaps(other.frame)) }
            let band = try #require(layout.bands.first { $0.rank == graph.modules[box.module].rank })
            #expect(band.frame.y < box.frame.y && box.frame.bottom < band.frame.bottom)
            #expect(box.frame.x >= layout.labels && box.frame.right <= layout.width)
            #expect(box.frame.width >= box.card.width && box.frame.height >= box.card.height)
        }
        // The foundation is on top, and there is no space between the bands.
        for (band, next) in zip(layout.bands, layout.bands.dropFirst()) { #expect(band.frame.bottom == next.frame.y) }
        #expect(layout.bands.last?.frame.bottom == layout.height)
    }

    @Test(.promise("M.143"), arguments: graphs.indices)
    func eachNodeHasAFrameAroundItsModulesAlone(number: Int) throws {
        let graph = Self.graphs[number]
        let layout = GraphLayout(graph)
        #expect(layout.frames.map(\.number) == Array(graph.frames.indices))
        for (index, frame) in layout.frames.enumerated() {
            for other in layout.frames[(index + 1)...] { #expect(!frame.frame.overlaps(other.frame)) }
            #expect(frame.frame.x >= layout.labels && frame.frame.right <= layout.width)
            for box in layout.boxes {
                let isInside =
                    frame.frame.surrounds(Point(box.frame.x, box.frame.y))
                    && frame.frame.surrounds(Point(box.frame.right, box.frame.bottom))
                let isOwn = graph.modules[box.module].frame == frame.number
                #expect(isInside == isOwn && (isOwn || !frame.frame.overlaps(box.frame)))
            }
        }
    }

    @Test(arguments: graphs.indices)
    func everyEdgeHasALineFromBoxToBox(number: Int) {
        let graph = Self.graphs[number]
        let layout = GraphLayout(graph)
        #expect(layout.lines.flatMap(\.edges).sorted() == Array(graph.edges.indices))
        for line in layout.lines {
            for edge in line.edges.map({ graph.edges[$0] }) {
                #expect(edge.from == line.from && edge.to == line.to && edge.kind == line.kind)
                #expect(edge.isDeclared == line.isDeclared)
            }
            #expect(isAtEdge(line.curves[0].start, layout.boxes[line.from].frame))
            #expect(isAtEdge(line.curves[line.curves.count - 1].end, layout.boxes[line.to].frame))
            for (curve, next) in zip(line.curves, line.curves.dropFirst()) { #expect(curve.end == next.start) }
        }
    }

    @Test(.promise("M.66"), arguments: graphs.indices)
    func noLineRunsThroughABoxOrOutOfThePicture(number: Int) {
        let layout = GraphLayout(Self.graphs[number])
        for line in layout.lines {
            for curve in line.curves {
                for step in 0...40 {
                    let point = curve.point(at: Double(step) / 40)
                    #expect(point.x >= layout.labels && point.x <= layout.width)
                    #expect(point.y > GraphLayout.head && point.y < layout.height)
                    let hit = layout.boxes.first { box in
                        var inner = box.frame
                        (inner.x, inner.width) = (inner.x + 0.5, inner.width - 1)
                        (inner.y, inner.height) = (inner.y + 0.5, inner.height - 1)
                        return inner.surrounds(point)
                    }
                    #expect(hit == nil, "a line from \(line.from) to \(line.to) runs through \(hit?.module ?? -1)")
                }
            }
        }
    }

    @Test func fortyModulesFitOnAPage() {
        let layout = GraphLayout(AppGraph(Apps.forty))
        #expect(layout.width < 2_400 && layout.height < 2_400)
        #expect(layout.lines.count > 100)
    }

    @Test func theOrderOfRowsAvoidsCrossings() {
        // Five pairs, in mirrored order.
        var graph = AppGraph(app: "pairs", levels: ["one", "two"])
        graph.modules = (0..<5).map { .init(name: "A\($0)", rank: 0) } + (0..<5).map { .init(name: "B\($0)", rank: 1) }
        graph.edges = (0..<5).map { .init(kind: .call, from: 9 - $0, to: $0, name: "A\($0)") }
        let layout = GraphLayout(graph)
        for index in 0..<5 {
            let (upper, lower) = (layout.boxes[index].frame, layout.boxes[9 - index].frame)
            #expect(abs(upper.x + upper.width / 2 - lower.x - lower.width / 2) < 1)
        }
    }

    @Test func aLevelOfManyModulesHasSeveralRows() {
        var graph = AppGraph(app: "wide", levels: ["one"])
        graph.modules = (0..<20).map { .init(name: "Module\($0)", rank: 0) }
        let rows = LevelRows.of(graph)
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { $0.modules.count <= LevelRows.widest })
        #expect(rows.flatMap(\.modules).sorted() == Array(0..<20))
        #expect(GraphLayout(graph).bands.count == 1)
    }

    private func isAtEdge(_ point: Point, _ frame: Rectangle) -> Bool {
        frame.x <= point.x && point.x <= frame.right && (point.y == frame.y || point.y == frame.bottom)
    }
}

/// Numbers that are the same each time (SplitMix64).
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
