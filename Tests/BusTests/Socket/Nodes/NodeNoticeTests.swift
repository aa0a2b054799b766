import StrataCore
import StrataTesting
import Testing

/// Broadcasts between two nodes: one copy crosses, and the other bus fans it out.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeNoticeTests {
    /// Broadcasts until the other node has been told that it is observed there.
    static func waitUntilObserved(_ name: String, by peer: RawPeer) throws {
        while try peer.asked("bus/ping").object != nil {
            let answer = try peer.expectReply(to: try peer.broadcast(name, ["warm": true])).json
            if answer["nodes"] == 1 { return }
        }
    }

    @Test(.promise("N.6")) func aBroadcastReachesLaterLevelsOfTheOtherNode() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            let log = try nodes.tokyo.module("Log", ["observes": ["saved"]])
            let store = try nodes.berlin.provider("Storage", "Storage")
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved", ["warm": true])
            let id = try store.broadcast("saved", ["n": 1], ["object": "a", "meta": ["m": 1]])
            #expect(try store.expectReply(to: id).json == ["recipients": 0, "nodes": 1])
            let notice = try index.expectNotice("saved", ["n": 1])
            #expect(notice.from == "Storage" && notice["node"] == "berlin" && notice["level"] == "basic")
            #expect(notice["via"] == "broadcast" && notice["object"] == "a" && notice["meta"] == ["m": 1])
            try log.expectNothing()
        }
    }

    @Test(.promise("N.6")) func aNameThatNobodyObservesThereDoesNotCross() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved")
            #expect(try store.expectReply(to: try store.broadcast("other")).json == ["recipients": 0, "nodes": 0])
            // An observation that ends is told, too.
            let subscription = try #require(index.welcome["subscriptions"]?.array?.first)
            try index.asked("bus/unobserve", ["subscription": subscription])
            while try store.expectReply(to: try store.broadcast("saved")).json["nodes"] == 1 {}
        }
    }

    @Test(.promise("N.5")) func theLevelRuleHoldsAtTheSender() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved")
            // Notes is of a later level than the only observer.
            #expect(try notes.expectReply(to: try notes.broadcast("saved")).json == ["recipients": 0, "nodes": 0])
            try index.expectNothing()
        }
    }

    @Test(.promise("N.7")) func callsAndBroadcastsOfOneSenderKeepTheirOrder() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved")
            for number in 0..<50 {
                try store.send(["kind": "broadcast", "name": "saved"], body: .integer(Int64(number)))
                try store.call("Index/note", .integer(Int64(number)))
            }
            for number in 0..<50 {
                try index.expect(["kind": "notice", "name": "saved"], body: .integer(Int64(number)))
                try index.expectCall("Index/note", .integer(Int64(number)))
            }
        }
    }

    @Test(.promise("N.8")) func noticesWithoutRoomAreCountedAndTold() throws {
        let table = AppTable.twoNodes { $0.limits.queue = 256 << 10 }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved", ["warm": true])
            // The link stops, so the queue to tokyo fills.
            nodes.lines[0].isPaused = true
            var (sent, lost) = (0, 0)
            while lost < 5 {
                let answer = try store.expectReply(to: try store.broadcast("saved", .filler(16_000))).json
                if answer["nodes"] == 1 { sent += 1 } else { lost += 1 }
            }
            nodes.lines[0].isPaused = false
            for _ in 0..<sent { #expect(try index.expectNotice("saved")["missed"] == nil) }
            // The queue may still be full when the first one comes.
            while try store.expectReply(to: try store.broadcast("saved", ["n": 1])).json["nodes"] != 1 { lost += 1 }
            #expect(try index.expectNotice("saved", ["n": 1])["missed"] == .integer(Int64(lost)))
            // Nobody else was harmed.
            try store.asked("bus/ping")
        }
    }

    @Test(.promise("N.6")) func aBroadcastToManyIsFannedOutOnceOverThere() throws {
        let observers = 200
        let table = AppTable.twoNodes {
            for number in 0..<observers {
                $0.modules.append(.manual("O\(number)", rank: 1) { $0.placement = .on(["tokyo"]) })
            }
        }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let all = try (0..<observers).map { try nodes.tokyo.module("O\($0)", ["observes": ["saved"]]) }
            try Self.waitUntilObserved("saved", by: store)
            try store.broadcast("saved", ["n": 1])
            try store.broadcast("saved", ["n": 2])
            for observer in all {
                try observer.expectNotice("saved", ["warm": true])
                try observer.expectNotice("saved", ["n": 1])
                try observer.expectNotice("saved", ["n": 2])
            }
        }
    }

    @Test(.promise("N.6")) func anAdaptersNameIsObservedThroughTheBroadcastsOwn() throws {
        let table = AppTable.twoNodes {
            var adapter = AppTable.Adapter(name: "Store", to: "Storage")
            adapter.notices = [.init(from: "saved", to: "store.saved")]
            $0.adapters = [adapter]
        }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let index = try nodes.tokyo.module("Index", ["observes": ["store.saved"], "interfaces": ["Index": [:]]])
            try Self.waitUntilObserved("saved", by: store)
            try index.expectNotice("store.saved", ["warm": true], ["from": "Storage", "node": "berlin"])
        }
    }
}
