import StrataCore
import StrataTesting
import Testing

/// Requests to a node that has not joined yet wait for it, for a time.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeJoinTests {
    private static func table(_ join: UInt64 = 600_000, _ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .twoNodes {
            $0.join = join
            change(&$0)
        }
    }

    /// Runs a test on berlin's bus alone, in memory.
    private static func inBerlin(_ table: AppTable, _ test: (TestBus) throws -> Void) throws {
        var table = table
        table.node = "berlin"
        try MemoryBus.run(table, test)
    }

    private func state(_ bus: TestBus) throws -> [String] {
        let requests = try bus.operator().asked("bus/requests")["requests"]?.array ?? []
        return requests.filter { $0["from"] == "Notes" }.compactMap { $0["state"]?.string }
    }

    @Test(.promise("N.30")) func requestsWaitForTheNodeAndKeepTheirOrder() throws {
        try TestNodes.run(Self.table(), isJoined: false) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["seen"], "interfaces": ["Index": [:]]])
            let notes = try nodes.berlin.module("Notes")
            let first = try notes.call("Index/find", ["n": 1])
            let report = try notes.report("seen", to: "Index", ["n": 2])
            let open = try notes.open("test://index/show/3")
            let last = try notes.call("Index/find", ["n": 4])
            #expect(try state(nodes.berlin) == ["waiting", "waiting", "waiting", "waiting"])
            try nodes.join()
            let call = try index.expectCall("Index/find", ["n": 1], ["from": "Notes", "node": "berlin"])
            let notice = try index.expectNotice("seen", ["n": 2])
            let shown = try index.expectCall("Index/show", ["number": "3"])
            try index.reply(to: try index.expectCall("Index/find", ["n": 4]))
            for frame in [call, notice, shown] { try index.reply(to: frame) }
            for id in [first, report, open, last] { try notes.expectReply(to: id) }
        }
    }

    @Test(.promise("N.30")) func afterTheTimeTheyAreRefused() throws {
        try Self.inBerlin(Self.table(500)) { bus in
            let notes = try bus.module("Notes")
            let begun = bus.now
            let id = try notes.call("Index/find")
            let refused = try notes.expectError(to: id, "unavailable", ran: "no")
            #expect(refused.message.contains("tokyo has not been connected yet"))
            #expect(bus.now - begun <= .milliseconds(500))
            // From now on at once: hardly any time passes on the bus's own clock.
            let end = bus.now
            try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(bus.now - end < .milliseconds(1))
        }
    }

    @Test(.promise("N.30")) func aNodeThatWasUpAndIsLostIsNotWaitedFor() throws {
        try TestNodes.run(Self.table()) { nodes in
            let notes = try nodes.berlin.module("Notes")
            try nodes.links[0].asked("bus/nodeLost", ["node": "tokyo", "sent": 0, "reason": "gone"])
            let refused = try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(refused.message.contains("tokyo is lost: gone"))
        }
    }

    @Test(.promise("N.30")) func anotherAppsTableEndsTheWait() throws {
        func change(_ table: inout AppTable) { table.levels = ["basic", "middle", "late"] }
        try TestNodes.run(Self.table(), inTokyo: change, isJoined: false) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find")
            try nodes.join(until: "mismatch")
            let refused = try notes.expectError(to: id, "unavailable", ran: "no")
            #expect(refused.message.contains("levels is"))
        }
    }

    @Test(.promise("N.31")) func theyEndByDeadlineAndCancelWithoutHavingRun() throws {
        try Self.inBerlin(Self.table()) { bus in
            let notes = try bus.module("Notes")
            let late = try notes.call("Index/find", nil, ["deadline": 200])
            let cancelled = try notes.call("Index/find")
            try notes.send(["kind": "cancel", "id": .integer(Int64(cancelled))])
            try notes.expectError(to: cancelled, "cancelled", ran: "no")
            let error = try notes.expectError(to: late, "deadline-exceeded", ran: "no")
            #expect(error.message.contains("Index was not ready"))
        }
    }

    @Test(.promise("N.31")) func aCallersEndTakesThemBack() throws {
        try TestNodes.run(Self.table(), isJoined: false) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            try notes.call("Index/find", ["n": 1])
            notes.close()
            while try !state(nodes.berlin).isEmpty {}
            try nodes.berlin.provider("Storage", "Storage").call("Index/find", ["n": 2])
            try nodes.join()
            try index.expectCall("Index/find", ["n": 2])
            try index.expectNothing()
        }
    }

    @Test(.promise("N.31")) func theyCountForTheLimits() throws {
        let table = Self.table {
            $0.limits.waiting = 2
            $0.limits.held = 10_000
        }
        try Self.inBerlin(table) { bus in
            let notes = try bus.module("Notes")
            try notes.call("Index/find", .filler(9_000))
            let large = try notes.refused("Index/find", .filler(9_000), with: "overloaded", ran: "no")
            #expect(large.message.contains("limits.held"))
            try notes.call("Index/find")
            let many = try notes.refused("Index/find", with: "overloaded", ran: "no")
            #expect(many.message.contains("limits.waiting"))
        }
    }

    @Test(.promise("N.31")) func theySurviveTheReplacementOfTheBroker() throws {
        let table = Self.table { $0.node = "berlin" }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let notes = try bus.module("Notes")
            let id = try notes.call("Index/find", ["n": 1])
            try bus.operator().asked("bus/handOver")
            #expect(try state(bus) == ["waiting"])
            let line = try NodeHostilityTests.tokyo(of: bus)
            try line.reply(to: try line.expectCall("Index/find", ["n": 1]))
            try notes.expectReply(to: id)
        }
    }

    @Test(.promise("N.32")) func requestsWaitWhileTheLinkIsMadeAnew() throws {
        try TestNodes.run(Self.table()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let open = try notes.call("Index/find", ["n": 1])
            try index.expectCall("Index/find", ["n": 1])
            for line in nodes.lines { line.close() }
            try notes.expectError(to: open, "died", ran: "maybe")
            let waiting = try notes.call("Index/find", ["n": 2])
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try nodes.join()
            try index.reply(to: try index.find(["kind": "call", "to": "Index/find"], body: ["n": 2]))
            try notes.expectReply(to: waiting)
        }
    }

    @Test(.promise("N.32")) func aRequestInSetUpDoesNotWait() throws {
        try Self.inBerlin(Self.table()) { bus in
            let notes = try bus.connect("Notes")
            try notes.hello("Notes")
            let setUp = try notes.expectCall("module/setUp")
            let refused = try notes.refused("Index/find", nil, ["parent": setUp.number], with: "unavailable", ran: "no")
            #expect(refused.message.contains("setUp"))
            try notes.reply(to: setUp)
            let initialize = try notes.expectCall("module/initialize")
            let id = try notes.call("Index/find", nil, ["parent": initialize.number, "deadline": 100])
            try notes.expectError(to: id, "deadline-exceeded", ran: "no")
        }
    }

    @Test(.promise("N.32")) func aBroadcastDoesNotWait() throws {
        try TestNodes.run(Self.table(), isJoined: false) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            let store = try nodes.berlin.provider("Storage", "Storage")
            let id = try store.broadcast("saved", ["n": 1])
            #expect(try store.expectReply(to: id).json == ["recipients": 0, "nodes": 0])
            try nodes.join()
            try index.expectNothing()
        }
    }
}
