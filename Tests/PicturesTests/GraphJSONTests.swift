import StrataCore
import StrataOperator
import TestSupport
import Testing

@testable import StrataPictures

/// The picture for programs that draw it themselves.
struct GraphJSONTests {
    private func names(_ json: JSON, _ list: String, _ member: String) -> [String] {
        (json[list]?.array ?? []).compactMap { $0[member]?.string }
    }

    @Test(.promise("M.158")) func itHasWhatTheOtherPictureHas() throws {
        let graph = AppGraph(Apps.five)
        let layout = GraphLayout(graph)
        let json = GraphJSON.of(graph)
        #expect(names(json, "bands", "name") == graph.levels)
        #expect(names(json, "boxes", "module") == graph.modules.map(\.name))
        #expect(json["lines"]?.array?.count == layout.lines.count)
        #expect(Set(names(json, "lines", "kind")) == ["call", "broadcast", "report"])
        let line = try #require(json["lines"]?.array?.first { $0["kind"] == "broadcast" })
        #expect(line["from"] == "Store" && line["to"] == "Notes")
        let svg = GraphSVG.text(of: graph)
        for text in names(json, "lines", "arrow") { #expect(svg.contains(text)) }
        #expect(GraphJSON.of(graph) == json)
    }

    @Test func aBusGivesAGraphWithoutAManifest() throws {
        let rows = [ModuleRow](
            try JSON(
                parsing: """
                    {"modules":[{"name":"Store","level":"basic","start":"eager"},\
                    {"name":"Cart","level":"topout","start":"on-demand"},\
                    {"name":"Visitor","level":"topout","start":"guest"},{"name":"Odd","level":"nowhere"}]}
                    """))
        let interfaces = [InterfaceRow](
            try JSON(
                parsing: """
                    {"interfaces":[{"name":"Store","module":"Store","urls":[{"host":"item","path":"/:id","to":"Store/get"}],\
                    "requiredBy":["Cart","Nobody"]},{"name":"Lost","module":"Gone"}]}
                    """))
        var graph = AppGraph(app: "shop", levels: ["basic", "topout"], modules: rows, interfaces: interfaces)
        #expect(graph.modules.map(\.name) == ["Store", "Cart", "Visitor"])
        #expect(graph.modules.map(\.isListed) == [true, true, false])
        #expect(graph.modules[0].urls == ["item/:id"])
        #expect(graph.edges.map(graph.sentence) == ["Cart calls Store"])
        let added = graph.addSeen(.broadcast, from: "Store", to: "Cart", name: "store.changed")
        let again = graph.addSeen(.broadcast, from: "Store", to: "Cart", name: "store.changed")
        let unknown = graph.addSeen(.call, from: "operator", to: "Cart", name: "Cart")
        #expect(added && !again && !unknown)
        #expect(graph.edges.last?.isDeclared == false)
        graph.add(rows)
        #expect(graph.modules.count == 3)
    }

    @Test func aNeighbourhoodHasTheModuleAndWhomItMeets() throws {
        let part = try #require(AppGraph(Apps.five).neighbourhood(of: "Finder"))
        #expect(Set(part.modules.map(\.name)) == ["Finder", "Notes"])
        #expect(part.edges.map(part.sentence) == ["Finder calls Notes"])
        #expect(part.levels == AppGraph(Apps.five).levels)
        #expect(AppGraph(Apps.five).neighbourhood(of: "Nobody") == nil)
        #expect(AppGraph(Apps.five).neighbourhood(of: "Log")?.edges.count == 3)
    }
}
