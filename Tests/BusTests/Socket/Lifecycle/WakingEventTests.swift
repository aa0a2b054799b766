import StrataCore
import Testing

@testable import StrataTesting

/// The manifest's `wakes`: events that start a module on demand, and what waits for a module when
/// the broker is replaced.
@Suite(.timeLimit(.hang))
struct WakingEventTests {
    private static let table = AppTable.testing(
        .manual("Export", rank: 2) { row in
            row.start = .onDemand
            row.stop = 600_000
            row.observes = [.init(name: "changed")]
            row.wakes = ["app.suspend", "changed", "day.ended"]
        }, .manual("Ant"), .manual("Clock", provides: ["Clock"])
    ) { $0.limits.waiting = 2 }

    private func run(_ test: (TestBus, RawPeer, RawPeer) throws -> Void) throws {
        try MemoryBus.run(Self.table) { bus in try test(bus, try bus.launcher(), try bus.operator()) }
    }

    private func arrive(_ bus: TestBus, events: JSON = ["app.suspend", "day.ended"]) throws -> RawPeer {
        let token = try bus.vouch(for: "Export")
        let peer = try bus.connect("Export")
        try peer.hello("Export", ["token": .string(token), "events": events])
        for step in ["setUp", "initialize"] { try peer.reply(to: try peer.expectCall("module/\(step)")) }
        return peer
    }

    @Test(.promise("11.22"), arguments: ["notify", "all", "any"]) func eventStartsItAndItsAnswerCounts(policy: String)
        throws
    {
        try run { bus, launcher, tool in
            let other = try bus.module("Ant", ["events": ["day.ended"]])
            let id = try tool.call(
                "bus/emit", ["a": 1], ["name": "day.ended", "meta": ["policy": .string(policy)], "deadline": 9_000])
            try other.reply(to: try other.expectCall("module/event"), .bool(policy == "all"))
            try launcher.expectCall(
                "launcher/start", ["module": "Export", "reason": "a notification or an event in its wakes has come"])
            let export = try arrive(bus)
            let event = try export.expectCall(
                "module/event", ["a": 1], ["from": "bus", "name": "day.ended", "meta": ["policy": .string(policy)]])
            let deadline = event["deadline"]?.integer ?? -1
            #expect(deadline > 0 && deadline <= 9_000)
            try export.reply(to: event, true)
            let answer = try tool.expectReply(to: id).json
            #expect(answer["answer"] == true)
            #expect(answer["answers"]?.array?.last == ["module": "Export", "answer": true])
            // Now it is there.
            try export.expectCall("module/didStart")
            let again = try tool.call("bus/emit", nil, ["name": "app.suspend"])
            try export.reply(to: try export.expectCall("module/event"), nil)
            try tool.expectReply(to: again)
            try launcher.expectNothing()
        }
    }

