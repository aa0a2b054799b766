import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.minutes(1)))
struct RuntimeCallTests {
    @Test func untypedCallsAreAnswered() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await peer.call("Player/echo", ["a": [1, "ü"]]).body == ["a": [1, "ü"]])
            #expect(try await peer.call("Player/echo", 5).body == 5)
            #expect(try await peer.call("Player/bytes", "x").body == "x")
            #expect(try await peer.call("Player/who").body == ["from": "Tester", "remaining": true])
            #expect(try await peer.call("Player/none")["code"] == "unknown-action")
        }
    }

    @Test func typedCallsGoBothWaysAndPassTheirParent() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let trace = JSON.Member("trace", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            let id = peer.send(call: "Player/play", ["track": 3], [trace])
            let find = try await peer.expect("call")
            #expect(find["to"] == "Library/find")
            #expect(find["parent"] == .integer(id))
            #expect(find["trace"] == trace.value)
            #expect(find.body == ["id": 3])
            peer.reply(find, ["id": 3, "length": 2.5])
            let answer = try await peer.expect("reply")
            #expect(answer.id == .integer(id))
            #expect(answer.body == 2.5)
        }
    }

    @Test func scalarsAndNothingTravel() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await peer.call("Player/setVolume", 4).body == 5)
            #expect(try await peer.call("Player/stop").body == [:])
            #expect(try await peer.call("Player/stop", [:]).body == [:])
        }
    }

    @Test func urlParametersAreReadFromTheirText() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = peer.send(call: "Player/play", ["track": "12"], [.init("url", "test://player.example/play/12")])
            let find = try await peer.expect("call")
            #expect(find.body == ["id": 12])
            peer.fail(find, "unavailable")
            #expect(try await peer.expect("error")["code"] == "failed")
            let refused = try await peer.call(
                "Player/play", ["track": "x"], [.init("url", "test://player.example/play/x")])
            #expect(refused["code"] == "bad-params")
        }
    }

    @Test func errorsBecomeTheCallers() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let own = try await peer.call("Player/fail", ["how": "own"])
            #expect(own["code"] == "Player.no-disc")
            #expect(own["message"] == "put one in")
            #expect(own["ran"] == "yes")
            #expect(own.body == ["slot": 2])
            let other = try await peer.call("Player/fail", ["how": "other"])
            #expect(other["code"] == "failed")
            #expect(other["message"] == "the motor is stuck")
            #expect(try await peer.call("Player/fail", [:])["code"] == "bad-params")
            let missing = try await peer.call("Player/play", ["trak": 3])
            #expect(missing["code"] == "bad-params")
            #expect(missing["message"]?.string?.contains("`track` is missing") == true)
            let wrong = try await peer.call("Player/play", ["track": "x"])
            #expect(wrong["message"]?.string?.contains("`track` is no Int") == true)
            let id = peer.send(call: "Player/fail", ["how": "request"])
            peer.fail(try await peer.expect("call"), "unknown-interface", "nobody there")
            let failed = try await peer.expect("error")
            #expect(failed.id == .integer(id))
            #expect(failed["code"] == "failed")
            #expect(failed["message"]?.string?.contains("unknown-interface: nobody there") == true)
        }
    }

    @Test func aCancelledCallCancelsItsHandler() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Player/wait")
            // A round trip, so that the handler waits.
            _ = try await peer.call("Player/echo", 1)
            peer.send(["kind": "cancel", "id": .integer(id)])
            let answer = try await peer.expect("error")
            #expect(answer["code"] == "cancelled")
            #expect(harness.module.wasCancelled)
        }
    }

    @Test func aCancelledTaskCancelsItsCall() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            let task = Task { @ModuleActor in try await bus.call("Slow/work", deadline: .seconds(2)) }
            let call = try await peer.expect("call")
            #expect(call["deadline"] == 2000)
            task.cancel()
            let cancel = try await peer.expect("cancel")
            #expect(cancel.id == call.id)
            peer.fail(call, "cancelled", ran: "maybe")
            let error = await #expect(throws: BusError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(error?.ran == .maybe)
        }
    }

    @Test func noticesReachObservers() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            peer.send(
                [
                    "kind": "notice", "name": "library.track-removed", "from": "Library", "level": "basic",
                    "via": "broadcast", "subscription": 1,
                ], ["id": 4])
            peer.send(
                [
                    "kind": "notice", "id": 9, "name": "log.rotated", "object": "main", "from": "Log",
                    "level": "basic", "via": "report", "subscription": 2, "missed": 2,
                ])
            let answer = try await peer.expect("error")
            #expect(answer.id == 9)
            #expect(answer["code"] == "Player.behind")
            #expect(harness.module.removed == [4])
        }
    }

    @Test func notificationsAreSent() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Player/tell")
            let broadcast = try await peer.expect("broadcast")
            #expect(broadcast["name"] == "player.started")
            #expect(broadcast["object"] == "track-7")
            #expect(broadcast["id"] == nil)
            #expect(broadcast.body == ["track": 7])
            let report = try await peer.expect("report")
            #expect(report["to"] == "Log")
            #expect(report["parent"] == .integer(id))
            #expect(report.body == ["reason": "dust"])
            peer.reply(report, ["observers": 2])
            #expect(try await peer.expect("reply").body == 2)
        }
    }
}
