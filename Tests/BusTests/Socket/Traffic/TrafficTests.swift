import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// `bus/traffic`: what is counted for each edge.
@Suite(.timeLimit(.hang))
struct TrafficTests {
    @Test(.promise("N.44")) func callsAndTheirAnswersAreCounted() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.module("Bee")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            let first = try bee.call("Test/act")
            try ant.reply(to: try ant.expectCall("Test/act"))
            try bee.expectReply(to: first)
            let second = try bee.call("Test/other")
            try ant.fail(try ant.expectCall("Test/other"), "Ant.tired")
            try bee.expectError(to: second, "Ant.tired")
            let third = try bee.call("Test/act", nil, ["credit": 5])
            let open = try ant.expectCall("Test/act")
            try ant.partialReply(to: open)
            let seen = try tool.edges(stream)
            #expect(seen["call Bee → Ant Test"] == "3 1 1")
            try bee.cancel(third)
            try bee.expectError(to: third, "cancelled")
            _ = try bee.asked("bus/levels")
            try tool.take(stream, seen)
            #expect(seen["call Bee → Ant Test"] == "3 2 0")
            #expect(seen["call Bee → bus bus"] == "1 0 0")
            #expect(seen.names.filter { !$0.contains("operator") } == ["call Bee → Ant Test", "call Bee → bus bus"])
        }
    }

    @Test(.promise("N.44")) func anInstanceIsItsInterfaceAndADeadCalleeAnError() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let owner = try bus.module("Ant", ["interfaces": ["Cart": ["instances": "multiple"]]])
            let bee = try bus.module("Bee")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            let instance = try bee.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""
            let call = try bee.call("\(instance)/add")
            try owner.find(["kind": "call", "to": .string("\(instance)/add")])
            owner.close()
            try bee.expectError(to: call, "died")
            let seen = try tool.edges(stream)
            #expect(seen["call Bee → Ant Cart"] == "1 1 0")
            #expect(seen["call Bee → bus bus"] == "1 0 0")
            #expect(seen["call bus → Ant module"] == "1 0 0")
        }
    }

    @Test(.promise("N.44")) func opensAreCountedByHostAndPattern() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let url: JSON = ["host": "shop", "path": "/item/:id", "to": "Shop/item"]
            let cat = try bus.provider("Cat", "Shop", ["urls": [url]])
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            for id in 1...3 {
                let open = try ant.open("test://shop/item/\(id)")
                try cat.reply(to: try cat.expectCall("Shop/item"))
                try ant.expectReply(to: open)
            }
            try ant.expectError(to: try ant.open("test://shop/nowhere"), "unknown-path")
            try ant.expectError(to: try ant.open("test://shop/item/1", ["parent": 77]), "cancelled")
            let seen = try tool.edges(stream)
            #expect(seen["open Ant → Cat shop/item/:id"] == "4 1 0")
            #expect(seen["open Ant →  "] == "1 1 0")
        }
    }

    @Test(.promise("N.44")) func aBroadcastIsCountedForEachNoticeAndAReportOnce() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let ant = try bus.module("Ant", ["observes": ["up", "up"]])
            let cat = try bus.module("Cat", ["observes": ["down"]])
            let many = try bus.module("Cat2", ["observes": .array(Array(repeating: "down", count: 140))])
            for peer in [ant, cat, many] { try peer.settle() }
            let tool = try bus.operator()
            let stream = try tool.traffic()
            for _ in 0..<2 { #expect(try ant.recipients(ofBroadcast: "down") == 141) }
            #expect(try ant.recipients(ofBroadcast: "nobody") == 0)
            let report = try cat.report("up", to: "Ant")
            for _ in 0..<2 { try ant.reply(to: try ant.find(["kind": "notice", "name": "up"])) }
            try cat.expectReply(to: report)
            let other = try cat.report("up", to: "Ant")
            try ant.fail(try ant.find(["kind": "notice", "name": "up"]), "Ant.tired")
            try cat.expectError(to: other, "Ant.tired")
            try cat.report("unseen", to: "Ant")
            let seen = try tool.edges(stream)
            #expect(seen["broadcast Ant → Cat down"] == "2 0 0")
            #expect(seen["broadcast Ant → Cat2 down"] == "280 0 0")
            #expect(seen["report Cat → Ant up"] == "2 1 0")
            #expect(seen["report Cat → Ant unseen"] == "1 0 0")
            #expect(!seen.names.contains { $0.contains("nobody") || $0.contains("notice") })
        }
    }

    @Test(.promise("N.44")) func refusedRequestsAreErrors() throws {
        try MemoryBus.runSeen(.sixModules { $0.limits.calls = 1 }) { bus, _ in
            _ = try bus.provider("Bee", "Test")
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            try ant.refused("Nope/act", with: "unknown-interface")
            try ant.refused("bus/nope", with: "unknown-action")
            try ant.expectError(to: try ant.report("late", to: "Cat"), "level-violation")
            try ant.expectError(to: try ant.report("late", to: "Nobody"), "unknown-module")
            try ant.call("Test/act")
            try ant.refused("Test/act", with: "overloaded")
            let seen = try tool.edges(stream)
            #expect(seen["call Ant →  Nope"] == "1 1 0")
            #expect(seen["call Ant → bus bus"] == "1 1 0")
            #expect(seen["report Ant → Cat late"] == "1 1 0")
            #expect(seen["report Ant →  late"] == "1 1 0")
            #expect(seen["call Ant → Bee Test"] == "2 1 1")
        }
    }

    @Test(.promise("N.44")) func requestsThatWaitForAModuleAreOpen() throws {
        try MemoryBus.runSeen(.testing(.eager("Late", provides: ["Test"]), .manual("Ant"))) { bus, _ in
            let launcher = try bus.launcher()
            let ant = try bus.module("Ant", waits: false)
            let tool = try bus.operator()
            let stream = try tool.traffic()
            try ant.call("Test/first")
            try ant.report("news", to: "Late")
            let seen = try tool.edges(stream)
            #expect(seen["call Ant → Late Test"] == "1 0 1" && seen["report Ant → Late news"] == "1 0 1")
            let hurried = try ant.call("Test/second", nil, ["deadline": 20])
            try ant.expectError(to: hurried, "deadline-exceeded")
            let late = try bus.connect("Late", answersLifecycle: true)
            try late.hello("Late", ["token": .string(try bus.vouch(for: "Late")), "interfaces": ["Test": [:]]])
            let call = try late.expectCall("Test/first")
            try tool.take(stream, seen)
            #expect(seen["call Ant → Late Test"] == "2 1 1" && seen["report Ant → Late news"] == "1 0 0")
            try late.reply(to: call)
            try late.settle()
            try tool.take(stream, seen)
            #expect(seen["call Ant → Late Test"] == "2 1 0")
            launcher.close()
        }
    }

    @Test(.promise("N.44")) func onlyWhatBeginsAfterTheFirstStreamIsCounted() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.module("Bee")
            let before = try bee.call("Test/act")
            let asked = try ant.expectCall("Test/act")
            let tool = try bus.operator()
            let first = try tool.traffic()
            #expect(memory.broker.bus.monitors.isOn)
            try ant.reply(to: asked)
            try bee.expectReply(to: before)
            _ = try bee.call("Test/act")
            let again = try ant.expectCall("Test/act")
            #expect(try tool.edges(first)["call Bee → Ant Test"] == "1 0 1")
            try tool.cancel(first)
            try tool.find(["kind": "error", "id": .integer(Int64(first)), "code": "cancelled"])
            // Nothing is left of it, and no frame is looked at.
            let core: BusCore = memory.broker.bus
            #expect(core.traffic.edges == nil && !core.monitors.isOn && !core.isAlarmSet(.traffic))
            let second = try tool.traffic()
            try ant.reply(to: again)
            try ant.settle()
            #expect(try tool.edges(second)["call Bee → Ant Test"] == nil)
        }
    }

    @Test(.promise("N.45")) func eachOfTwoStreamsIsToldEverything() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.module("Bee")
            let tool = try bus.operator()
            let other = try bus.connect("another tool")
            try other.hello(role: "operator")
            let first = try tool.traffic()
            _ = try bee.call("Test/act")
            try ant.expectCall("Test/act")
            let early = try tool.edges(first)
            let second = try other.traffic()
            let late = try other.edges(second)
            #expect(early["call Bee → Ant Test"] == "1 0 1" && late["call Bee → Ant Test"] == "1 0 1")
            #expect(early.since == late.since && early.since > 0)
            _ = try bee.call("Test/act")
            try ant.expectCall("Test/act")
            try tool.take(first, early)
            try other.take(second, late)
            #expect(early["call Bee → Ant Test"] == "2 0 2" && late["call Bee → Ant Test"] == "2 0 2")
        }
    }

    @Test(.promise("N.45")) func changesAreToldTenTimesASecond() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            _ = try bus.module("Cat", ["observes": ["news"]])
            let tool = try bus.operator()
            let stream = try tool.traffic()
            let seen = try tool.edges(stream)
            memory.pass(milliseconds: 500)
            _ = try tool.drain()
            let before = seen.replies
            for _ in 0..<1_000 {
                try ant.broadcast("news")
                memory.pass(milliseconds: 2)
            }
            for frame in try tool.drain() where frame.id == stream { seen.take(frame.json) }
            #expect((15...21).contains(seen.replies - before), "\(seen.replies - before)")
            try tool.take(stream, seen)
            #expect(seen["broadcast Ant → Cat news"] == "1000 0 0")
        }
    }

    @Test(.promise("N.45")) func aReplyTakesCreditAndTellsTheSum() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.module("Ant")
            _ = try bus.module("Cat", ["observes": ["news"]])
            let tool = try bus.operator()
            let stream = try tool.traffic(credit: 1)
            memory.pass(milliseconds: 300)
            _ = try tool.drain()
            for _ in 0..<5 {
                try ant.broadcast("news")
                memory.pass(milliseconds: 300)
            }
            #expect(try tool.drain().filter { $0.id == stream }.isEmpty)
            try tool.credit(stream, 1)
            memory.pass(milliseconds: 300)
            let frames = try tool.drain().filter { $0.id == stream }
            #expect(frames.count == 1)
            let seen = SeenEdges()
            for frame in frames { seen.take(frame.json) }
            #expect(seen["broadcast Ant → Cat news"] == "5 0 0")
        }
    }

    @Test(.promise("N.46")) func aStreamThatIsNotReadCostsBoundedMemory() throws {
        try MemoryBus.runSeen(.sixModules { $0.limits.queue = 100_000 }) { bus, memory in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let stream = try tool.traffic(credit: 1_000_000)
            tool.isPaused = true
            for round in 0..<200 {
                for number in 0..<40 {
                    let id = Int64(round * 40 + number + 1_000)
                    try ant.send(["kind": "call", "id": .integer(id), "to": .string("No\(number)/a")])
                }
                memory.pass(milliseconds: 100)
                _ = try ant.drain()
            }
            let peer = try #require(memory.broker.bus.traffic.streams.first).peer.takeUnretainedValue()
            #expect(peer.outbox.pending <= 100_000 + TrafficTurn.mostBytes)
            tool.isPaused = false
            let seen = SeenEdges()
            try tool.take(stream, seen)
            #expect(seen["call Ant →  No7"] == "200 200 0")
        }
    }

    @Test(.promise("N.46")) func whatIsBeyondTheMostEdgesIsCountedForEachSender() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.module("Bee")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            var flood: [UInt8] = []
            for number in 1...4_200 as ClosedRange<Int64> {
                flood += FrameBytes.frame([
                    "kind": "call", "id": .integer(number + 1_000), "to": .string("N\(number)/a"),
                ])
            }
            try bee.send(bytes: flood)
            try bee.settle()
            let call = try bee.call("Test/act")
            try ant.reply(to: try ant.expectCall("Test/act"))
            try bee.expectReply(to: call)
            let seen = SeenEdges()
            while seen["others Bee →  "] == nil {
                let frame = try tool.next()
                if frame.id == stream { seen.take(frame.json) }
            }
            #expect(seen["call Bee →  N1"] == "1 1 0")
            let counted = seen.names.count { $0.hasPrefix("call Bee →  N") }
            #expect(counted <= EdgeTable.most && counted >= EdgeTable.most - 4)
            // The last two calls were counted there too, and their ends.
            #expect(seen["others Bee →  "] == "\(4_202 - counted) \(4_200 - counted) 0")
        }
    }

    @Test(.promise("N.46")) func fourStreamsMayBeOpen() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, _ in
            let tool = try bus.operator()
            let first = try tool.traffic()
            for _ in 1..<4 { _ = try tool.traffic() }
            try tool.refused("bus/traffic", with: "overloaded")
            try tool.cancel(first)
            try tool.expectError(to: first, "cancelled")
            _ = try tool.traffic()
            try tool.refused("bus/traffic", with: "overloaded")
            try bus.module("Ant").refused("bus/traffic", with: "forbidden")
        }
    }

    @Test(.promise("N.47")) func aStreamContinuesWithTheNextBrokerAndCountsAnew() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let ant = try bus.provider("Ant", "Test")
            let bee = try bus.module("Bee")
            let tool = try bus.operator()
            let stream = try tool.traffic()
            let call = try bee.call("Test/act")
            let asked = try ant.expectCall("Test/act")
            let before = try tool.edges(stream)
            #expect(before["call Bee → Ant Test"] == "1 0 1")
            try memory.resume(try memory.writtenDown())
            try ant.reply(to: asked)
            try bee.expectReply(to: call)
            _ = try bee.call("Test/act")
            try ant.expectCall("Test/act")
            let after = SeenEdges()
            while after["call Bee → Ant Test"] == nil || after.since == before.since {
                let frame = try tool.next()
                if frame.id == stream { after.take(frame.json) }
            }
            #expect(after.since > before.since && after["call Bee → Ant Test"] == "1 0 1")
        }
    }

    @Test(.promise("N.47")) func aStreamIsNeitherCountedNorShown() throws {
        try MemoryBus.runSeen(.sixModules()) { bus, memory in
            let tool = try bus.operator()
            let other = try bus.connect("another tool")
            try other.hello(role: "operator")
            let monitor = try tool.monitor(["module": "operator"])
            let stream = try other.traffic()
            let second = try other.traffic()
            let seen = try other.edges(stream)
            try other.cancel(second)
            try other.expectError(to: second, "cancelled")
            memory.pass(milliseconds: 100)
            let frames = try tool.drain().filter { $0.isPartial && $0.id == monitor }.map(\.json)
            #expect(!frames.contains { $0["to"] == "bus/traffic" || $0["code"] == "cancelled" })
            #expect(frames.contains { $0["to"] == "bus/ping" } && seen["call operator → bus bus"] != nil)
        }
    }
}
