import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeFollowTests {
    /// What a reader got: an element, and what may be missing before it.
    private struct Got: Equatable {
        var element: Int
        var missed: Int?
        var code: ErrorCode?
    }

    @Test(.promise("S.5"), arguments: ["died", "unavailable", "replaced", "overloaded"])
    func aStreamIsBegunAnewAndTheGapIsTold(code: String) async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/ping")
            let bus = Bus(harness.runtime)
            let reading = Task { @ModuleActor in
                var got: [Got] = []
                try await bus.follow(Rules.All(), credit: 4) { element, gap in
                    got.append(Got(element: element, missed: gap?.missed, code: gap?.error?.code))
                }
                return got
            }
            let first = try await peer.expect("call")
            #expect(first["to"] == "Rules/all" && first["credit"] == 4)
            peer.send(["kind": "reply", "id": first.id, "more": true], 1)
            peer.fail(first, code)
            // Once without success, and then after a pause.
            peer.fail(try await peer.expect("call"), code)
            let third = try await peer.expect("call")
            peer.send(["kind": "reply", "id": third.id, "more": true], 2)
            peer.send(["kind": "reply", "id": third.id, "more": true, "meta": ["missed": 3]], 3)
            #expect(try await peer.expect("credit").id == third.id)
            peer.reply(third, nil)
            #expect(
                try await reading.value == [
                    Got(element: 1), Got(element: 2, missed: 0, code: ErrorCode(code)), Got(element: 3, missed: 3),
                ])
        }
    }

    @Test(.promise("S.5")) func aStreamGoesOnWhenTheBusIsBack() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let bus = Bus(harness.runtime)
            let reading = Task { @ModuleActor in
                var got: [Int] = []
                try await bus.follow(Rules.All()) { got.append($0) }
                return got
            }
            let first = try await harness.peer.expect("call")
            harness.peer.send(["kind": "reply", "id": first.id, "more": true], 1)
            _ = try await harness.peer.call("Player/echo", 1)
            harness.peer.close()
            let peer = try await harness.broker.peer()
            try await peer.welcome()
            let second = try await peer.expect("call")
            peer.send(["kind": "reply", "id": second.id, "more": true], 2)
            peer.reply(second, nil)
            #expect(try await reading.value == [1, 2])
        }
    }

    @Test(.promise("S.5"), arguments: ["unknown-action", "forbidden", "Rules.closed"])
    func otherErrorsEndIt(code: String) async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            _ = try await harness.peer.call("module/ping")
            let reading = Task { @ModuleActor in try await bus.follow("Rules/all") { _, _ in } }
            harness.peer.fail(try await harness.peer.expect("call"), code)
            let error = await #expect(throws: BusError.self) { try await reading.value }
            #expect(error?.code == ErrorCode(code))
        }
    }

    @Test(.promise("S.5")) func theReadersOwnErrorEndsIt() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            _ = try await peer.call("module/ping")
            let reading = Task { @ModuleActor in
                try await bus.follow("Rules/all") { _, _ in throw BusError(.died, "mine") }
            }
            let call = try await peer.expect("call")
            peer.send(["kind": "reply", "id": call.id, "more": true], 1)
            let error = await #expect(throws: BusError.self) { try await reading.value }
            #expect(error?.message == "mine")
            #expect(try await peer.expect("cancel").id == call.id)
        }
    }

    @Test(.promise("S.6")) func aBroadcastIsCounted() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            _ = try await peer.call("module/ping")
            let counting = Task { @ModuleActor in
                (
                    try await bus.broadcastAndCount(Rules.Set(count: 2)),
                    try await bus.broadcastAndCount("rules.cleared", object: "disk")
                )
            }
            let first = try await peer.expect("broadcast")
            #expect(first["name"] == "rules.set" && first.body == ["count": 2])
            peer.reply(first, ["recipients": 3])
            let second = try await peer.expect("broadcast")
            #expect(second["object"] == "disk")
            peer.reply(second, ["recipients": 1])
            #expect(try await counting.value == (3, 1))
        }
    }
}
