import StrataCore
import StrataTesting
import Testing

/// A broker of an app with nodes, to which no other node is connected.
@Suite(.timeLimit(.hang))
struct AwayRowTests {
    /// The app's node `berlin`. Index runs on tokyo, Thumbs on tokyo and osaka, Log on each node.
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        var rows: [AppTable.Row] = [
            .manual("Notes", rank: 2, provides: ["Notes"]), .eager("Index", rank: 0, provides: ["Index"]),
            .manual("Thumbs", rank: 2, provides: ["Thumbs"]) { row in
                row.start = .onDemand
                row.observes = [.init(name: "changed")]
                row.wakes = ["changed"]
            },
            .manual("Log", provides: ["Log"]),
        ]
        rows[0].placement = .on(["berlin"])
        rows[1].placement = .on(["tokyo"])
        rows[1].urls = [.init(host: "index", path: "/find", to: "Index/find")]
        rows[2].placement = .on(["tokyo", "osaka"])
        rows[3].placement = .everywhere
        return .testing(rows) { table in
            table.nodes = [.init("berlin"), .init("tokyo"), .init("osaka")]
            table.node = "berlin"
            change(&table)
        }
    }

    private static let index =
        "Index runs on the node tokyo, which can't be reached: tokyo has not been connected yet; see strata nodes"
    private static let thumbs =
        "Thumbs runs on the node tokyo or osaka, which can't be reached: tokyo has not been connected yet; osaka has "
        + "not been connected yet; see strata nodes"

    @Test(.promise("M.146")) func requestToAnotherNodeIsRefusedAtOnce() throws {
        try TestBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let notes = try bus.provider("Notes", "Notes")
            for (id, message) in [
                (try notes.call("Index/find"), Self.index), (try notes.call("Thumbs/make"), Self.thumbs),
                (try notes.open("test://index/find"), Self.index), (try notes.report("seen", to: "Index"), Self.index),
                (try notes.call("bus/create", ["interface": "Index"]), Self.index),
            ] {
                #expect(try notes.expectError(to: id, "unavailable", ran: "no").message == message)
            }
            let can = try notes.asked("bus/canOpen", ["url": "test://index/find"])
            #expect(can["open"] == false && can["reason"] == "unavailable")
            try launcher.expectNothing()
        }
    }

    @Test(.promise("M.146")) func rowsOfThisNodeAreAskedAsEver() throws {
        try MemoryBus.run(table()) { bus in
            let notes = try bus.provider("Notes", "Notes")
            let log = try bus.provider("Log", "Log")
            let id = try notes.call("Log/line")
            try log.reply(to: try log.expectCall("Log/line"))
            try notes.expectReply(to: id)
        }
    }

    /// The level rule and the declarations are this broker's to judge, so they come first.
    @Test(.promise("M.146")) func levelIsJudgedBeforeTheNode() throws {
        try MemoryBus.run(table { $0.calls = .layered }) { bus in
            let log = try bus.provider("Log", "Log")
            try log.refused("Thumbs/make", with: "level-violation")
            try log.refused("Index/find", with: "unavailable")
        }
    }

    /// Index is eager, and would hold up the start of a later level for `startup`.
    @Test(.promise("M.147")) func awayRowHoldsUpNoStart() throws {
        try MemoryBus.run(
            table { table in
                var late = AppTable.Row.eager("Late", rank: 2)
                late.placement = .everywhere
                table.modules.append(late)
                table.startup = 3_600_000
            }
        ) { bus in
            let token = try bus.vouch(for: "Late")
            let late = try bus.connect("Late")
            try late.hello("Late", ["token": .string(token)])
            for step in ["setUp", "initialize", "didStart"] {
                try late.reply(to: try late.expectCall("module/\(step)"))
            }
            #expect(try bus.state(of: "Late") == "ready")
        }
    }

    @Test(.promise("M.146")) func noticeDoesNotWakeAnAwayRow() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let log = try bus.provider("Log", "Log")
            #expect(try log.recipients(ofBroadcast: "changed", 1) == 0)
            try launcher.expectNothing()
            #expect(try row("Thumbs", bus)["missed"] == nil)
        }
    }

    @Test(.promise("M.146")) func moduleOfAnotherNodeIsNotTakenHere() throws {
        try MemoryBus.run(table()) { bus in
            let peer = try bus.connect("Thumbs")
            let id = try peer.sendHello("Thumbs", ["interfaces": ["Thumbs": [:]]])
            let error = try peer.expectRefusal(of: id, "forbidden")
            #expect(
                error.message
                    == "Thumbs is placed on tokyo and osaka, and this node is berlin: start it there, or change its node"
            )
        }
    }

    private func row(_ name: String, _ bus: TestBus) throws -> JSON {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return try #require(rows.first { $0["name"]?.string == name })
    }

    @Test(.promise("M.148")) func modulesHaveTheirNodesAndAwayOnesAreUnreachable() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.provider("Notes", "Notes")
            let found = try ["Notes", "Index", "Thumbs", "Log"].map { name in
                let row = try row(name, bus)
                return "\(name) \(row["state"]?.string ?? "") \(row["nodes"] ?? .null)"
            }
            #expect(
                found == [
                    #"Notes ready ["berlin"]"#, #"Index unreachable ["tokyo"]"#,
                    #"Thumbs unreachable ["tokyo","osaka"]"#, #"Log absent ["berlin"]"#,
                ])
            let tool = try bus.operator()
            try tool.call("bus/watch", nil, ["credit": 100])
            try tool.find(["kind": "reply"], body: ["module": "Index", "state": "unreachable"])
        }
    }

    @Test(.promise("M.148")) func oneMachineHasNoNodes() throws {
        try MemoryBus.run(.testing(.manual("Notes"))) { bus in
            let nodes = try row("Notes", bus)["nodes"]
            #expect(nodes == nil)
        }
    }

    /// A removed row keeps its placement as long as its session lasts, and the next program reads it.
    @Test(.promise("R.20", "M.146")) func replacedBrokerKnowsItsNode() throws {
        let before = table()
        try TestBus.run(before, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let launcher = try bus.launcher()
            let notes = try bus.provider("Notes", "Notes")
            let log = try bus.provider("Log", "Log")
            log.answersLifecycle = false
            var after = before
            after.modules.removeLast()
            let tool = try bus.operator()
            let reload = try tool.call("bus/reload")
            try launcher.reply(to: try launcher.expectCall("launcher/reload"), after.json())
            try launcher.asked("bus/reloaded")
            try tool.expectReply(to: reload)
            let tearDown = try log.expectCall("module/tearDown")
            try tool.asked("bus/handOver")
            #expect(try notes.refused("Index/find", with: "unavailable").message == Self.index)
            try log.reply(to: tearDown)
        }
    }

    /// What a node is told when it connects is what is so, not what has changed since the program began.
    @Test func replacedBrokerTellsNodesWhatWasReadyAndObservedBefore() throws {
        try TestBus.run(table(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let notes = try bus.provider("Notes", "Notes", ["observes": [["name": "changed"]]])
            try bus.operator().asked("bus/handOver")
            let link = try TestNodes.link(of: bus)
            let tokyo = try TestNodes.line(to: "tokyo", of: bus)
            let told = try tokyo.expect(["kind": "node"]).json
            #expect(told["ready"] == ["Notes"])
            #expect(told["observes"] == ["changed": 2])
            withExtendedLifetime((notes, link)) {}
        }
    }

    @Test(.promise("M.149")) func rowThatMovesAwayIsUnreachableOnceItsSessionHasEnded() throws {
        let before = table()
        try MemoryBus.run(before) { bus in
            let launcher = try bus.launcher()
            let notes = try bus.provider("Notes", "Notes")
            let log = try bus.provider("Log", "Log")
            var after = before
            after.modules[0].placement = .on(["osaka"])
            let reload = try bus.operator().call("bus/reload")
            try launcher.reply(to: try launcher.expectCall("launcher/reload"), after.json())
            try launcher.asked("bus/reloaded")
            _ = reload
            // It still has its session, until the launcher stops it.
            let id = try log.call("Notes/read")
            try notes.reply(to: try notes.expectCall("Notes/read"))
            try log.expectReply(to: id)
            notes.close()
            let error = try log.refused("Notes/read", with: "unavailable")
            #expect(
                error.message
                    == "Notes runs on the node osaka, which can't be reached: osaka has not been connected yet; see strata nodes"
            )
        }
    }
}