    /// What its row observes is a notification, and another event is nothing to it.
    @Test(.promise("11.22")) func otherEventsDoNotStartIt() throws {
        try run { bus, launcher, tool in
            for name in ["changed", "app.resume", "app.suspend "] {
                #expect(
                    try tool.asked("bus/emit", nil, ["name": .string(name), "meta": ["policy": "all"]])
                        == ["answer": true, "answers": []])
            }
            try launcher.expectNothing()
            launcher.close()
            #expect(try tool.asked("bus/emit", nil, ["name": "day.ended"])["answers"] == [])
        }
    }

    @Test(.promise("11.22")) func startThatFailsIsItsAnswer() throws {
        try run { bus, launcher, tool in
            let id = try tool.call("bus/emit", nil, ["name": "day.ended", "meta": ["policy": "all"]])
            try launcher.fail(try launcher.expectCall("launcher/start"), "failed", "no such file")
            try tool.expectReply(
                to: id, body: ["answer": false, "answers": [["module": "Export", "code": "unavailable"]]])
        }
    }

    @Test(.promise("11.22")) func eventWaitsWithinItsDeadlineAndThenNoLonger() throws {
        try run { bus, launcher, tool in
            let clock = try bus.provider("Clock", "Clock")
            let id = try tool.call("bus/emit", nil, ["name": "day.ended", "meta": ["policy": "all"], "deadline": 50])
            try tool.expectReply(
                to: id, body: ["answer": false, "answers": [["module": "Export", "code": "deadline-exceeded"]]])
            let cancelled = try tool.call("bus/emit", nil, ["name": "day.ended"])
            try tool.cancel(cancelled)
            try tool.expectError(to: cancelled, "cancelled")
            let export = try arrive(bus)
            try export.expectCall("module/didStart")
            try export.expectNothing()
            try clock.settle()
        }
    }

    @Test(.promise("11.22")) func moduleThatDoesNotDeclareItIsNotCalled() throws {
        try run { bus, launcher, tool in
            let id = try tool.call("bus/emit", nil, ["name": "day.ended"])
            let export = try arrive(bus, events: ["app.suspend"])
            try tool.expectReply(to: id, body: ["answers": [["module": "Export", "code": "unknown-action"]]])
            try export.expectCall("module/didStart")
            try export.expectNothing()
        }
    }

    @Test(.promise("11.22")) func atMostSoManyEventsWait() throws {
        try run { bus, launcher, tool in
            let waiting = try (0..<2).map { _ in try tool.call("bus/emit", nil, ["name": "day.ended"]) }
            #expect(
                try tool.asked("bus/emit", nil, ["name": "day.ended"])["answers"]
                    == [["module": "Export", "code": "overloaded"]])
            let export = try arrive(bus)
            for _ in waiting { try export.reply(to: try export.expectCall("module/event")) }
            for id in waiting { try tool.expectReply(to: id) }
        }
    }

    /// What is held and what waits continues in the next program.
    @Test(.promise("7.19", "10.32")) func heldNoticesAndEventsAreHandedOver() throws {
        let memory = MemoryBus(Self.table, isLaunched: false)
        try TestBus(Self.table, memory).run { bus in
            let (launcher, tool, ant) = (try bus.launcher(), try bus.operator(), try bus.module("Ant"))
            for number in 1...66 as ClosedRange<Int64> { try ant.broadcast("changed", .integer(number)) }
            try ant.broadcast("changed", .string(String(repeating: "x", count: 20)), ["object": "o", "trace": "t"])
            let emit = try tool.call("bus/emit", 5, ["name": "day.ended"])
            try launcher.expectCall("launcher/start")
            try tool.settle()

            try memory.resume(try memory.writtenDown())

            let token = try bus.vouch(for: "Export")
            let export = try bus.connect("Export")
            try export.hello("Export", ["token": .string(token), "events": ["day.ended"]])
            try memory.resume(try memory.writtenDown())
            try ant.broadcast("changed", "newest")
            for step in ["setUp", "initialize"] { try export.reply(to: try export.expectCall("module/\(step)")) }
            for number in 5...66 as ClosedRange<Int64> {
                let notice = try export.expectNotice("changed", .integer(number), ["from": "Ant", "level": "basic"])
                #expect(notice["missed"]?.integer == (number == 5 ? 4 : nil))
            }
            try export.expectNotice(
                "changed", .string(String(repeating: "x", count: 20)), ["object": "o", "trace": "t"])
            try export.expectNotice("changed", "newest")
            try export.reply(to: try export.expectCall("module/event", 5), true)
            try tool.expectReply(to: emit)
            let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
            #expect(rows.last { $0["name"] == "Export" }?["missed"] == 4)
        }
    }

    /// A gap that was not told yet is told by the next program's next notice.
    @Test(.promise("7.19")) func gapIsHandedOver() throws {
        let memory = MemoryBus(Self.table, isLaunched: false)
        try TestBus(Self.table, memory).run { bus in
            let (launcher, ant) = (try bus.launcher(), try bus.module("Ant"))
            try ant.broadcast("changed", 1)
            try launcher.fail(try launcher.expectCall("launcher/start"), "failed")
            try ant.settle()
            try memory.resume(try memory.writtenDown())
            let export = try arrive(bus)
            try export.expectCall("module/didStart")
            try memory.resume(try memory.writtenDown())
            try ant.broadcast("changed", 2)
            #expect(try export.expectNotice("changed", 2)["missed"] == 1)
        }
    }
}
