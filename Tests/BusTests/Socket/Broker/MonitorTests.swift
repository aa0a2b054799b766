import StrataCore
import StrataLoop
import StrataTesting
import Testing

@testable import StrataBus

/// The protocol's section 10: `monitor`, which shows what passes and what is refused.
@Suite(.timeLimit(.hang))
struct MonitorTests {
    /// Returns the frames in short, like `call Bee → Test/act, overloaded`.
    private func lines(_ tool: RawPeer, _ id: UInt64) throws -> [String] {
        line(try tool.notes(of: id))
    }

    private func line(_ frames: [JSON]) -> [String] {
        frames.map { frame in
            func text(_ member: String, _ before: String) -> String {
                frame[member]?.string.map { before + $0 } ?? ""
            }
            return text("kind", "") + text("from", " ") + text("to", " → ") + text("name", " ") + text("code", ", ")
        }
    }

    private func wallMicroseconds() -> Int64 { Int64(Loop.wallMicroseconds) }

    // MARK: which frames

    @Test(.promise("10.19")) func aCallAndItsAnswersAreShownAsTheyPass() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let tool = try bus.operator()
            try callee.settle()
            let before = wallMicroseconds()
            let id = try tool.monitor()
            try tool.settle()
            let call = try caller.call("Test/act", ["k": 1])
            let asked = try callee.expectCall("Test/act")
            try callee.partialReply(to: asked, 1)
            try callee.fail(asked, "Ant.tired", body: "z")
            try caller.expectError(to: call, "Ant.tired")
            let told = try tool.notes(of: id)
            let expected: [JSON] = [
                ["kind": "call", "from": "Bee", "to": "Test/act", "callee": "Ant", "bytes": 7],
                ["kind": "reply", "from": "Ant", "to": "Bee", "more": true, "bytes": 1],
                ["kind": "error", "from": "Ant", "to": "Bee", "code": "Ant.tired", "bytes": 3],
            ]
            #expect(told.count == expected.count)
            // The answers name their request.
            #expect(Set(told.map { $0["id"]?.integer }) == [Int64(asked.id)])
            for (frame, pattern) in zip(told, expected) {
                #expect(frame.matches(pattern), "\(frame)")
                #expect(frame["body"] == nil && frame["missed"] == nil && frame["name"] == nil)
                #expect((before...wallMicroseconds()).contains(frame["at"]?.integer ?? 0))
            }
        }
    }

    @Test(.promise("10.19")) func aRefusedRequestIsShownOnceWithItsCode() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            try ant.settle()
            let id = try tool.monitor()
            try tool.settle()
            try ant.refused("Nope/act", with: "unknown-interface")
            try ant.refused("bus/nope", with: "unknown-action")
            try ant.expectError(to: try ant.report("late", to: "Cat"), "level-violation")
            try ant.expectError(to: try ant.open("nope://item/x"), "unknown-scheme")
            try ant.send(["kind": "dance", "id": 900])
            try ant.expectError(to: 900, "unknown-kind")
            try ant.send(["kind": "call", "to": "Nope/act"])
            try ant.expectRemark("bad-id")
            try ant.send(["kind": "broadcast"])
            try ant.expectEnd("bad-header")
            #expect(
                try lines(tool, id) == [
                    "call Ant → Nope/act, unknown-interface",
                    "call Ant → bus/nope, unknown-action",
                    "report Ant → Cat late, level-violation",
                    "open Ant → nope://item/x, unknown-scheme",
                    "dance Ant → , unknown-kind",
                    "call Ant → Nope/act, bad-id",
                    "broadcast Ant → , bad-header",
                ])
        }
    }

    @Test(.promise("10.19")) func theCallOfAnOpenHasItsURL() throws {
        try TestBus.run(.sixModules()) { bus in
            let offer: JSON = [
                "interfaces": ["Shop": [:]], "urls": [["host": "shop", "path": "/item/:name", "to": "Shop/item"]],
            ]
            let owner = try bus.module("Cat", offer)
            let caller = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor()
            try tool.settle()
            try caller.open("test://shop/item/1?a=b")
            try owner.reply(to: try owner.expectCall("Shop/item"))
            try caller.call("Shop/item")
            try owner.expectCall("Shop/item")
            let calls = try tool.notes(of: id).filter { $0["kind"] == "call" }
            #expect(calls.map { $0["url"] } == ["test://shop/item/1?a=b", nil])
        }
    }

    @Test(.promise("10.19")) func aWaitingRequestIsShownWhenItIsDeliveredOrFails() throws {
        try TestBus.run(.testing(.eager("Late", provides: ["Test"]), .manual("Ant"))) { bus in
            let launcher = try bus.launcher()
            let ant = try bus.module("Ant", waits: false)
            let tool = try bus.operator()
            let id = try tool.monitor(["module": "Late"])
            try ant.call("Test/first")
            let hurried = try ant.call("Test/second", nil, ["deadline": 20])
            try ant.expectError(to: hurried, "deadline-exceeded")
            #expect(try lines(tool, id) == ["call Ant → Test/second, deadline-exceeded"])
            let late = try bus.connect("Late", answersLifecycle: true)
            let token = try bus.vouch(for: "Late")
            try late.hello("Late", ["token": .string(token), "interfaces": ["Test": [:]]])
            try late.expectCall("Test/first")
            #expect(try lines(tool, id).filter { $0.contains("Test/") } == ["call Ant → Test/first"])
            launcher.close()
        }
    }

    @Test func aCallThatTheBrokerEndsAfterDeliveryIsAnErrorFromBus() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let tool = try bus.operator()
            try callee.settle()
            let id = try tool.monitor()
            try tool.settle()
            let call = try caller.call("Test/act")
            try callee.expectCall("Test/act")
            callee.close()
            try caller.expectError(to: call, "died")
            #expect(try lines(tool, id).prefix(2) == ["call Bee → Test/act", "error bus → Bee, died"])
        }
    }

    @Test(.promise("10.19")) func notificationsAreShownWithEachNotice() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant", ["observes": ["up"]])
            let cats = try [bus.module("Cat", ["observes": ["down"]]), bus.module("Cat2", ["observes": ["down"]])]
            for peer in cats + [ant] { try peer.settle() }
            let tool = try bus.operator()
            let id = try tool.monitor()
            try tool.settle()
            #expect(try ant.recipients(ofBroadcast: "down") == 2)
            let report = try cats[0].report("up", to: "Ant")
            try ant.reply(to: try ant.expectNotice("up"))
            try cats[0].expectReply(to: report)
            let told = try tool.notes(of: id)
            #expect(
                line(told) == [
                    "broadcast Ant →  down", "notice Ant → Cat down", "notice Ant → Cat2 down", "reply bus → Ant",
                    "report Cat → Ant up", "notice Cat → Ant up", "reply Ant → bus", "reply bus → Cat",
                ])
            #expect(
                told.map { $0["via"]?.string } == [nil, "broadcast", "broadcast", nil, nil, "report", nil, nil])
            #expect(told.allSatisfy { $0["more"] == nil })
        }
    }

    @Test(.promise("10.19")) func aNotificationIsShownWithItsObject() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant", ["observes": ["up"]])
            let cat = try bus.module("Cat", ["observes": ["down"]])
            let tool = try bus.operator()
            let id = try tool.monitor()
            try tool.settle()
            try ant.broadcast("down", nil, ["object": "7\n8"])
            try ant.broadcast("down", nil, ["object": ""])
            try ant.broadcast("down")
            for _ in 0..<3 { try cat.expectNotice("down") }
            let report = try cat.report("up", to: "Ant", nil, ["object": "9"])
            try ant.reply(to: try ant.find(["kind": "notice", "name": "up"]))
            try cat.expectReply(to: report)
            let named = try tool.notes(of: id).filter { $0["name"] != nil }
            let seen = named.map { "\($0["kind"]!) \($0["object"] ?? .null)" }
            #expect(
                seen == [
                    #""broadcast" "7\n8""#, #""notice" "7\n8""#, #""broadcast" """#, #""notice" """#,
                    #""broadcast" null"#, #""notice" null"#, #""report" "9""#, #""notice" "9""#,
                ])
        }
    }

    @Test func aCallToBusIsShownBeforeItsEffects() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant", ["events": ["app.reload"]])
            try ant.settle()
            let launcher = try bus.launcher()
            let tool = try bus.operator()
            let id = try tool.monitor()
            try tool.settle()
            try launcher.call("bus/emit", nil, ["name": "app.reload"])
            try ant.reply(to: try ant.expectCall("module/event"), true)
            try launcher.find(["kind": "reply"])
            #expect(
                try lines(tool, id) == [
                    "call launcher → bus/emit app.reload", "call bus → module/event app.reload", "reply Ant → bus",
                    "reply bus → launcher",
                ])
        }
    }

    /// Disabled if brokers are replaced. If the frames of two peers are both there, their order
    /// differs then.
    @Test(.promise("10.23"), .disabled(if: TestBus.isHandedOverEachRound))
    func cancelsCreditsAndMonitorsThemselvesAreNeverShown() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try callee.settle()
            let tool = try bus.operator()
            let other = try bus.connect("another tool")
            try other.hello(role: "operator")
            let id = try tool.monitor()
            let second = try other.monitor()
            try other.credit(second, 1)
            let call = try caller.call("Test/act")
            try callee.expectCall("Test/act")
            try caller.credit(call, 1)
            try caller.cancel(call)
            try caller.expectError(to: call, "cancelled")
            try other.cancel(second)
            try other.expectError(to: second, "cancelled")
            let frames = try tool.drainWithMonitors().filter { $0.isPartial && $0.id == id }.map(\.json)
            // The frame that ends the test's wait comes last.
            #expect(
                line(frames).prefix { !$0.hasSuffix("test.last") } == [
                    "call Bee → Test/act", "error bus → Bee, cancelled",
                ])
        }
    }

    @Test(.promise("10.23")) func framesBeforeHelloAreNotShown() throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            let id = try tool.monitor()
            let stranger = try bus.connect("a stranger")
            try stranger.call("Test/act")
            try stranger.expectEnd("not-registered")
            #expect(try lines(tool, id).isEmpty)
        }
    }

    // MARK: what is asked for

    @Test(.promise("10.21")) func moduleAndNameChooseFrames() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let bee = try bus.provider("Bee", "Test")
            for peer in [ant, bee] { try peer.settle() }
            let tool = try bus.operator()
            let ofBee = try tool.monitor(["module": "Bee"])
            let ofNews = try tool.monitor(["name": "news"])
            try tool.settle()
            try ant.broadcast("news")
            try ant.broadcast("weather")
            try ant.expectError(to: try ant.call("Test/act", nil, ["parent": 77]), "cancelled")
            let call = try ant.call("Test/act")
            try bee.reply(to: try bee.expectCall("Test/act"))
            try ant.expectReply(to: call)
            try ant.settle()
            let frames = try tool.drainWithMonitors().map { ($0.id, $0.json) }
            func kinds(_ id: UInt64) -> [String] { frames.filter { $0.0 == id }.map { $0.1["kind"]?.string ?? "" } }
            #expect(kinds(ofBee) == ["call", "call", "reply"])
            #expect(kinds(ofNews) == ["broadcast"])
        }
    }

    @Test(.promise("10.21")) func bodiesAreShownIfRequestedAndJSON() throws {
        try TestBus.run(.sixModules { $0.limits.frame = 20_000 }) { bus in
            let ant = try bus.module("Ant")
            try ant.settle()
            let tool = try bus.operator()
            let id = try tool.monitor(["bodies": true, "name": "n"])
            try tool.settle()
            func tell(_ body: String) throws -> JSON {
                try ant.send(header: #"{"kind":"broadcast","name":"n"}"#, body: body)
                try ant.settle()
                return try #require(try tool.notes(of: id).first)
            }
            #expect(try tell(#"{"a": 1.10}"#).matches(["bytes": 11, "body": ["a": 1.1]]))
            #expect(try tell("").matches(["bytes": 0, "body": nil]))
            for body in [
                "{", "1,\"to\":\"Forged/act\"", "\u{FEFF}1",
                String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
            ] {
                let frame = try tell(body)
                #expect(frame.matches(["to": "", "bytes": .integer(Int64(body.utf8.count)), "omitted": "json"]))
                #expect(frame["body"] == nil)
            }
            let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
            #expect(try tell(deep)["body"] != nil)
            let many = "[" + String(repeating: "1,", count: FrameNote.mostValues - 2) + "1]"
            #expect(try tell(many)["body"] != nil)
            #expect(try tell("[1," + many.dropFirst()).matches(["omitted": "json"]))
            let large = try tell("\"" + String(repeating: "x", count: 19_900) + "\"")
            #expect(large.matches(["bytes": 19_902, "omitted": "size"]) && large["body"] == nil)
        }
    }

    @Test(.promise("10.21")) func bodiesOver64KiBAreOmitted() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["bodies": true, "name": "n"])
            try tool.settle()
            for count in [65_534, 65_535] {
                _ = try ant.recipients(ofBroadcast: "n", .string(String(repeating: "x", count: count)))
            }
            let frames = try tool.notes(of: id)
            #expect(frames.map { $0["omitted"]?.string } == [nil, "size"])
            #expect(frames.first?["body"]?.string?.utf8.count == 65_534)
        }
    }

    @Test(.promise("10.18")) func onlyOperatorsMayMonitor() throws {
        try TestBus.run(.sixModules()) { bus in
            try bus.module("Ant").refused("bus/monitor", [:], with: "forbidden")
            try bus.launcher().refused("bus/monitor", [:], with: "forbidden")
        }
    }

    @Test func paramsAreJudged() throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            let long = String(repeating: "x", count: 257)
            for params: JSON in [
                7, nil, ["module": 7], ["module": "no name"], ["module": ""], ["name": nil], ["name": ""],
                ["name": .string(long)], ["bodies": "yes"],
            ] {
                try tool.refused("bus/monitor", params, with: "bad-params")
            }
            // Without params, every frame is shown.
            try tool.call("bus/monitor")
            try bus.module("Ant").broadcast("n")
            try tool.find(["kind": "reply", "more": true], body: ["kind": "broadcast"])
        }
    }

    // MARK: its end

    @Test(.promise("6.23")) func aMonitorHasNoDeadline() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let tool = try bus.operator()
            let monitor = try tool.call("bus/monitor", ["name": "n"], ["deadline": 20])
            let call = try tool.call("Test/act", nil, ["deadline": 60])
            try callee.expectCall("Test/act")
            try tool.expectError(to: call, "deadline-exceeded")
            try callee.broadcast("n")
            try tool.find(["kind": "reply", "id": .integer(Int64(monitor)), "more": true])
        }
    }

    @Test(.promise("13.15")) func sixteenMayBeOpenAndEachThatEndsMakesRoom() throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            let other = try bus.connect("another tool")
            try other.hello(role: "operator")
            let first = try tool.monitor(["name": "n"])
            for _ in 1..<16 { _ = try other.monitor(["name": "n"]) }
            try other.settle()
            try tool.refused("bus/monitor", [:], with: "overloaded")
            try tool.cancel(first)
            try tool.expectError(to: first, "cancelled")
            _ = try tool.monitor(["name": "n"])
            try tool.refused("bus/monitor", [:], with: "overloaded")
            other.close()
            try tool.settle()
            _ = try tool.monitor(["name": "n"])
            try bus.module("Ant").broadcast("n")
            for _ in 0..<2 { try tool.find(["kind": "reply", "more": true], body: ["kind": "broadcast"]) }
        }
    }
}
