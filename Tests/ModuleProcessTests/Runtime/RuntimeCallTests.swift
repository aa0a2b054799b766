import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
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
            #expect(other["message"] == "Player/fail failed: the motor is stuck")
            #expect(try await peer.call("Player/fail", [:])["code"] == "bad-params")
            let missing = try await peer.call("Player/play", ["trak": 3])
            #expect(missing["code"] == "bad-params")
            #expect(missing["message"] == "$.track: expected a value, found nothing")
            let wrong = try await peer.call("Player/play", ["track": "x"])
            #expect(wrong["message"] == "$.track: expected an integer, found a string")
            let fraction = try await peer.call("Player/play", ["track": 1.5])
            #expect(
                fraction["message"]
                    == "$.track: expected an integer from -9223372036854775808 to 9223372036854775807, found 1.5")
            let id = peer.send(call: "Player/fail", ["how": "request"])
            peer.fail(try await peer.expect("call"), "unknown-interface", "nobody there")
            let failed = try await peer.expect("error")
            #expect(failed.id == .integer(id))
            #expect(failed["code"] == "failed")
            #expect(
                failed["message"] == "Player/fail failed in a request of its own: unknown-interface: nobody there")
            // With a root, what each module on the way said of it is left out.
            _ = peer.send(call: "Player/fail", ["how": "request"])
            let asked = try await peer.expect("call")
            let root: JSON = ["code": "died", "message": "it ended", "module": "Disc", "path": "Disc/read"]
            peer.send([
                "kind": "error", "id": asked.id, "code": "failed", "message": "Deck/read failed: it ended",
                "ran": "yes",
                "root": root,
            ])
            let passed = try await peer.expect("error")
            #expect(
                passed["message"]
                    == "Player/fail failed in a request of its own: Disc/read in Disc: died: it ended")
            #expect(passed["root"] == nil)
        }
    }

    @Test(arguments: [
        ("\"one\"", "a string"), ("[1]", "an array"), ("1", "a number"), ("true", "true or false"),
    ])
    func parametersThatAreNoObjectAreToldWhatIsWanted(body: String, found: String) async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let wrong = try await peer.call("Player/play", try JSON(parsing: body))
            #expect(wrong["code"] == "bad-params" && wrong["ran"] == "yes")
            #expect(wrong["message"] == .string("$: expected an object with `track`, found \(found)"))
            let volume = try await peer.call("Player/setVolume", [:])
            #expect(volume["message"] == "$: expected an integer, found an object")
        }
    }

    @Test func aCancelledCallCancelsItsHandler() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Player/wait")
            // A round trip, so that the handler is waiting.
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

    @Test func metaGoesWithEachRequestAndNotification() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            let meta: JSON = ["who": "ada", "n": [1, 2]]
            let tasks = [
                Task { @ModuleActor in _ = try await bus.call("Slow/work", meta: meta) },
                Task { @ModuleActor in _ = try await bus.call("Slow/work", bytes: [], meta: meta) },
                Task { @ModuleActor in _ = try await bus.call(Player.Stop(), meta: meta) },
                Task { @ModuleActor in _ = try await bus.open("test://a/b", meta: meta) },
                Task { @ModuleActor in _ = try await bus.report("x", to: "Log", meta: meta) },
            ]
            for _ in tasks {
                let frame = try #require(await peer.frame())
                #expect(frame["meta"] == meta, "\(frame.header)")
                peer.reply(frame)
            }
            for task in tasks { try await task.value }
            try bus.broadcast("x", meta: meta)
            #expect(try await peer.expect("broadcast")["meta"] == meta)
            _ = try bus.stream("Slow/work", auth: .skip, meta: meta)
            let stream = try await peer.expect("call")
            #expect(stream["meta"] == meta)
            #expect(stream["auth"] == "skip")
        }
    }

    private static let unsendable: [(JSON, ErrorCode)] = [
        ("x", .badParams),
        (["a": .string(String(repeating: "x", count: 4_089))], .tooLarge),
        (.object([.init("a", 1), .init("a", 2)]), .badParams),
        (["a": (0..<31).reduce(JSON.null) { deep, _ in [deep] }], .badParams),
    ]

    /// The broker ends a connection over a header that it can't accept.
    @Test(arguments: 0..<4)
    func metaThatCannotBeSentIsRefusedHere(number: Int) async throws {
        let (meta, code) = Self.unsendable[number]
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            let error = await #expect(throws: BusError.self) { try await bus.call("Slow/work", meta: meta) }
            #expect(error?.code == code)
            #expect(error?.ran == BusError.Ran.no)
            _ = try await harness.peer.call("Player/echo", 1)
        }
    }

    @Test func headersThatCannotBeSentAreRefusedHere() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            let long = String(repeating: "x", count: 16_384)
            let url = await #expect(throws: BusError.self) { try await bus.open("test://a/\(long)") }
            #expect(url?.code == .tooLarge)
            let object = #expect(throws: BusError.self) {
                try bus.broadcast("x", object: String(repeating: "\u{1}", count: 2_800))
            }
            #expect(object?.code == .tooLarge)
            for name in ["", String(repeating: "x", count: 257)] {
                let error = #expect(throws: BusError.self) { try bus.broadcast(name) }
                #expect(error?.code == .badParams)
            }
            // Long, but it fits.
            try bus.broadcast(String(repeating: "x", count: 256), object: String(repeating: "x", count: 15_000))
            _ = try await harness.peer.expect("broadcast")
        }
    }

    @Test func longestMetaIsSent() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            let meta: JSON = ["a": .string(String(repeating: "x", count: 4_088))]
            let call = Task { @ModuleActor in try await bus.call("Slow/work", meta: meta) }
            let frame = try await harness.peer.expect("call")
            #expect(frame["meta"] == meta)
            harness.peer.reply(frame)
            _ = try await call.value
        }
    }

    @Test func refusalBeforeTheHandlerSaysThatNothingRan() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            #expect(try await harness.peer.call("Player/none")["ran"] == "no")
            #expect(ModuleError(.overloaded, "").ran == .no)
            #expect(ModuleError(.overloaded, "", ran: .yes).ran == .yes)
            #expect(ModuleError("Player.jam", "").ran == .yes)
        }
    }

    /// A notice is no call and can't be a parent. Requests made for it still end with it.
    @Test func requestOfAReportsObserverEndsWithTheReport() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            let observing = Task { @ModuleActor in
                try await bus.observe("late") { delivery in
                    #expect(delivery.meta == Array("{\"n\":1}".utf8))
                    try await bus.call("Slow/work")
                }
            }
            peer.reply(try await peer.expect("call"), ["subscription": 30])
            _ = try await observing.value
            let notice: JSON = [
                "kind": "notice", "id": 9, "name": "late", "from": "Log", "level": "basic", "via": "report",
                "subscription": 30, "meta": ["n": 1],
            ]
            peer.send(notice)
            let call = try await peer.expect("call")
            #expect(call["parent"] == nil)
            peer.send(["kind": "cancel", "id": 9])
            let cancel = try await peer.expect("cancel")
            #expect(cancel.id == call.id)
            peer.fail(call, "cancelled", ran: "maybe")
            let answer = try await peer.expect("error")
            #expect(answer.id == 9)
            #expect(answer["code"] == "cancelled")
        }
    }
}
