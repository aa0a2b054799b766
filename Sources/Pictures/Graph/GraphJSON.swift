public import StrataCore

/// A graph's picture as JSON, for a program that draws it itself and moves parts of it. Sizes are in
/// pixels. The boxes, lines and texts are those of the SVG picture.
public enum GraphJSON {
    /// Returns the picture; the same graph gives the same value.
    public static func of(_ graph: AppGraph) -> JSON {
        let layout = GraphLayout(graph)
        return [
            "width": .rounded(layout.width), "height": .rounded(layout.height),
            "bands": .array(
                layout.bands.map { band in
                    .object(
                        [.init("name", .string(graph.levels[band.rank])), .init("rank", .integer(Int64(band.rank)))]
                            + members(band.frame))
                }),
            "frames": .array(
                layout.frames.map { frame in
                    .object([.init("label", .string(graph.frames[frame.number]))] + members(frame.frame))
                }),
            "boxes": .array(layout.boxes.map { box($0, graph.modules[$0.module]) }),
            "lines": .array(layout.lines.map { line($0, graph) }),
            "remarks": .array(graph.remarks.map { .string($0) }),
        ]
    }

    private static func members(_ frame: Rectangle) -> [JSON.Member] {
        [
            .init("x", .rounded(frame.x)), .init("y", .rounded(frame.y)), .init("width", .rounded(frame.width)),
            .init("height", .rounded(frame.height)),
        ]
    }

    private static func box(_ box: GraphLayout.Box, _ module: AppGraph.Module) -> JSON {
        .object(
            [.init("module", .string(module.name))] + members(box.frame) + [
                .init("guest", .bool(!module.isListed)),
                .init("provides", .array(module.provides.map { .string($0) })),
                .init(
                    "lines",
                    .array(
                        box.card.lines.map { line in
                            [
                                "kind": line.kind.map { .string($0.rawValue) } ?? .null, "text": .string(line.text),
                                "undeclared": .bool(line.isUndeclared), "unheard": .bool(line.isUnheard),
                            ]
                        })),
            ])
    }

    private static func line(_ line: GraphLayout.Line, _ graph: AppGraph) -> JSON {
        let edges = line.edges.map { graph.edges[$0] }
        let count = line.countPlace
        return [
            "kind": .string(line.kind.rawValue),
            "from": .string(graph.modules[line.from].name), "to": .string(graph.modules[line.to].name),
            "names": .array(edges.flatMap { [$0.name] + ($0.providerName.map { [$0] } ?? []) }.map { .string($0) }),
            "declared": .bool(line.isDeclared), "path": .string(GraphSVG.path(line.curves)),
            "arrow": .string(Arrow.path(line)),
            "countX": .rounded(count.point.x), "countY": .rounded(count.point.y), "countAnchor": .string(count.anchor),
            "sentence": .string(edges.map(graph.sentence).joined(separator: "\n")),
        ]
    }
}

extension JSON {
    /// Makes a number with at most one decimal, as pictures have them.
    fileprivate static func rounded(_ value: Double) -> JSON {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? .integer(Int64(tenths)) : .number(tenths)
    }
}
