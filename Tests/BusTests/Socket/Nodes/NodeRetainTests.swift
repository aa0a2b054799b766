import StrataCore
import Testing

@testable import StrataTesting

/// Retained broadcasts of another node: its broker sends them to observers that have begun here.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeRetainTests {
    private static let retain: JSON = ["retain": true]
    static let retained: JSON = ["retained": true, "from": "Storage", "node": "berlin", "level": "basic"]

    private func retain(_ name: String, _ body: JSON, _ object: String? = nil, by sender: RawPeer) throws {
        let members = object.map { ["retain": true, "object": .string($0)] } ?? Self.retain
        try sender.expectReply(to: try sender.broadcast(name, body, members))
    }

    /// Waits until an observer has got all that other nodes retain for its observations. Nodes are asked in order.
    private func settle(_ observer: RawPeer, _ sender: RawPeer) throws {
        try retain("settled", true, by: sender)
        try observer.asked("bus/observe", ["name": "settled"])
        try observer.find(["kind": "notice", "name": "settled", "retained": true])
    }

    private func index(_ nodes: TestNodes, _ observes: JSON) throws -> RawPeer {
        try nodes.tokyo.module("Index", ["observes": observes, "interfaces": ["Index": [:]]])
    }

    @Test(.promise("13.48")) func anObserverThatBeginsElsewhereGetsTheLastOfEachKey() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            for (object, number) in [(nil, 1), ("a", 2), (nil, 3), ("b", 4)] as [(String?, JSON)] {
                try retain("saved", number, object, by: store)
            }
            try retain("other", 5, by: store)
            let index = try index(nodes, ["saved", ["name": "saved", "object": "b"], ["pattern": "other.*"]])
            let log = try nodes.tokyo.module("Log", ["observes": ["saved"]])
            try settle(index, store)
            let came = index.inbox.filter { $0.name == "saved" }
            #expect(came.filter { $0["subscription"] == 1 }.map(\.json) == [2, 3, 4])
            #expect(came.filter { $0["subscription"] == 2 }.map(\.json) == [4] && came.count == 4)
            #expect(came.allSatisfy { $0.matches(Self.retained) })
            #expect(!index.inbox.contains { $0.name == "other" })
            // Log isn't of a later level.
            try log.expectNothing()
            index.inbox = []
            try retain("saved", 6, by: store)
            #expect(try index.expectNotice("saved", 6)["retained"] == nil)
        }
    }

    /// The node has known the name for long.
    @Test(.promise("13.48")) func aLaterObserverGetsWhatIsRetainedThen() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try index(nodes, ["saved"])
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            try retain("saved", 1, "a", by: store)
            try retain("saved", 2, "b", by: store)
            try store.expect("bus/forget", ["name": "saved", "object": "a"], gives: ["forgotten": 1])
            try settle(index, store)
            index.inbox = []
            let answer = try index.asked("bus/observe", ["name": "saved"])
            try settle(index, store)
            let came = index.inbox.filter { $0.name == "saved" }
            #expect(came.map(\.json) == [2] && came.first?["subscription"] == answer["subscription"])
            // What a session has retained ends with it.
            store.close()
            let next = try nodes.berlin.provider("Storage", "Storage")
            index.inbox = []
            try index.asked("bus/observe", ["name": "saved"])
            try settle(index, next)
            #expect(!index.inbox.contains { $0.name == "saved" })
        }
    }

    @Test(.promise("13.48", "7.23")) func anAdaptersNameIsAskedForByTheBroadcastsOwn() throws {
        let table = AppTable.twoNodes {
            var adapter = AppTable.Adapter(name: "Store", to: "Storage")
            adapter.notices = [.init(from: "saved.warm", to: "store.saved")]
            $0.adapters = [adapter]
        }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            try retain("saved.warm", 1, by: store)
            let index = try index(nodes, ["store.saved", ["pattern": "store.*"], ["pattern": "*.*"]])
            try settle(index, store)
            let came = index.inbox.filter { $0.kind == "notice" }
            #expect(came.compactMap(\.name) == ["store.saved", "store.saved", "saved.warm"])
            #expect(came.map { $0["subscription"] } == [1, 2, 3])
        }
    }

    @Test(.promise("13.48")) func whatAGuestRetainsStaysOnItsNode() throws {
        let table = AppTable.twoNodes { $0.guests = .init(rank: 0, most: 1) }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let guest = try nodes.berlin.module("Visitor")
            try retain("saved", 1, by: guest)
            let index = try index(nodes, ["saved"])
            try settle(index, store)
            #expect(!index.inbox.contains { $0.name == "saved" })
            #expect(try nodes.tokyo.operator().asked("bus/stats")["counters"]?["violations"] == 0)
        }
    }

    // MARK: Connections

    @Test(.promise("13.49")) func nodesThatConnectAgainSendWhatIsRetainedThen() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            for (object, number) in [("a", 1), ("b", 2), ("c", 3)] as [(String, JSON)] {
                try retain("saved", number, object, by: store)
            }
            let index = try index(nodes, ["saved"])
            for number in 1...3 as ClosedRange<Int64> {
                try index.expectNotice("saved", .integer(number), Self.retained)
            }
            for line in nodes.lines { line.close() }
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try retain("saved", 4, "a", by: store)
            try store.expect("bus/forget", ["name": "saved", "object": "b"], gives: ["forgotten": 1])
            try nodes.join()
            try settle(index, store)
            let came = index.inbox.filter { $0.name == "saved" }
            #expect(came.map(\.json) == [3, 4] && came.allSatisfy { $0.matches(Self.retained) })
            #expect(came.first?["missed"] == 1)
        }
    }

    // MARK: With room

    /// Senders that may retain more than queues and sockets take, and an observer in tokyo.
    private func slow(_ test: (TestNodes, [RawPeer], RawPeer) throws -> Void) throws {
        let table = AppTable.twoNodes {
            $0.limits.queue = 400_000
            for number in 0..<6 { $0.modules.append(.manual("S\(number)") { $0.placement = .on(["berlin"]) }) }
        }
        try TestNodes.run(table) { nodes in
            let senders = try (0..<6).map { try nodes.berlin.module("S\($0)") }
            for number in 0..<30 {
                let body: JSON = .array([.integer(Int64(number)), .filler(60_000)])
                try retain("saved", body, "\(number)", by: senders[number % 6])
            }
            let index = try index(nodes, ["other"])
            index.isPaused = true
            try test(nodes, senders, index)
        }
    }

    @Test(.promise("13.50"), arguments: ["all", "latest"]) func aSlowObserverGetsAllAndNeverAnOlderOneLast(
        keep: String
    ) throws {
        try slow { nodes, senders, index in
            try index.call("bus/observe", ["name": "saved", "keep": .string(keep)])
            let tool = try nodes.tokyo.operator()
            try tool.settle()
            // It waits for room, and a newer one comes.
            try NodeNoticeTests.waitUntilObserved("other", by: senders[0])
            try retain("saved", [100], "29", by: senders[29 % 6])
            try senders[0].expect("bus/forget", ["name": "saved", "object": "24"], gives: ["forgotten": 1])
            index.isPaused = false
            var last: [String: Int64] = [:]
            var (numbers, missed): ([Int64], Int64) = ([], 0)
            while last["28"] == nil || last["29"] != 100 {
                let notice = try index.find(["kind": "notice", "name": "saved"])
                let (object, number) = (notice["object"]?.string ?? "", notice.json.array?.first?.integer ?? -1)
                last[object] = number
                missed += notice["missed"]?.integer ?? 0
                if notice["retained"] == true { numbers.append(number) }
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "\(numbers)")
            // Under `latest` the newer one replaces the one that waits, if any does.
            #expect(last["24"] == nil && last.count + Int(missed) == 29 && missed <= (keep == "all" ? 0 : 1), "\(last)")
            try index.settle()
        }
    }

    @Test(.promise("13.50")) func manyObserversAndManyBroadcastsOfOneName() throws {
        let observers = 150
        let table = AppTable.twoNodes {
            for number in 0..<observers {
                $0.modules.append(.manual("O\(number)", rank: 1) { $0.placement = .on(["tokyo"]) })
            }
        }
        try TestNodes.run(table, isJoined: false) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let all = try (0..<observers).map { try nodes.tokyo.module("O\($0)", ["observes": ["saved"]]) }
            for number in 0..<100 { try retain("saved", .integer(Int64(number)), "\(number)", by: store) }
            try nodes.join()
            for observer in all {
                for number in 0..<100 { try observer.expectNotice("saved", .integer(Int64(number)), Self.retained) }
                try observer.expectNothing()
            }
        }
    }
}
