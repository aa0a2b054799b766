import StrataCore
import StrataTesting
import Testing

/// Broadcasts between two nodes that modules of the other node observe by patterns.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodePatternTests {
    private func observed(
        _ observes: JSON, _ table: AppTable = .twoNodes(),
        _ test: (TestNodes, _ store: RawPeer, _ index: RawPeer) throws -> Void
    ) throws {
        try TestNodes.run(table) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": observes, "interfaces": ["Index": [:]]])
            let store = try nodes.berlin.provider("Storage", "Storage")
            try NodeNoticeTests.waitUntilObserved("saved.warm", by: store)
            try index.expectNotice("saved.warm", ["warm": true])
            try test(nodes, store, index)
        }
    }

    private func broadcast(_ name: String, _ body: JSON, by store: RawPeer, reaches nodes: Int64) throws {
        #expect(try store.expectReply(to: try store.broadcast(name, body)).json["nodes"] == .integer(nodes))
    }

    @Test(.promise("N.6", "7.21")) func whatAPatternMatchesCrossesOnce() throws {
        try observed([["pattern": "saved.*"], "saved.twice"]) { _, store, index in
            try broadcast("saved.twice", 1, by: store, reaches: 1)
            for _ in 0..<2 { try index.expectNotice("saved.twice", 1, ["from": "Storage", "node": "berlin"]) }
            try broadcast("saved", 2, by: store, reaches: 0)
            try broadcast("saved.a.b", 3, by: store, reaches: 0)
            try broadcast("saved.a", 4, by: store, reaches: 1)
            try index.expectNotice("saved.a", 4)
            // The pattern's end is told, too, and leaves the name.
            let pattern = try #require(index.welcome["subscriptions"]?.array?.first)
            try index.asked("bus/unobserve", ["subscription": pattern])
            while try store.expectReply(to: try store.broadcast("saved.b")).json["nodes"] == 1 {}
            try broadcast("saved.twice", 5, by: store, reaches: 1)
        }
    }

    @Test(.promise("N.33", "7.21")) func broadcastsThatDidNotComeAreCountedByTheirNames() throws {
        try observed([["pattern": "saved.>"]]) { nodes, store, index in
            try broadcast("saved.a", 1, by: store, reaches: 1)
            try index.expectNotice("saved.a", 1)
            nodes.holdBerlin()
            try broadcast("saved.a", 2, by: store, reaches: 1)
            try broadcast("saved.b.c", 3, by: store, reaches: 1)
            for line in nodes.lines { line.close() }
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try broadcast("saved.d", 4, by: store, reaches: 0)
            try nodes.join()
            try broadcast("saved.e", 5, by: store, reaches: 1)
            #expect(try index.expectNotice("saved.e", 5)["missed"] == 3)
            try broadcast("saved.a", 6, by: store, reaches: 1)
            #expect(try index.expectNotice("saved.a", 6)["missed"] == nil)
        }
    }

    /// Their names never come again, so the next notice of the pattern tells of them.
    @Test(.promise("N.8", "7.21")) func noticesWithoutRoomAreToldByTheNextOfThePattern() throws {
        try observed([["pattern": "saved.>"], "other"], .twoNodes { $0.limits.queue = 256 << 10 }) {
            nodes, store, index in
            nodes.lines[0].isPaused = true
            var (sent, lost) = (0, 0)
            while lost < 3 {
                let name = "saved.\(sent + lost)"
                let answer = try store.expectReply(to: try store.broadcast(name, .filler(16_000))).json
                if answer["nodes"] == 1 { sent += 1 } else { lost += 1 }
            }
            nodes.lines[0].isPaused = false
            for number in 0..<sent { #expect(try index.expectNotice("saved.\(number)")["missed"] == nil) }
            while try store.expectReply(to: try store.broadcast("other")).json["nodes"] != 1 {}
            try index.expectNotice("other")
            try broadcast("saved.next", 1, by: store, reaches: 1)
            #expect(try index.expectNotice("saved.next", 1)["missed"] == .integer(Int64(lost)))
            // They aren't told again when the nodes compare their counts.
            for line in nodes.lines { line.close() }
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try nodes.join()
            try broadcast("saved.last", 2, by: store, reaches: 1)
            #expect(try index.expectNotice("saved.last", 2)["missed"] == nil)
        }
    }

    /// Beyond 4,096 names that only patterns observe, their counts begin anew.
    @Test(.promise("N.33", "7.21")) func countsOfManyNamesAreBounded() throws {
        try observed([["pattern": "saved.>"]]) { nodes, store, index in
            for number in 0..<4_200 {
                try broadcast("saved.new\(number)", 1, by: store, reaches: 1)
                try index.expectNotice("saved.new\(number)", 1)
            }
            for line in nodes.lines { line.close() }
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try nodes.join()
            try broadcast("saved.last", 2, by: store, reaches: 1)
            #expect(try index.expectNotice("saved.last", 2)["missed"] == 1)
        }
    }

    @Test(.promise("N.6", "7.23")) func aPatternOfAnAdaptersNamesIsObservedThroughTheBroadcastsOwn() throws {
        let table = AppTable.twoNodes {
            var adapter = AppTable.Adapter(name: "Store", to: "Storage")
            adapter.notices = [.init(from: "saved.warm", to: "store.saved")]
            $0.adapters = [adapter]
        }
        try TestNodes.run(table) { nodes in
            let observes: JSON = [["pattern": "store.*"]]
            let index = try nodes.tokyo.module("Index", ["observes": observes, "interfaces": ["Index": [:]]])
            let store = try nodes.berlin.provider("Storage", "Storage")
            try NodeNoticeTests.waitUntilObserved("saved.warm", by: store)
            try index.expectNotice("store.saved", ["warm": true], ["from": "Storage", "node": "berlin"])
        }
    }
}
