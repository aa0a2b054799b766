import StrataCore
import StrataTesting
import Testing

/// No broadcast between two nodes is lost in silence.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeGapTests {
    /// Runs a test in which Index in tokyo observes what Storage in berlin broadcasts.
    private func observed(
        _ table: AppTable = .twoNodes(), _ test: (TestNodes, _ store: RawPeer, _ index: RawPeer) throws -> Void
    ) throws {
        try TestNodes.run(table) { nodes in
            let index = try nodes.tokyo.module("Index", ["observes": ["saved"], "interfaces": ["Index": [:]]])
            let store = try nodes.berlin.provider("Storage", "Storage")
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            try index.expectNotice("saved", ["warm": true])
            try test(nodes, store, index)
        }
    }

    /// Loses the connection of the two nodes.
    private func lose(_ nodes: TestNodes) throws {
        for line in nodes.lines { line.close() }
        try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
        try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
    }

    private func broadcast(_ body: JSON, by store: RawPeer, reaches nodes: Int64) throws {
        #expect(try store.expectReply(to: try store.broadcast("saved", body)).json["nodes"] == .integer(nodes))
    }

    @Test(.promise("N.33")) func broadcastsThatDidNotComeAreCounted() throws {
        try observed { nodes, store, index in
            try broadcast(["n": 1], by: store, reaches: 1)
            try index.expectNotice("saved", ["n": 1])
            nodes.holdBerlin()
            for number in 2...3 as ClosedRange<Int64> { try broadcast(["n": .integer(number)], by: store, reaches: 1) }
            try lose(nodes)
            try broadcast(["n": 4], by: store, reaches: 0)
            try nodes.join()
            try broadcast(["n": 5], by: store, reaches: 1)
            #expect(try index.expectNotice("saved", ["n": 5])["missed"] == 3)
            try broadcast(["n": 6], by: store, reaches: 1)
            #expect(try index.expectNotice("saved", ["n": 6])["missed"] == nil)
        }
    }

    @Test(.promise("N.33")) func whatCameIsNotCounted() throws {
        try observed { nodes, store, index in
            for round in 1...3 as ClosedRange<Int64> {
                try broadcast(["n": .integer(round)], by: store, reaches: 1)
                #expect(try index.expectNotice("saved", ["n": .integer(round)])["missed"] == nil)
                try lose(nodes)
                try nodes.join()
            }
        }
    }

    @Test(.promise("N.33")) func aConnectionThatBringsNothingLosesNoCount() throws {
        try observed { nodes, store, index in
            nodes.holdBerlin()
            try broadcast(["n": 1], by: store, reaches: 1)
            try lose(nodes)
            // Berlin tells its counts, and tokyo doesn't get them.
            let line = try TestNodes.line(to: "tokyo", of: nodes.berlin)
            try line.expect(["kind": "node"])
            line.close()
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try nodes.join()
            try broadcast(["n": 2], by: store, reaches: 1)
            #expect(try index.expectNotice("saved", ["n": 2])["missed"] == 1)
        }
    }

    @Test(.promise("N.34")) func aFirstConnectionWithoutCountsMayHaveBroughtBroadcasts() throws {
        try TestBus.run(.twoNodes { $0.node = "berlin" }) { bus in
            let notes = try bus.module("Notes", ["observes": ["found", "other"]])
            _ = try TestNodes.link(of: bus)
            // Tokyo knows of the observer, and ends before berlin has read its table.
            let first = try TestNodes.line(to: "tokyo", of: bus)
            try first.expect(["kind": "node"])
            first.close()
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
            let line = try NodeHostilityTests.tokyo(of: bus, hasLink: true) { members in
                members.removeAll { $0.name == "series" || $0.name == "counts" }
                members += [.init("series", 7), .init("counts", ["found": 3])]
            }
            for (name, missed) in [("found", 1), ("other", nil), ("found", nil)] as [(JSON, JSON?)] {
                try line.send(["kind": "notice", "name": name, "from": "Index", "via": "broadcast"])
                #expect(try notes.expect(["kind": "notice", "name": name])["missed"] == missed)
            }
        }
    }

    @Test(.promise("N.33")) func whatFoundNoRoomIsCountedOnce() throws {
        try observed(.twoNodes { $0.limits.queue = 256 << 10 }) { nodes, store, index in
            nodes.holdBerlin()
            nodes.lines[0].isPaused = true
            var (count, refused) = (0 as Int64, 0)
            while refused < 3 {
                let id = try store.broadcast("saved", .filler(16_000))
                if try store.expectReply(to: id).json["nodes"] == 0 { refused += 1 }
                count += 1
            }
            try lose(nodes)
            try nodes.join()
            try broadcast(["n": 1], by: store, reaches: 1)
            #expect(try index.expectNotice("saved", ["n": 1])["missed"] == .integer(count))
        }
    }

    @Test(.promise("N.33")) func aNameIsCountedOnlyWhileItIsObserved() throws {
        try observed { nodes, store, index in
            let subscription = try #require(index.welcome["subscriptions"]?.array?.first)
            try index.asked("bus/unobserve", ["subscription": subscription])
            while try store.expectReply(to: try store.broadcast("saved")).json["nodes"] == 1 {}
            try index.asked("bus/observe", ["name": "saved"])
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            #expect(try index.find(["kind": "notice"], body: ["warm": true])["missed"] == nil)
            try lose(nodes)
            try nodes.join()
            try broadcast(["n": 1], by: store, reaches: 1)
            #expect(try index.find(["kind": "notice"], body: ["n": 1])["missed"] == nil)
        }
    }

    /// Berlin has told its counts, and doesn't send anything before tokyo's table has come.
    @Test(.promise("N.33"), arguments: ["saved", "*"]) func whatIsBroadcastWhileANodeJoinsIsCounted(_ name: String)
        throws
    {
        try TestBus.run(.twoNodes { $0.node = "berlin" }) { bus in
            let member = name == "*" ? "observesPatterns" : "observes"
            let observes: JSON = .object([.init(member, .object([.init(name, 1)]))])
            let first = try NodeHostilityTests.tokyo(of: bus)
            try first.send(["kind": "node"], body: observes)
            let store = try bus.provider("Storage", "Storage")
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            first.close()
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
            let line = try TestNodes.line(to: "tokyo", of: bus)
            let facts = try line.expect(["kind": "node"]).json
            try broadcast(["n": 2], by: store, reaches: 0)
            let members = facts.object?.map { $0.name == "node" ? .init("node", "tokyo") : $0 } ?? []
            try line.send(["kind": "node"], body: .object(members + (observes.object ?? [])))
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            let told = try line.find(["kind": name == "*" ? "node" : "notice"])
            #expect((name == "*" ? told.json["missed"]?["*"] : told["missed"]) == 1)
        }
    }

    // MARK: Observers that come and go

    /// A notice that tokyo sends after it has read berlin's number.
    private func found(_ body: JSON, _ subscription: JSON? = nil, by line: RawPeer) throws {
        var header: [JSON.Member] = [
            .init("kind", "notice"), .init("name", "found"), .init("from", "Index"), .init("via", "broadcast"),
        ]
        if let subscription { header.append(.init("subscription", subscription)) }
        try line.send(.object(header), body: body)
    }

    /// Returns what berlin tells next under a member.
    private func told(_ member: String, to line: RawPeer) throws -> JSON {
        while true {
            if let value = try line.expect(["kind": "node"]).json[member] { return value }
        }
    }

    @Test(.promise("N.39")) func aNewObserverGetsNothingThatWasSentToAnEarlierOne() throws {
        try asTokyo(numbers: true) { bus, line in
            let first = try bus.module("Notes", ["observes": ["found"]])
            let one = try told("subscription", to: line)
            try found(["n": 1], one, by: line)
            try first.expectNotice("found", ["n": 1])
            first.close()
            #expect(try told("unobserves", to: line) == ["found"])
            let second = try bus.module("Notes", ["observes": ["found"]])
            let two = try told("subscription", to: line)
            #expect((one.integer ?? 0) < (two.integer ?? 0))
            // It was sent before tokyo read that nobody observes the name.
            try found(["n": 2], by: line)
            // Number 3 was not sent at all.
            try found(["n": 4], two, by: line)
            #expect(try second.expectNotice("found", ["n": 4])["missed"] == nil)
            try found(["n": 5], by: line)
            try second.expectNotice("found", ["n": 5])
        }
    }

    @Test(.promise("N.39")) func anObserverBesideOthersGetsAllAtOnce() throws {
        try asTokyo(numbers: true) { bus, line in
            let notes = try bus.module("Notes", ["observes": ["found"]])
            let number = try told("subscription", to: line)
            try found(["n": 1], number, by: line)
            try notes.expectNotice("found", ["n": 1])
            try notes.asked("bus/observe", ["name": "found", "object": "a"])
            try line.send(
                ["kind": "notice", "name": "found", "from": "Index", "via": "broadcast", "object": "a"], body: ["n": 2])
            for _ in 1...2 { try notes.expectNotice("found", ["n": 2]) }
        }
    }

    @Test(.promise("N.39")) func aNodeWithoutNumbersKnowsAllObservers() throws {
        try asTokyo { bus, line in
            let notes = try bus.module("Notes", ["observes": ["found"]])
            try found(["n": 1], by: line)
            try notes.expectNotice("found", ["n": 1])
        }
    }

    @Test(.promise("N.39")) func theFirstNoticeAfterTheNumberSaysIt() throws {
        try asTokyo { bus, line in
            let store = try bus.provider("Storage", "Storage")
            try line.send(["kind": "node"], body: ["observes": ["saved": 1]])
            try line.send(["kind": "node"], body: ["subscription": 7])
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            #expect(try line.find(["kind": "notice"])["subscription"] == 7)
            try broadcast(["n": 1], by: store, reaches: 1)
            #expect(try line.find(["kind": "notice"], body: ["n": 1])["subscription"] == nil)
        }
    }

    /// The notice that waits for an observer with `keep: latest` was replaced by one that told of a gap.
    @Test(.promise("N.8")) func aGapIsToldWithTheNoticeBehindItAlsoIfThatReplacesOne() throws {
        try asTokyo(.twoNodes { $0.limits.queue = 200_000 }) { bus, line in
            let observer = try bus.module("Notes", ["observes": [["name": "found", "keep": "latest"]]])
            observer.isPaused = true
            // So much that the next notices wait.
            func found(_ number: Int64, missed: Int64 = 0, _ text: JSON = "") throws {
                try line.send(
                    [
                        "kind": "notice", "name": "found", "from": "Index", "via": "broadcast",
                        "missed": .integer(missed),
                    ], body: ["n": .integer(number), "text": text])
            }
            for number in 1...20 as ClosedRange<Int64> { try found(number, .filler(60_000)) }
            try found(21, missed: 7, .filler(60_000))
            try line.settleNode()
            observer.isPaused = false
            var (numbers, missed): ([Int64], Int64) = ([], 0)
            while numbers.last != 21 {
                let notice = try observer.expectNotice("found")
                numbers.append(notice.json["n"]?.integer ?? 0)
                missed += notice["missed"]?.integer ?? 0
            }
            try #require(numbers.count < 21, "no notice was replaced")
            #expect(missed == Int64(21 - numbers.count) + 7)
        }
    }

    // MARK: Replaced brokers

    /// Runs a test on berlin's broker as a program, which may be replaced. The test speaks as tokyo's.
    private func inBerlin(_ test: (TestBus) throws -> Void) throws {
        try TestBus.run(.twoNodes { $0.node = "berlin" }, executable: try BuiltExecutable.path("strata-broker"), test)
    }

    @Test(.promise("N.34")) func theSendersCountsSurviveItsReplacement() throws {
        try inBerlin { bus in
            var first: [JSON.Member] = []
            let line = try NodeHostilityTests.tokyo(of: bus) { first = $0 }
            try line.send(["kind": "node"], body: ["observes": ["saved": 1]])
            let store = try bus.provider("Storage", "Storage")
            try NodeNoticeTests.waitUntilObserved("saved", by: store)
            try bus.operator().asked("bus/handOver")
            try broadcast(["n": 2], by: store, reaches: 0)
            var second: [JSON.Member] = []
            _ = try NodeHostilityTests.tokyo(of: bus) { second = $0 }
            #expect(JSON.object(second)["series"] == JSON.object(first)["series"])
            #expect(JSON.object(second)["counts"] == ["saved": 2])
        }
    }

    @Test(.promise("N.34")) func theReceiversCountsSurviveItsReplacement() throws {
        try inBerlin { bus in
            func tokyo(_ series: Int64, _ counts: JSON, hasLink: Bool = false) throws -> RawPeer {
                try NodeHostilityTests.tokyo(of: bus, hasLink: hasLink) { members in
                    members.removeAll { $0.name == "series" || $0.name == "counts" }
                    members += [.init("series", .integer(series)), .init("counts", counts)]
                }
            }
            let notes = try bus.module("Notes", ["observes": ["found"]])
            func sends(_ line: RawPeer, missed: JSON?) throws {
                try line.send(["kind": "notice", "name": "found", "from": "Index", "via": "broadcast"])
                #expect(try notes.expectNotice("found")["missed"] == missed)
            }
            // Nothing is known of a node's time before the first connection.
            let first = try tokyo(7, ["found": 10])
            try sends(first, missed: nil)
            try sends(first, missed: nil)
            try bus.operator().asked("bus/handOver")
            let second = try tokyo(7, ["found": 15])
            try sends(second, missed: 3)
            try sends(second, missed: nil)
            second.close()
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
            // Another broker of tokyo, which doesn't know how many there were.
            try sends(try tokyo(8, [:], hasLink: true), missed: 1)
        }
    }
}
