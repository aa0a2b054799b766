import StrataCore
import Testing

@testable import StrataTesting

/// How two brokers ask each other for retained broadcasts. Here the test speaks as tokyo's.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeAskTests {
    private static let found: JSON = ["kind": "notice", "name": "found", "from": "Index", "via": "broadcast"]

    /// Returns what berlin asks for next.
    private func asked(_ line: RawPeer) throws -> [JSON] {
        while true {
            if let asks = try line.expect(["kind": "node"]).json["asks"]?.array { return asks }
        }
    }

    private func answer(_ line: RawPeer, _ ask: JSON, _ number: Int64, _ body: JSON, more: Bool = false) throws {
        var members: JSON = ["id": ask, "retained": true, "number": .integer(number), "before": 90]
        if more { members = members.adding(["more": true]) }
        try line.send(Self.found.adding(members), body: body)
    }

    private func answered(_ line: RawPeer, _ ask: JSON) throws {
        try line.send(["kind": "node"], body: ["answered": [ask]])
    }

    // MARK: Berlin asks

    @Test(.promise("13.48")) func eachObservationThatBeginsIsAskedFor() throws {
        try asTokyo(retains: true) { bus, line in
            let observes: JSON = ["found", ["name": "found", "object": "a"], ["pattern": "f.>"], "found"]
            let notes = try bus.module("Notes", ["observes": observes])
            let asks = try asked(line)
            #expect(
                asks == [
                    ["ask": 1, "rank": 2, "names": ["found"]],
                    ["ask": 2, "rank": 2, "names": ["found"], "object": "a"],
                    ["ask": 3, "rank": 2, "patterns": ["f.>"]],
                ])
            try answer(line, 1, 5, ["n": 1])
            for subscription in [1, 4] as [JSON] {
                let members: JSON = [
                    "retained": true, "node": "tokyo", "level": "middle", "subscription": subscription,
                ]
                try notes.expectNotice("found", ["n": 1], members)
            }
            try answered(line, 1)
            // It is over, and 7 was never asked.
            for ask in [1, 7] as [JSON] { try answer(line, ask, 6, ["n": 2]) }
            try line.settleNode()
            try notes.expectNothing()
        }
    }

    @Test(.promise("13.48")) func aNodeOfAnEarlierBuildIsNotAsked() throws {
        try asTokyo { bus, line in
            let notes = try bus.module("Notes", ["observes": ["found"]])
            try line.settleNode()
            #expect(line.inbox.allSatisfy { $0.json["asks"] == nil })
            try line.send(Self.found, body: ["n": 1])
            try notes.expectNotice("found", ["n": 1])
        }
    }

    @Test(.promise("13.48", "N.5")) func theObserversBrokerJudgesAgain() throws {
        let table = AppTable.twoNodes {
            $0.calls = .declared
            $0.modules[3].broadcasts = ["found"]
        }
        try asTokyo(table, retains: true) { bus, line in
            let store = try bus.module("Storage", ["observes": ["found"], "interfaces": ["Storage": [:]]])
            let notes = try bus.module("Notes", ["observes": ["found", "other"]])
            let asks = try asked(line) + asked(line)
            #expect(asks.map { $0["ask"] } == [1, 2, 3])
            for ask in [1, 2, 3] as [JSON] { try answer(line, ask, 5, ["n": ask]) }
            try line.send([
                "kind": "notice", "name": "other", "from": "Index", "via": "broadcast", "id": 3, "retained": true,
                "number": 6, "before": 9,
            ])
            _ = try line.answer(to: try line.call("Nobody/there", nil, ["from": "Index"]))
            #expect(try notes.drain().map(\.json) == [["n": 2]])
            try store.expectNothing()
        }
    }

    @Test(.promise("13.49")) func anObservationThatEndsOrBeginsAgainGetsNothingMore() throws {
        try asTokyo(retains: true) { bus, line in
            let first = try bus.module("Notes", ["observes": ["found"]])
            #expect(try asked(line).count == 1)
            first.close()
            try bus.waitUntil("Notes", is: "absent")
            let second = try bus.module("Notes", ["observes": ["found"]])
            #expect(try asked(line).map { $0["ask"] } == [2])
            try answer(line, 1, 5, ["n": 1])
            try answer(line, 2, 5, ["n": 2])
            try second.expectNotice("found", ["n": 2])
        }
    }

    @Test(.promise("13.50")) func whatComesInPartsIsAskedForAgain() throws {
        try asTokyo(retains: true) { bus, line in
            let notes = try bus.module("Notes", ["observes": ["found"]])
            let ask = try asked(line)
            try answer(line, ask[0]["ask"] ?? 0, 5, ["n": 1], more: true)
            try notes.expectNotice("found", ["n": 1])
            #expect(try asked(line) == [["ask": 2, "rank": 2, "names": ["found"], "from": 6, "before": 90]])
        }
    }

    /// An older notice is still being delivered to many.
    @Test(.promise("13.49")) func aRetainedNoticeWaitsForAnOlderBroadcast() throws {
        let table = AppTable.twoNodes {
            for number in 0..<150 {
                $0.modules.append(.manual("O\(number)", rank: 2) { $0.placement = .on(["berlin"]) })
            }
        }
        try asTokyo(table, retains: true) { bus, line in
            for number in 0..<150 { _ = try bus.module("O\(number)", ["observes": ["found"]]) }
            let notes = try bus.module("Notes")
            try line.settleNode()
            line.inbox = []
            try notes.asked("bus/observe", ["name": "found"])
            let ask = try #require(try asked(line).first?["ask"])
            try line.send(Self.found, body: ["n": 1])
            try answer(line, ask, 5, ["n": 2])
            try notes.expectNotice("found", ["n": 1])
            try notes.expectNotice("found", ["n": 2], ["retained": true])
        }
    }

    @Test(.promise("13.50")) func asksAreBoundedAndTheNextFollowAnswers() throws {
        try asTokyo(.twoNodes { $0.limits.observations = 2_000 }, retains: true) { bus, line in
            let notes = try bus.module("Notes")
            for number in 0..<1_030 {
                try notes.send(
                    ["kind": "call", "id": .integer(Int64(2 * number + 2)), "to": "bus/observe"],
                    body: ["name": "found", "object": .string("\(number)")])
            }
            var asks: [JSON] = []
            while asks.count < 1_024 { asks += try asked(line) }
            try line.settleNode()
            #expect(asks.count == 1_024 && !line.inbox.contains { $0.json["asks"] != nil })
            try answered(line, 1)
            #expect(try asked(line).map { $0["object"] } == ["1024"])
        }
    }

    // MARK: Berlin is asked

    private func retain(_ count: Int64, _ store: RawPeer) throws {
        for number in 0..<count {
            let members: JSON = ["retain": true, "object": .string("\(number)")]
            try store.expectReply(to: try store.broadcast("saved", .integer(number), members))
        }
    }

    @Test(.promise("13.50")) func anAskIsAnsweredInParts() throws {
        try asTokyo { bus, line in
            let store = try bus.provider("Storage", "Storage")
            try retain(70, store)
            try line.settleNode()
            line.inbox = []
            func ask(_ number: JSON, _ members: JSON) throws {
                let ask: JSON = ["ask": number, "rank": 1, "names": ["saved"]]
                try line.send(["kind": "node"], body: ["asks": [ask.adding(members)]])
            }
            try ask(7, [:])
            var last: ReceivedFrame?
            for number in 0..<64 as Range<Int64> {
                last = try line.find(["kind": "notice", "id": 7, "retained": true], body: .integer(number))
                #expect((last?["more"] == true) == (number == 63))
            }
            try store.expectReply(to: try store.broadcast("saved", 100, ["retain": true]))
            let place = try #require(last?["number"]?.integer)
            try ask(8, ["from": .integer(place + 1), "before": last?["before"] ?? 0])
            for number in 64..<70 as Range<Int64> {
                try line.expect(["kind": "notice", "id": 8], body: .integer(number))
            }
            // The newest is beyond the first ask's end.
            #expect(try line.expect(["kind": "node"]).json == ["answered": [8]])
            try line.send(["kind": "node"], body: ["asks": [["ask": 9, "rank": 0, "names": ["saved"]]]])
            #expect(try line.expect(["kind": "node"]).json == ["answered": [9]])
        }
    }

    @Test(
        .promise("13.50"),
        arguments: [
            ["asks": .array((1...1_025).map { ["ask": .integer($0), "rank": 1, "names": ["saved"]] })],
            ["asks": [["ask": 1, "names": ["saved"]]]], ["asks": [["ask": 1, "rank": 1, "patterns": ["saved"]]]],
            ["asks": [["ask": 1, "rank": 1, "names": .array((0..<257).map { .string("n\($0)") })]]],
            ["asks": [["ask": 1, "rank": 1, "names": ["saved"], "from": -1]]],
        ] as [JSON]) func askingTooMuchOrWronglyEndsTheConnection(_ body: JSON) throws
    {
        try asTokyo { bus, line in
            try line.send(["kind": "node"], body: body)
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
        }
    }

    // MARK: Replaced brokers

    @Test(.promise("13.49")) func afterAReplacementBothSidesBeginAnew() throws {
        let table = AppTable.twoNodes { $0.node = "berlin" }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let store = try bus.provider("Storage", "Storage")
            let notes = try bus.module("Notes", ["observes": ["found"]])
            try retain(1, store)
            for round in 1...2 as ClosedRange<Int64> {
                let line = try NodeHostilityTests.tokyo(of: bus, retains: true)
                let asks = try asked(line)
                #expect(asks == [["ask": 1, "rank": 2, "names": ["found"]]])
                try answer(line, 1, 5, .integer(round))
                try notes.expectNotice("found", .integer(round), ["retained": true])
                try line.send(["kind": "node"], body: ["asks": [["ask": 3, "rank": 1, "names": ["saved"]]]])
                try line.find(["kind": "notice", "id": 3, "retained": true], body: 0)
                try bus.operator().asked("bus/handOver")
            }
        }
    }
}
