import StrataCore
import StrataOperator
import TestSupport
import Testing

@testable import StrataPictures

/// A graph as SVG, DOT and Mermaid.
struct GraphTextTests {
    /// Names as bad as the manifest allows.
    private static var rude: AppGraph {
        var graph = AppGraph(app: "rude", levels: ["a<b>&\"'", "two]\"; end"])
        graph.modules = [.init(name: "Ant", rank: 0), .init(name: "Bee", rank: 1)]
        graph.edges = [
            .init(
                kind: .broadcast, from: 0, to: 1, name: "x\"];\n</style><script>alert(1)</script>\\ \u{1B}[31m\u{202E}"),
            .init(kind: .report, from: 1, to: 0, name: "|\"--> m9"),
        ]
        graph.remarks = ["a\nb --> c"]
        return graph
    }

    @Test(arguments: GraphLayoutTests.graphs.indices)
    func theSameGraphGivesTheSameText(number: Int) {
        let graph = GraphLayoutTests.graphs[number]
        #expect(GraphSVG.text(of: graph) == GraphSVG.text(of: graph))
        #expect(GraphDOT.text(of: graph) == GraphDOT.text(of: graph))
        #expect(GraphMermaid.text(of: graph) == GraphMermaid.text(of: graph))
    }

    @Test(.promise("M.66")) func namesAreEscapedInSVG() {
        let text = GraphSVG.text(of: Self.rude)
        #expect(!text.contains("<script") && !text.contains("\u{1B}") && !text.contains("\u{202E}"))
        #expect(text.contains("a&lt;b&gt;&amp;&quot;&#39;"))
        #expect(text.components("<svg") == 2 && text.components("</svg>") == 2 && text.components("</style>") == 2)
    }

    @Test func namesAreEscapedInDOT() {
        let lines = GraphDOT.text(of: Self.rude).split(separator: "\n")
        #expect(lines.count(where: { $0.contains(" -> m") }) == 2)
        #expect(lines.contains { $0.contains(#"label="x\"];"#) })
        // Each line's quotes come in pairs.
        for line in lines {
            let quotes = line.replacing("\\\\", with: "").replacing("\\\"", with: "").count { $0 == "\"" }
            #expect(quotes % 2 == 0, "\(line)")
        }
    }

    @Test func namesAreEscapedInMermaid() {
        let lines = GraphMermaid.text(of: Self.rude).split(separator: "\n")
        #expect(lines.count(where: { $0.contains("-->|") }) == 2)
        #expect(lines.contains { $0.contains(##"|"#124;#34;--#62; m9"|"##) })
        #expect(lines.count(where: { $0 == "  end" }) == 2)
    }

    @Test func allThreeShowEveryModuleAndEdge() {
        let graph = AppGraph(Apps.five)
        let (svg, dot, mermaid) = (GraphSVG.text(of: graph), GraphDOT.text(of: graph), GraphMermaid.text(of: graph))
        for module in graph.modules {
            for text in [svg, dot, mermaid] { #expect(text.contains(module.name)) }
        }
        for edge in graph.edges { #expect(svg.contains(SVGDocument.escape(graph.sentence(edge)))) }
        #expect(dot.components(" -> m") == graph.edges.count + 1)
        #expect(mermaid.components("-->|") == graph.edges.count + 1)
        #expect(svg.contains("rank 0, foundation"))
    }

    @Test(.promise("M.143")) func allThreeFrameEachNode() {
        let graph = AppGraph(Apps.placed(Apps.five, onto: 2))
        #expect(graph.frames == ["node0", "node1", "node0, node1", "all"])
        let (svg, dot, mermaid) = (GraphSVG.text(of: graph), GraphDOT.text(of: graph), GraphMermaid.text(of: graph))
        #expect(svg.components("class=\"node\"") == 5 && svg.contains(">node0, node1<"))
        #expect(dot.components("subgraph cluster_node") == 5 && dot.contains("label=\"node0, node1\""))
        #expect(dot.count { $0 == "{" } == dot.count { $0 == "}" })
        #expect(mermaid.components("  subgraph node") == 5 && mermaid.contains("node2[\"node0, node1\"]"))
        // A frame has only the levels of its modules.
        #expect(!mermaid.contains("empty"))
        #expect(mermaid.components("  subgraph") == mermaid.components("  end\n"))
        for module in graph.modules {
            for text in [svg, dot, mermaid] { #expect(text.contains(module.name)) }
        }
        #expect(!GraphSVG.text(of: AppGraph(Apps.five)).contains("class=\"node\""))
    }

    @Test func whatWasSeenLooksDifferent() {
        var graph = AppGraph(Apps.five)
        #expect(!GraphSVG.text(of: graph).contains("unseen\""))
        var traffic = SeenTraffic(
            levels: ["levels": [["modules": ["Store", "Log"]], ["modules": ["Session"]]]],
            interfaces: [InterfaceRow](["interfaces": [["name": "Store", "module": "Store"]]]))
        for _ in 0..<12 { traffic.note(["kind": "call", "from": "Session", "to": "Store/get"]) }
        traffic.note(["kind": "call", "from": "Log", "to": "Store/get"])
        graph.add(traffic, watchedFor: 2_500)
        let svg = GraphSVG.text(of: graph)
        #expect(svg.contains("watched for 2.5 s"))
        #expect(svg.contains("×12") && svg.contains("line undeclared") && svg.contains("line call unseen"))
        #expect(GraphDOT.text(of: graph).contains("Store ×12") && GraphDOT.text(of: graph).contains("dashed"))
        #expect(GraphMermaid.text(of: graph).contains("-.->") && GraphMermaid.text(of: graph).contains("Store ×12"))
    }

    @Test(arguments: Theme.allCases)
    func aPictureHasTheColoursThatWereAskedFor(theme: Theme) {
        let svg = GraphSVG.text(of: AppGraph(Apps.five), theme: theme)
        #expect(svg.contains(Palette.light.background) == (theme != .dark))
        #expect(svg.contains(Palette.dark.background) == (theme != .light))
        #expect(svg.contains("prefers-color-scheme") == (theme == .auto))
    }

    @Test func longListsAreCutAndCounted() {
        let names = (0..<20).map { "something.changed.\($0)" }
        #expect(Card.list(names).count <= Card.longest)
        #expect(Card.list(names).hasSuffix("and 19 more"))
        #expect(Card.list(["short", "names"]) == "short, names")
        #expect(Card.list([String(repeating: "x", count: 256)]).count <= Card.longest)
        var module = AppGraph.Module(name: String(repeating: "M", count: 64), rank: 0)
        module.unheard = names
        #expect(Card(module, []).name.count == Card.longest)
    }

    @Test func numbersHaveOneDigitBehindThePoint() {
        let numbers = [(1.0, "1"), (1.25, "1.3"), (-0.04, "0"), (-2.55, "-2.6"), (1_234.5, "1234.5")]
        for (number, text) in numbers { #expect(SVGDocument.number(number) == text) }
    }
}

extension String {
    /// The number of parts into which a separator splits the string.
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count
    }
}
