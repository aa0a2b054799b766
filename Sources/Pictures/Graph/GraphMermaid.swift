import StrataCore

/// A graph in Mermaid's language, which GitHub and other pages show as a picture.
public enum GraphMermaid {
    /// The same graph gives the same bytes.
    public static func text(of graph: AppGraph) -> String {
        var lines = ["flowchart TB"]
        for (rank, level) in graph.levels.enumerated() {
            lines.append("  subgraph level\(rank)[\"\(escape("\(level) (rank \(rank))"))\"]")
            let members = graph.modules.indices.filter { graph.modules[$0].rank == rank }
            // A subgraph can't be empty.
            if members.isEmpty { lines.append("    empty\(rank)[\" \"]") }
            for index in members { lines.append("    m\(index)(\"\(escape(graph.modules[index].name))\")") }
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

    private static func arrow(_ edge: AppGraph.Edge) -> String {
        (edge.seen == 0 ? "-.-" : "--") + (edge.kind == .open ? "o" : ">")
    }

    /// Text between quotes, as Mermaid has it: what it would read as its own is
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
