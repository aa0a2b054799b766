import StrataCore
import TestSupport
import Testing

@Suite(.timeLimit(.hang)) struct NodeTests {
    @Test(arguments: ["a", "9", "berlin", "node-1", "x-", String(repeating: "x", count: 32)])
    func nodesMayBeCalled(_ name: String) {
        #expect(Name.isNode(name))
    }

    @Test(arguments: ["", "-a", "Berlin", "a.b", "a_b", "a@b", "é", "all", String(repeating: "x", count: 33)])
    func noNodeIsCalled(_ name: String) {
        #expect(!Name.isNode(name))
    }

    @Test func socketIsNamedAfterTheAppAndItsNode() {
        for name in ["moments", "moments@berlin", "-@9"] { #expect(Name.isSocket(name)) }
        for name in ["", "@", "@berlin", "moments@", "moments@all", "moments@-a", "a@b@c", "Moments@berlin"] {
            #expect(!Name.isSocket(name))
        }
    }

    @Test func rowIsAwayOnlyIfItIsPlacedOnOtherNodes() {
        var row = AppTable.Row(name: "A")
        #expect(!row.isAway(from: nil) && !row.isAway(from: "berlin"))
        row.placement = .everywhere
        #expect(!row.isAway(from: nil) && !row.isAway(from: "berlin"))
        row.placement = .on(["tokyo", "osaka"])
        #expect(row.isAway(from: "berlin") && !row.isAway(from: "tokyo") && !row.isAway(from: "osaka"))
        #expect(!row.isAway(from: nil))
    }

    /// A row is copied often, so its placement is one pointer.
    @Test func placementIsOnePointer() {
        #expect(MemoryLayout<AppTable.Placement>.size == MemoryLayout<Int>.size)
    }

    /// An earlier broker takes no unknown members, and nothing may change for an app without nodes.
    @Test func oneMachineWritesNoMember() {
        var table = AppTable(app: "a")
        table.modules = [.init(name: "A")]
        let text = table.json().description
        #expect(!text.contains("node") && !text.contains("placement"))
    }

    @Test func nodesComeBackAsTheManifestHasThem() throws {
        let text =
            #"{"app":"a","nodes":[{"name":"berlin","operates":true},{"name":"tokyo"}],"node":"berlin","#
            + #""modules":[{"name":"A","placement":["tokyo"]},{"name":"B","placement":"all"}]}"#
        let table = try AppTable(json: JSON(parsing: text))
        #expect(table.node == "berlin" && table.nodes == [.init("berlin", operates: true), .init("tokyo")])
        #expect(table.modules.map(\.placement) == [.on(["tokyo"]), .everywhere])
        #expect(try AppTable(json: table.json()) == table)
    }

    static let many = (0...AppTable.Node.most).map { #"{"name":"n\#($0)"}"# }.joined(separator: ",")

    @Test(arguments: [
        (#""nodes":[]"#, "nodes"), (#""nodes":[{"name":"a"},{"name":"a"}]"#, "nodes"),
        (#""nodes":[\#(many)]"#, "nodes"),
        (#""nodes":[{"name":"A"}]"#, "nodes[0].name"), (#""nodes":[{"name":"all"}]"#, "nodes[0].name"),
        (#""nodes":[{"name":"a","key":"b"}]"#, "nodes[0]"), (#""node":"a""#, "node"),
        (#""nodes":[{"name":"a"}],"node":"b""#, "node"),
        (#""modules":[{"name":"A","placement":["a"]}]"#, "modules[0].placement"),
        (#""modules":[{"name":"A","placement":"all"}]"#, "modules[0].placement"),
        (#""nodes":[{"name":"a"}],"modules":[{"name":"A"}]"#, "modules[0].placement"),
        (#""nodes":[{"name":"a"}],"modules":[{"name":"A","placement":["b"]}]"#, "modules[0].placement"),
        (#""nodes":[{"name":"a"}],"modules":[{"name":"A","placement":["a","a"]}]"#, "modules[0].placement"),
        (#""nodes":[{"name":"a"}],"modules":[{"name":"A","placement":[]}]"#, "modules[0].placement"),
        (#""nodes":[{"name":"a"}],"modules":[{"name":"A","placement":"a"}]"#, "modules[0].placement"),
    ])
    func nodesAndPlacementsMustFitTogether(_ members: String, _ path: String) throws {
        let json = try JSON(parsing: #"{"app":"a",\#(members)}"#)
        let error = #expect(throws: AppTableError.self) { try AppTable(json: json) }
        #expect(error?.path == path)
    }

    @Test func mostNodesAreTaken() throws {
        var table = AppTable(app: "a")
        table.nodes = (0..<AppTable.Node.most).map { .init("n\($0)") }
        #expect(try AppTable(json: table.json()) == table)
    }

    @Test func runningAppKeepsItsNodes() throws {
        var old = AppTable(app: "a")
        (old.nodes, old.node) = ([.init("a"), .init("b")], "a")
        var new = old
        new.nodes[1].operates = true
        try new.mayFollow(old)
        new.node = "b"
        #expect(throws: BusError.self) { try new.mayFollow(old) }
        (new.node, new.nodes) = ("a", [.init("a")])
        #expect(throws: BusError.self) { try new.mayFollow(old) }
    }
}
