import StrataCore
import StrataTesting
import Testing

/// What the link says of the nodes (`bus/nodeState`), and what operators see of it.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeStateTests {
    private static func view(_ state: String, _ change: JSON = [:]) -> JSON {
        let view: JSON = [
            "name": "tokyo", "state": .string(state), "since": 5_000, "why": state == "up" ? "" : "as the link says",
            "rttMicroseconds": 870, "unackedBytes": 7, "resentBytes": 8, "gaps": 9, "sessions": 2,
        ]
        let changed = change.object ?? []
        return .object((view.object ?? []).filter { member in !changed.contains { $0.name == member.name } } + changed)
    }

    private func tokyo(_ bus: TestBus) throws -> JSON {
        try #require(try bus.operator().asked("bus/nodes")["nodes"]?.array?.first { $0["name"] == "tokyo" })
    }

    private func onBerlin(_ test: (TestBus, RawPeer) throws -> Void) throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in try test(bus, try TestNodes.link(of: bus)) }
    }

    @Test(.promise("N.18")) func theLinksFiguresAreShown() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            #expect(try tokyo(nodes.berlin)["sessions"] == nil)
            try nodes.links[0].asked("bus/nodeState", ["nodes": [Self.view("up")]])
            let shown = try tokyo(nodes.berlin)
            #expect(shown["state"] == "up" && shown["rttMicroseconds"] == 870 && shown["unackedBytes"] == 7)
            #expect(shown["resentBytes"] == 8 && shown["gaps"] == 9 && shown["sessions"] == 2)
            try nodes.links[0].asked("bus/nodeState", ["nodes": [Self.view("up", ["rttMicroseconds": 0])]])
            #expect(try tokyo(nodes.berlin)["rttMicroseconds"] == nil)
            try nodes.links[0].asked("bus/nodeState", ["nodes": [Self.view("stalled")]])
            let stalled = try tokyo(nodes.berlin)
            #expect(stalled["state"] == "stalled" && stalled["reason"] == "as the link says")
            #expect(stalled["since"] == 5_000)
            // Nothing is decided by it.
            let index = try nodes.tokyo.provider("Index", "Index")
            try nodes.berlin.module("Notes").call("Index/find")
            try index.expectCall("Index/find")
        }
    }

    @Test(.promise("N.18")) func aNodeThatIsAwayHasTheLinksReason() throws {
        try onBerlin { bus, link in
            #expect(try tokyo(bus)["reason"] == nil)
            for (state, shown) in [("never", "never"), ("mismatch", "mismatch"), ("lost", "never"), ("up", "never")] {
                try link.asked("bus/nodeState", ["nodes": [Self.view(state)]])
                let found = try tokyo(bus)
                #expect(found["state"]?.string == shown, "\(state)")
                #expect(found["reason"]?.string == (state == "up" ? nil : "as the link says"), "\(state)")
            }
        }
    }

    @Test(.promise("N.18")) func itsViewEndsWithTheLinkExceptWhyItRefused() throws {
        try onBerlin { bus, link in
            try link.asked("bus/nodeState", ["nodes": [Self.view("never")]])
            try link.asked("bus/nodeState", ["refused": ["state": "unguarded", "why": "no permissions"]])
            #expect(try tokyo(bus)["sessions"] == 2)
            link.close()
            let name = try bus.connect("a stranger")
            name.close()
            var shown = try tokyo(bus)
            while shown["sessions"] != nil { shown = try tokyo(bus) }
            #expect(shown["state"] == "unguarded" && shown["reason"] == "no permissions")
            let next = try TestNodes.link(of: bus)
            #expect(try tokyo(bus)["state"] == "never" && tokyo(bus)["reason"] == nil)
            try next.asked("bus/nodeState", ["refused": ["state": "name-taken"]])
            #expect(try tokyo(bus)["state"] == "name-taken")
        }
    }

    @Test(.promise("N.18")) func eachMemberIsCheckedAndTheLastViewStays() throws {
        try onBerlin { bus, link in
            try link.asked("bus/nodeState", ["nodes": [Self.view("never")]])
            let long = String(repeating: "y", count: 1_025)
            for change: JSON in [
                ["name": "osaka"], ["name": "berlin"], ["name": 7], ["state": "gone"], ["state": "unguarded"],
                ["since": -1], ["since": "now"], ["why": .string(long)], ["why": []], ["rttMicroseconds": -1],
                ["unackedBytes": 1.5], ["resentBytes": nil], ["gaps": 9_007_199_254_740_992], ["sessions": true],
            ] {
                let bad = Self.view("lost", change)
                try link.refused("bus/nodeState", ["nodes": [Self.view("mismatch"), bad]], with: "bad-params")
            }
            for body: JSON in [
                ["nodes": 7], ["nodes": ["tokyo"]], ["refused": 7], ["refused": ["state": "up"]],
                ["refused": ["state": "unguarded", "why": .string(long)]],
                ["nodes": .array(Array(repeating: Self.view("up"), count: 33))], [],
            ] {
                try link.refused("bus/nodeState", body, with: "bad-params")
            }
            try link.refused("bus/nodeState", ["x": .string(String(repeating: "x", count: 70_000))], with: "too-large")
            #expect(try tokyo(bus)["state"] == "never" && tokyo(bus)["reason"] == "as the link says")
            try link.asked("bus/nodeState", [:])
        }
    }

    @Test(.promise("N.18")) func onlyTheLinkSaysIt() throws {
        try TestNodes.run(.operated()) { nodes in
            let body: JSON = ["nodes": [Self.view("lost")]]
            for peer in [try nodes.berlin.operator(), try nodes.berlin.module("Notes"), try nodes.berlin.launcher()] {
                try peer.refused("bus/nodeState", body, with: "forbidden")
            }
            try nodes.berlin.operator().refused("bus/nodeState", body, ["node": "tokyo"], with: "forbidden")
        }
    }
}
