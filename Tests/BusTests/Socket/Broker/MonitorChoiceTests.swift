import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// `bus/monitor`'s choice of frames: `kinds`, `errors` and `most`, and a call's `parent`.
@Suite(.timeLimit(.hang))
struct MonitorChoiceTests {
    private func shown(_ frames: [JSON]) -> [String] {
        frames.map { "\($0["kind"]?.string ?? "-") \($0["code"]?.string ?? "")" }
    }

    /// Has one request of each kind made: a call that is answered, one that fails, a refused one, a
    /// broadcast and a report.
    private func makeTraffic(_ ant: RawPeer, _ cat: RawPeer) throws {
        let call = try cat.call("Test/act")
        try ant.reply(to: try ant.expectCall("Test/act"))
        try cat.expectReply(to: call)
        let other = try cat.call("Test/act")
        try ant.fail(try ant.expectCall("Test/act"), "Ant.tired")
        try cat.expectError(to: other, "Ant.tired")
        try cat.refused("Nope/act", with: "unknown-interface")
        try ant.broadcast("down")
        try cat.expectNotice("down")
        let report = try cat.report("up", to: "Ant")
        try ant.reply(to: try ant.find(["kind": "notice", "name": "up"]))
        try cat.expectReply(to: report)
    }

    @Test(.promise("N.48")) func kindsAndErrorsChooseFrames() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.provider("Ant", "Test", ["observes": ["up"]])
            let cat = try bus.module("Cat", ["observes": ["down"]])
            for peer in [ant, cat] { try peer.settle() }
            let tool = try bus.operator()
            let ids = try [
                tool.monitor(["kinds": ["error", "notice"]]), tool.monitor(["errors": true]),
                tool.monitor(["errors": true, "kinds": ["call"]]), tool.monitor(["kinds": []]),
            ]
            try tool.settle()
            try makeTraffic(ant, cat)
            memory.pass(milliseconds: 100)
            let frames = try tool.drain().filter(\.isPartial)
            func lines(_ id: UInt64) -> [String] {
                shown(frames.filter { $0.id == id }.map(\.json).filter { $0["from"]?.string != "operator" })
            }
            #expect(lines(ids[0]) == ["error Ant.tired", "notice ", "notice "])
            #expect(lines(ids[1]) == ["error Ant.tired", "call unknown-interface"])
            #expect(lines(ids[2]) == ["call unknown-interface"])
            #expect(lines(ids[3]).count > 9)
        }
    }

    @Test(.promise("N.48")) func choicesAreJudged() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            for params: JSON in [
                ["kinds": "call"], ["kinds": ["calls"]], ["kinds": [7]], ["kinds": ["cancel"]], ["errors": 1],
                ["most": 0], ["most": 100_001], ["most": -1], ["most": 1.5], ["most": "9"],
            ] {
                try tool.refused("bus/monitor", params, with: "bad-params")
            }
            _ = try tool.monitor(["most": 100_000, "kinds": ["call", "open", "reply", "report"]])
        }
    }

    @Test(.promise("N.49")) func aCallHasTheRequestThatItWasMadeFor() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.provider("Bee", "Mid")
            let cat = try bus.module("Cat")
            for peer in [ant, bee, cat] { try peer.settle() }
            let tool = try bus.operator()
            let id = try tool.monitor(["kinds": ["call"]])
            try tool.settle()
            try cat.call("Mid/act")
            let mid = try bee.expectCall("Mid/act")
            try bee.call("Test/act", nil, ["parent": mid.number])
            try ant.expectCall("Test/act")
            try bee.refused("Nope/act", nil, ["parent": mid.number], with: "unknown-interface")
            _ = try bee.call("bus/levels", nil, ["parent": mid.number])
            try bee.call("Test/act")
            try ant.expectCall("Test/act")
            memory.pass(milliseconds: 100)
            let frames = try tool.drain().filter { $0.isPartial && $0.id == id }.map(\.json)
            let calls = frames.filter { $0["from"] != "operator" }
            #expect(calls.map { $0["to"] } == ["Mid/act", "Test/act", "Nope/act", "bus/levels", "Test/act"])
            let first = try #require(calls.first?["id"])
            #expect(calls.map { $0["parent"] } == [nil, first, first, first, nil])
        }
    }

    @Test(.promise("N.50", "N.51")) func aBusyEdgeDoesNotHideARareOneAndAllThatIsLeftOutIsCounted() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["module": "Ant", "kinds": ["broadcast"], "most": 16], credit: 100_000)
            try ant.settle()
            try tool.settle()
            var frames: [JSON] = []
            for _ in 0..<5 {
                for number in 0..<200 {
                    try ant.broadcast("busy")
                    if number == 150 { try ant.broadcast("rare") }
                }
                memory.pass(milliseconds: 250)
                frames += try tool.drain().filter { $0.id == id }.map(\.json)
                memory.pass(milliseconds: 1_000)
                frames += try tool.drain().filter { $0.id == id }.map(\.json)
            }
            memory.pass(milliseconds: 2_000)
            frames += try tool.drain().filter { $0.id == id }.map(\.json)
            let busy = frames.filter { $0["name"] == "busy" }
            let rare = frames.filter { $0["name"] == "rare" }
            #expect(rare.count == 5 && busy.count == 10)
            let missed = frames.reduce(0) { $0 + ($1["missed"]?.integer ?? 0) }
            #expect(missed == 0)
            var left = busy.reduce(0) { $0 + ($1["left"]?.integer ?? 0) }
            let reports = frames.compactMap { $0["left"]?.array }
            for edges in reports {
                #expect(edges.count == 1)
                let edge = try #require(edges.first)
                #expect(edge.matches(["from": "Ant", "to": "", "kind": "broadcast", "name": "busy"]))
                left += edge["count"]?.integer ?? 0
            }
            #expect(left + Int64(busy.count) == 1_000)
            // At most one in a second.
            #expect((1...8).contains(reports.count))
        }
    }

    @Test(.promise("N.51")) func theNextShownFrameOfAnEdgeSaysWhatWasLeftOut() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["module": "Ant", "kinds": ["broadcast"], "most": 1], credit: 100_000)
            memory.pass(milliseconds: 2_000)
            _ = try tool.drain()
            try ant.broadcast("first")
            memory.pass(milliseconds: 900)
            for _ in 0..<4 { try ant.broadcast("second") }
            memory.pass(milliseconds: 200)
            try ant.broadcast("second")
            memory.pass(milliseconds: 200)
            let frames = try tool.drain().filter { $0.id == id }.map(\.json)
            #expect(frames.map { $0["name"] } == ["first", "second"])
            #expect(frames.map { $0["left"] } == [nil, 4])
        }
    }

    @Test(.promise("N.51")) func withoutCreditCountsWait() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["module": "Ant", "kinds": ["broadcast"], "most": 1], credit: 2)
            memory.pass(milliseconds: 100)
            for _ in 0..<3 { try ant.broadcast("n") }
            memory.pass(milliseconds: 500)
            try ant.broadcast("n")
            memory.pass(milliseconds: 2_000)
            for _ in 0..<3 { try ant.broadcast("n") }
            memory.pass(milliseconds: 3_000)
            // The second credit was for the counts of the first second.
            var frames = try tool.drain().filter { $0.id == id }.map(\.json)
            #expect(frames.count == 2 && frames.last?["left"]?.array?.first?["count"] == 3)
            try tool.credit(id, 5)
            memory.pass(milliseconds: 1_500)
            try ant.broadcast("n")
            memory.pass(milliseconds: 100)
            frames = try tool.drain().filter { $0.id == id }.map(\.json)
            #expect(frames.map { $0["missed"] } == [3] && frames.map { $0["left"] } == [nil])
        }
    }

    @Test(.promise("N.52")) func theChoicesContinueWithTheNextBroker() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let params: JSON = ["module": "Ant", "kinds": ["broadcast", "call"], "most": 1]
            let id = try tool.monitor(params, credit: 100_000)
            let errors = try tool.monitor(["module": "Ant", "errors": true], credit: 100_000)
            memory.pass(milliseconds: 100)
            for _ in 0..<5 { try ant.broadcast("n") }
            memory.pass(milliseconds: 100)
            var frames = try tool.drain().filter { $0.id == id }.map(\.json)
            #expect(frames.count == 1)
            try memory.resume(try memory.writtenDown())
            for _ in 0..<3 { try ant.broadcast("n") }
            _ = try ant.report("n", to: "Ant")
            memory.pass(milliseconds: 100)
            let all = try tool.drain()
            frames = all.filter { $0.id == id }.map(\.json)
            // What nobody had been told of counts as missed.
            #expect(frames.map { $0["missed"] } == [4] && frames.map { $0["kind"] } == ["broadcast"])
            try ant.refused("Nope/act", with: "unknown-interface")
            memory.pass(milliseconds: 100)
            #expect(shown(try tool.drain().filter { $0.id == errors }.map(\.json)) == ["call unknown-interface"])
        }
    }
}
