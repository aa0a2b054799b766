import StrataCore
import StrataTesting
import Testing

/// Requests of operators that are for another node: they say it in `node`.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeOperatorTests {
    private static let tokyo: JSON = ["node": "tokyo"]

    @Test(.promise("N.14")) func theOtherNodesBusAnswersForItself() throws {
        try TestNodes.run(.operated()) { nodes in
            _ = try nodes.tokyo.provider("Index", "Index")
            let tool = try nodes.berlin.operator()
            for (node, state) in [("tokyo", "ready"), ("berlin", "absent")] {
                let rows = try tool.asked("bus/modules", nil, ["node": .string(node)])["modules"]?.array ?? []
                let log = rows.first { $0["name"] == (node == "tokyo" ? "Index" : "Notes") }
                #expect(log?["nodes"] == [.string(node)] && log?["state"]?.string == state, "\(rows)")
            }
            let nodesOfTokyo = try tool.asked("bus/nodes", nil, Self.tokyo)["nodes"]?.array ?? []
            #expect(nodesOfTokyo.first { $0["own"] == true }?["name"] == "tokyo")
            let error = try tool.refused("bus/nothing", nil, Self.tokyo, with: "unknown-action")
            #expect(error.message.hasPrefix("bus has no action nothing"))
        }
    }

    @Test(.promise("N.14")) func aCallAnOpenAndAReportGoThere() throws {
        try TestNodes.run(.operated()) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["x"], "interfaces": ["Index": [:]]])
            let tool = try nodes.berlin.operator()
            let call = try tool.call("Index/find", ["a": 1], ["node": "tokyo", "meta": ["b": 2]])
            let found = try index.expectCall("Index/find", ["a": 1], ["from": "operator", "node": "berlin"])
            #expect(found["meta"] == ["b": 2])
            try index.fail(found, "Index.none", "nothing")
            #expect(try tool.expectError(to: call, "Index.none", ran: "yes").message == "nothing")
            let open = try tool.open("test://index/show/7", Self.tokyo)
            try index.reply(to: try index.expectCall("Index/show", ["number": "7"], ["from": "operator"]), 7)
            #expect(try tool.expectReply(to: open).json == 7)
            let report = try tool.report("x", to: "Index", nil, ["node": "tokyo", "object": "o"])
            let notice = try index.expectNotice("x", nil, ["from": "operator", "node": "berlin"])
            #expect(notice["object"] == "o")
            try index.reply(to: notice)
            #expect(try tool.expectReply(to: report).json == ["observers": 1])
        }
    }

    @Test(.promise("N.14")) func theLauncherOfThatNodeIsAsked() throws {
        try TestNodes.run(.operated()) { nodes in
            let (here, there) = (try nodes.berlin.launcher(), try nodes.tokyo.launcher())
            let tool = try nodes.berlin.operator()
            let id = try tool.call("launcher/stop", ["module": "Index"], Self.tokyo)
            let asked = try there.expectCall("launcher/stop", ["module": "Index"], ["from": "operator"])
            try there.fail(asked, "unavailable", "not now")
            try tool.expectError(to: id, "unavailable")
            try here.expectNothing()
        }
    }

    @Test(.promise("N.14")) func aStreamHasItsCreditAndItsCancel() throws {
        try TestNodes.run(.operated()) { nodes in
            _ = try nodes.tokyo.module("Index", ["interfaces": ["Index": [:]]])
            let tool = try nodes.berlin.operator()
            let watch = try tool.call("bus/watch", nil, ["node": "tokyo", "credit": 2])
            for _ in 0..<2 { #expect(try tool.next().isPartial) }
            try tool.expectNothing()
            try tool.credit(watch, 1)
            #expect(try tool.next().isPartial)
            try tool.cancel(watch)
            try tool.expectError(to: watch, "cancelled")
            // It has ended over there too.
            let open = try nodes.tokyo.operator().asked("bus/requests")["requests"]?.array ?? []
            #expect(!open.contains { $0["to"] == "bus/watch" }, "\(open)")
        }
    }

    @Test(.promise("N.14")) func theDeadlineIsTheAskingNodes() throws {
        try TestNodes.run(.operated()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let tool = try nodes.berlin.operator()
            let id = try tool.call("Index/find", nil, ["node": "tokyo", "deadline": 150])
            let call = try index.expectCall("Index/find")
            try tool.expectError(to: id, "deadline-exceeded", ran: "maybe")
            try index.expect(["kind": "cancel", "id": call.number])
        }
    }

    @Test(.promise("N.14")) func aToolThatLeavesEndsWhatItAsked() throws {
        try TestNodes.run(.operated()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let tool = try nodes.berlin.operator()
            try tool.call("Index/find", nil, Self.tokyo)
            let call = try index.expectCall("Index/find")
            tool.close()
            try index.expect(["kind": "cancel", "id": call.number])
        }
    }

    @Test(.promise("N.14")) func aLostNodeEndsWhatItWasAsked() throws {
        try TestNodes.run(.operated()) { nodes in
            let tool = try nodes.berlin.operator()
            let watch = try tool.call("bus/watch", nil, ["node": "tokyo", "credit": 1])
            let monitor = try tool.monitor([:], credit: 1, on: "tokyo")
            #expect(try tool.next().isPartial)
            for line in nodes.lines { line.close() }
            for id in [watch, monitor] { try tool.expectError(to: id, "died", ran: "maybe") }
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            // Nothing of it is left: what follows is noted for nobody.
            try nodes.tokyo.operator().asked("bus/ping")
            #expect(try nodes.tokyo.operator().asked("bus/requests")["requests"] == [])
            let error = try tool.refused("bus/ping", nil, Self.tokyo, with: "unavailable")
            #expect(error.message.hasPrefix("the node tokyo can't be reached: tokyo is lost: "))
        }
    }

    @Test(.promise("N.14")) func aReloadEndsWhatOperatorsMayNoLongerDo() throws {
        let table = AppTable.operated()
        try TestNodes.run(table) { nodes in
            let launcher = try nodes.tokyo.launcher()
            let tool = try nodes.berlin.operator()
            let watch = try tool.call("bus/watch", nil, ["node": "tokyo", "credit": 1])
            #expect(try tool.next().isPartial)
            let reload = try tool.call("bus/reload", nil, Self.tokyo)
            var after = table
            after.node = "tokyo"
            after.nodes[0].operates = false
            try launcher.reply(to: try launcher.expectCall("launcher/reload"), after.json())
            try tool.expectReply(to: reload)
            try tool.expectError(to: watch, "forbidden", ran: "no")
            try tool.refused("bus/ping", nil, Self.tokyo, with: "forbidden")
        }
    }

    @Test(.promise("N.15")) func aNodeThatIsNotThereIsNamed() throws {
        try TestNodes.run(.operated(), isJoined: false) { nodes in
            let tool = try nodes.berlin.operator()
            let unknown = try tool.refused("bus/ping", nil, ["node": "osaka"], with: "bad-params")
            #expect(unknown.message == #"no node is named "osaka": the nodes are berlin, tokyo"#)
            let error = try tool.refused("bus/ping", nil, Self.tokyo, with: "unavailable")
            #expect(
                error.message
                    == "the node tokyo can't be reached: tokyo has not been connected yet; see strata nodes")
        }
        try MemoryBus.run(.sixModules()) { bus in
            let error = try bus.operator().refused("bus/ping", nil, Self.tokyo, with: "bad-params")
            #expect(error.message.contains("one machine"))
        }
    }

    @Test(.promise("N.15")) func onlyOperatorsNameANode() throws {
        try TestNodes.run(.operated()) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["x"], "interfaces": ["Index": [:]]])
            let notes = try nodes.berlin.module("Notes")
            let launcher = try nodes.berlin.launcher()
            for node in ["tokyo", "berlin", "osaka"] {
                let members: JSON = ["node": .string(node)]
                for id in [
                    try notes.call("Index/find", nil, members), try notes.call("bus/ping", nil, members),
                    try notes.open("test://index/show/7", members), try notes.report("x", to: "Index", nil, members),
                ] { try notes.expectError(to: id, "forbidden", ran: "no") }
                try launcher.refused("bus/ping", nil, members, with: "forbidden")
            }
            // A notification goes where it is observed, so an operator's is for its own node.
            let tool = try nodes.berlin.operator()
            let id = try tool.broadcast("x", nil, ["node": "tokyo", "level": "basic"])
            try tool.expectError(to: id, "forbidden", ran: "no")
            #expect(try tool.recipients(ofBroadcast: "x", nil, ["node": "berlin", "level": "basic"]) == 0)
            try index.expectNothing()
        }
    }

    @Test(.promise("N.15")) func whatANodeKeepsForItselfStaysClosed() throws {
        try TestNodes.run(.operated()) { nodes in
            let launcher = try nodes.tokyo.launcher()
            let tool = try nodes.berlin.operator()
            for to in [
                "bus/vouch", "bus/retire", "bus/moduleState", "bus/reloaded", "bus/nodeLost", "bus/mark", "bus/hello",
                "bus/observe", "bus/register", "bus/create", "bus/handOver", "launcher/lend", "module/tearDown",
            ] {
                try tool.refused(to, ["module": "Index"], Self.tokyo, with: "forbidden")
            }
            try tool.refused("bus/ping", nil, ["node": "tokyo", "auth": "skip"], with: "forbidden")
            try launcher.expectNothing()
        }
    }

    @Test(.promise("N.15")) func withoutOperatesNothingIsServed() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let launcher = try nodes.tokyo.launcher()
            let tool = try nodes.berlin.operator()
            for to in ["bus/ping", "bus/modules", "bus/monitor", "launcher/down", "Index/find"] {
                let error = try tool.refused(to, nil, Self.tokyo, with: "forbidden")
                #expect(error.message.contains("lacks operates: true"))
            }
            try tool.asked("bus/ping", nil, ["node": "berlin"])
            try launcher.expectNothing()
        }
    }
}

extension AppTable {
    /// Returns an app of two nodes, of which berlin operates the other.
    static func operated(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .twoNodes {
            $0.nodes = [.init("berlin", operates: true), .init("tokyo")]
            change(&$0)
        }
    }
}

extension RawPeer {
    /// Opens a monitor on another node.
    func monitor(_ params: JSON = [:], credit: Int64, on node: String) throws -> UInt64 {
        try call("bus/monitor", params, ["credit": .integer(credit), "node": .string(node)])
    }
}
