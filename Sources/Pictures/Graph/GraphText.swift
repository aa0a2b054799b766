import StrataCore

/// A graph in Graphviz's language: `strata graph --dot | dot -Tpng`.
public enum GraphDOT {
    /// Returns the text; the same graph gives the same bytes.
    public static func text(of graph: AppGraph) -> String {
        var lines = [
            "digraph \(quote(graph.app)) {", "  rankdir=TB; fontname=\"Helvetica\";",
            "  node [shape=box, style=rounded, fontname=\"Helvetica\"];",
            "  edge [fontname=\"Helvetica\", fontsize=10];",
        ]
        lines += levels(of: graph, in: nil)
        for (frame, nodes) in graph.frames.enumerated() {
            lines.append("  subgraph cluster_node\(frame) {")
            lines.append("  label=\(quote(nodes)); labeljust=l; style=\"rounded,dashed\"; color=\"#818b98\";")
            lines += levels(of: graph, in: frame)
            lines.append("  }")
        }
        lines += graph.edges.map { edge(of: $0, graph) }
        for remark in graph.remarks { lines.append("  // \(oneLine(remark))") }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    /// Returns the levels of a frame, or those outside of all frames. Where there are frames, each has
    /// only the levels of its modules.
    private static func levels(of graph: AppGraph, in frame: Int?) -> [String] {
        var lines: [String] = []
        let mark = frame.map { "\($0)_" } ?? ""
        let ranks = graph.ranks(in: frame)
        for rank in ranks {
            let level = graph.levels[rank]
            lines.append("  subgraph cluster_\(mark)\(rank) {")
            lines.append("    label=\(quote("\(level) (rank \(rank))")); labeljust=l; style=filled; color=\"#eef1f5\";")
            // Keeps the levels in order, including those without modules.
            lines.append("    level\(mark)\(rank) [style=invis, shape=point];")
            for (index, module) in graph.modules.enumerated() where module.rank == rank && module.frame == frame {
                let guest = module.isListed ? "" : ", style=\"rounded,dashed\""
                lines.append("    m\(index) [label=\(quote(module.name))\(guest)];")
            }
            lines.append("  }")
        }
        for (rank, next) in zip(ranks, ranks.dropFirst()) {
            lines.append("  level\(mark)\(rank) -> level\(mark)\(next) [style=invis];")
        }
        return lines
    }

    private static func edge(of edge: AppGraph.Edge, _ graph: AppGraph) -> String {
        var label = edge.name
        if let seen = edge.seen, seen > 0 { label += " ×\(seen)" }
        let palette = Palette.light
        let colour = edge.isDeclared ? palette.colour(of: edge.kind) : palette.undeclared
        var attributes = "label=\(quote(label)), color=\"\(colour)\", fontcolor=\"\(colour)\""
        if edge.seen == 0 { attributes += ", style=dashed" }
        let form =
            switch edge.kind {
            case .call: "normal"
            case .open: "dot"
            case .broadcast: "vee"
            case .report: "empty"
            }
        // Each edge is written from the earlier to the later level, which keeps the levels in
        // order.
        let (from, to) = (graph.modules[edge.from].rank, graph.modules[edge.to].rank)
        if from == to { attributes += ", constraint=false" }
        return from > to
            ? "  m\(edge.to) -> m\(edge.from) [\(attributes), dir=back, arrowtail=\(form)];"
            : "  m\(edge.from) -> m\(edge.to) [\(attributes), arrowhead=\(form)];"
    }

    /// Returns a string in DOT's form.
    static func quote(_ text: String) -> String {
        "\"" + oneLine(text).map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.steersTerminal ? "\u{FFFD}" : $0 }))
    }
}

/// A graph in Mermaid's language, which GitHub and other sites show as a picture.
public enum GraphMermaid {
    /// Returns the text; the same graph gives the same bytes.
    public static func text(of graph: AppGraph) -> String {
        var lines = ["flowchart TB"]
        lines += levels(of: graph, in: nil)
        for (frame, nodes) in graph.frames.enumerated() {
            lines.append("  subgraph node\(frame)[\"\(escape(nodes))\"]")
            lines += levels(of: graph, in: frame)
            lines.append("  end")
        }
        for edge in graph.edges {
            var label = edge.name
            if let seen = edge.seen, seen > 0 { label += " ×\(seen)" }
            lines.append("  m\(edge.from) \(arrow(edge))|\"\(escape(label))\"| m\(edge.to)")
        }
        let palette = Palette.light
        let groups =
            AppGraph.Kind.allCases.map { kind in
                (
                    palette.colour(of: kind),
                    graph.edges.indices.filter { graph.edges[$0].isDeclared && graph.edges[$0].kind == kind }
                )
            } + [(palette.undeclared, graph.edges.indices.filter { !graph.edges[$0].isDeclared })]
        for (colour, edges) in groups where !edges.isEmpty {
            lines.append("  linkStyle \(edges.map(String.init).joined(separator: ",")) stroke:\(colour)")
        }
        for remark in graph.remarks { lines.append("  %% \(escape(remark))") }
        return (lines + [""]).joined(separator: "\n")
    }

    /// Returns the levels of a frame, or those outside of all frames.
    private static func levels(of graph: AppGraph, in frame: Int?) -> [String] {
        var lines: [String] = []
        let mark = frame.map { "\($0)_" } ?? ""
        for rank in graph.ranks(in: frame) {
            let name = escape("\(graph.levels[rank]) (rank \(rank))")
            lines.append("  subgraph level\(mark)\(rank)[\"\(name)\"]")
            let members = graph.modules.indices.filter {
                graph.modules[$0].rank == rank && graph.modules[$0].frame == frame
            }
            // A subgraph can't be empty.
            if members.isEmpty { lines.append("    empty\(rank)[\" \"]") }
            for index in members { lines.append("    m\(index)(\"\(escape(graph.modules[index].name))\")") }
            lines.append("  end")
        }
        return lines
    }

    private static func arrow(_ edge: AppGraph.Edge) -> String {
        (edge.seen == 0 ? "-.-" : "--") + (edge.kind == .open ? "o" : ">")
    }

    /// Returns text for use between quotes in Mermaid. Characters that have a meaning there are
    /// written by number.
    static func escape(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", " ", ".", "-", "_", "(", ")", ",", ":", "/", "×": String(scalar)
            case _ where scalar.steersTerminal: "\u{FFFD}"
            case _ where scalar.value < 0x80: "#\(scalar.value);"
            default: String(scalar)
            }
        }.joined()
    }
}

extension AppGraph {
    /// Returns the ranks that are drawn in a frame, or outside of all: those of its modules, or all
    /// ranks if there are no frames.
    fileprivate func ranks(in frame: Int?) -> [Int] {
        levels.indices.filter { rank in
            frames.isEmpty || modules.contains { $0.rank == rank && $0.frame == frame }
        }
    }
}
