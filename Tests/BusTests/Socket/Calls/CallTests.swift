import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: a call's way to its owner and back.
@Suite(.timeLimit(.hang))
struct CallTests {
    @Test(.promise("3.10", "4.1", "I.4")) func aCallReachesTheOwnerAndItsReplyTheCaller() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act", ["a": 1])
            let call = try callee.expectCall("Test/act", ["a": 1], ["from": "Bee", "credit": 16])
            try callee.reply(to: call, ["b": 2])
            try caller.expectReply(to: id, body: ["b": 2])
            try caller.expectNothing()
            try callee.expectNothing()
        }
    }

    @Test(
        .promise("3.9"),
        arguments: [(nil, 30_000), (2_000, 2_000), (0, 1), (-5, 1), (100_000_000, 86_400_000)] as [(Int64?, Int64)])
    func theRemainingDeadlineIsForwarded(given: Int64?, most: Int64) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.call("Test/act", nil, given.map { ["deadline": .integer($0)] } ?? [:])
            let deadline = try callee.find(["kind": "call", "to": "Test/act"])["deadline"]?.integer ?? -1
            #expect(deadline <= most && deadline >= max(1, most - 4_000), "\(deadline)")
        }
    }

    @Test(.promise("3.9")) func aCallWithCreditIsForwardedWithoutADeadline() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            try bus.module("Bee").call("Test/act", nil, ["deadline": 0, "credit": 3])
            try callee.expectCall("Test/act", nil, ["deadline": 0, "credit": 3])
        }
    }

    @Test(.promise("6.14", "12.26")) func atTheDeadlineTheCallerGetsAnErrorAndTheCalleeACancel() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act", nil, ["deadline": 30])
            let call = try callee.expectCall("Test/act")
            try caller.expectError(to: id, "deadline-exceeded", ran: "maybe")
            try callee.expect(["kind": "cancel", "id": call["id"] ?? .null])
            try callee.reply(to: call, ["late": true])
            try callee.expectNothing()
            try caller.expectNothing()
        }
    }

    @Test(.promise("6.14", "R.2")) func deadlinesPassInTheirOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            _ = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            // All are sent at once, so that none has used up some of its time.
            let calls = [(901, 90), (902, 30), (903, 60)].map { (id: JSON, deadline: JSON) in
                FrameBytes.frame(["kind": "call", "id": id, "to": "Test/act", "deadline": deadline])
            }
            try caller.send(bytes: Array(calls.joined()))
            for id in [902, 903, 901] as [JSON] {
                try caller.expect(["kind": "error", "id": id, "code": "deadline-exceeded"])
            }
        }
    }

    @Test(.promise("4.3", "6.15", "12.27", "R.1")) func aCancelEndsTheRequestAtOnceAndItsAnswerIsDropped() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            let call = try callee.expectCall("Test/act")
            try caller.cancel(id)
            try caller.expectError(to: id, "cancelled", ran: "maybe")
            try callee.expect(["kind": "cancel", "id": call["id"] ?? .null])
            try callee.reply(to: call)
            try callee.expectNothing()
            try caller.expectNothing()
        }
    }

    @Test(.promise("1.7", "6.1")) func theCalleesDeathEndsItsOpenCalls() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let ids = try (0..<3).map { _ in try caller.call("Test/act") }
            for _ in ids { try callee.expectCall("Test/act") }
            callee.close()
            for id in ids { try caller.expectError(to: id, "died", ran: "maybe") }
            try caller.refused("Test/act", with: "unknown-interface")
        }
    }

    @Test(.promise("1.7")) func aCalleeThatOnlyEndsItsWritingIsGoneToo() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            try callee.expectCall("Test/act")
            callee.endWriting()
            try caller.expectError(to: id, "died", ran: "maybe")
            try callee.expectEnd()
        }
    }

    /// Calls a module that reads nothing, with more bytes than the kernel takes.
    private func fill(_ caller: RawPeer, _ count: Int = 12) throws -> [UInt64] {
        let ids = try (0..<count).map { _ in try caller.call("Test/act", .filler(100_000)) }
        try caller.asked("bus/ping")
        return ids
    }

    @Test(.promise("6.1", "12.24")) func whatWasNotDeliveredWhenTheCalleeDiedDidNotRun() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            callee.isPaused = true
            let ids = try fill(caller)
            callee.close()
            let answers = try ids.map { try caller.expectError(to: $0, "died") }
            #expect(answers.first?.ran == "maybe")
            #expect(answers.last?.ran == "no")
            // First come the delivered calls, and none of them after an undelivered one.
            let verdicts = answers.map(\.ran)
            #expect(verdicts == verdicts.filter { $0 == "maybe" } + verdicts.filter { $0 == "no" })
        }
    }

    @Test(.promise("6.15", "12.26", "12.27"), arguments: ["cancel", "deadline", "death"])
    func aCallThatIsQueuedAndEndsNeverArrives(ending: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let doomed = try bus.module("Cat")
            callee.isPaused = true
            let ids = try fill(caller)
            let members: JSON = ending == "deadline" ? ["deadline": 20] : [:]
            let last = try doomed.call("Test/last", nil, members)
            try doomed.settle()
            switch ending {
            case "cancel":
                try doomed.cancel(last)
                try doomed.expectError(to: last, "cancelled", ran: "no")
            case "deadline": try doomed.expectError(to: last, "deadline-exceeded", ran: "no")
            default:
                doomed.close()
                try bus.waitUntil("Cat", is: "absent")
            }
            callee.isPaused = false
            let came = try callee.drain()
            #expect(came.map(\.to) == ids.map { _ in "Test/act" })
        }
    }

    @Test(.promise("6.2", "R.3")) func framesOfOneSenderKeepTheirOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Cat", "Test", ["observes": ["news"]])
            let caller = try bus.module("Bee")
            for number in 0..<50 as Range<Int64> {
                try caller.call("Test/act", .integer(number))
                try caller.send(["kind": "broadcast", "name": "news"], body: .integer(number))
            }
            for number in 0..<50 as Range<Int64> {
                try callee.expectCall("Test/act", .integer(number))
                try callee.expectNotice("news", .integer(number))
            }
        }
    }

    @Test(
        .promise("4.1", "6.26", "12.8", "12.15", "12.23", "12.28"),
        arguments: [
            ("bad-params", nil, "bad-params", "yes"), ("failed", nil, "failed", "yes"),
            ("unknown-action", nil, "unknown-action", "no"), ("overloaded", nil, "overloaded", "no"),
            ("cancelled", nil, "cancelled", "yes"), ("Login.wrong", nil, "Login.wrong", "yes"),
            ("died", nil, "failed", "yes"), ("forbidden", nil, "failed", "yes"), ("strange", nil, "failed", "yes"),
            ("failed", "no", "failed", "no"), ("overloaded", "maybe", "overloaded", "maybe"),
            (nil, nil, "failed", "yes"),
        ] as [(String?, String?, String, String)])
    func aCalleesErrorIsMapped(code: String?, ran: String?, mapped: String, verdict: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            let call = try callee.expectCall("Test/act")
            var header: [JSON.Member] = [
                .init("kind", "error"), .init("id", call["id"] ?? .null), .init("message", "so \"it\" is"),
            ]
            if let code { header.append(.init("code", .string(code))) }
            if let ran { header.append(.init("ran", .string(ran))) }
            try callee.send(.object(header), body: ["why": 1])
            let error = try caller.expectError(to: id, mapped, ran: verdict)
            #expect(error.message == "so \"it\" is")
            #expect(error.json == ["why": 1])
        }
    }

    @Test(.promise("5.17", "12.15")) func anActionThatIsNotListedIsUnknownWhereAnyAre() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.module(
                "Ant", ["interfaces": ["Test": ["actions": ["act": ["auth": false]]], "Open": [:]]])
            let caller = try bus.module("Bee")
            try caller.refused("Test/other", with: "unknown-action")
            try caller.call("Open/anything")
            try callee.expectCall("Open/anything")
            try caller.call("Test/act")
            try callee.expectCall("Test/act")
        }
    }

    @Test(.promise("13.1")) func tooManyOpenRequestsAreOverloaded() throws {
        try MemoryBus.run(.sixModules { $0.limits.calls = 3 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let ids = try (0..<3).map { _ in try caller.call("Test/act") }
            try caller.refused("Test/act", with: "overloaded")
            let calls = try ids.map { _ in try callee.expectCall("Test/act") }
            try callee.reply(to: calls[1])
            try caller.expectReply(to: ids[1])
            try caller.call("Test/act")
            try callee.expectCall("Test/act")
        }
    }

    @Test func aCallThatDoesNotFitIntoTheCalleesQueueIsOverloaded() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 300_000 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            callee.isPaused = true
            let ids = try fill(caller)
            #expect(try caller.expectError(to: ids[11], "overloaded", ran: "no").message.contains("Ant"))
            // Third parties are not slowed down.
            try bus.module("Cat").expectNothing()
        }
    }

    @Test func aModuleMayCallItself() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.provider("Ant", "Test")
            let id = try module.call("Test/act")
            try module.reply(to: try module.expectCall("Test/act", nil, ["from": "Ant"]), ["n": 1])
            try module.expectReply(to: id, body: ["n": 1])
        }
    }

    @Test(.promise("5.34", "6.20", "I.16")) func layeredCallsGoToTheSameOrAnEarlierLevel() throws {
        try MemoryBus.run(.sixModules { $0.calls = .layered }) { bus in
            let from = try bus.module("Bee")
            let tool = try bus.operator()
            for (rank, name) in secondOfLevel.enumerated() {
                let callee = try bus.provider(name, "Of\(name)")
                if rank <= 1 {
                    try from.call("Of\(name)/act")
                    try callee.expectCall("Of\(name)/act", nil, ["from": "Bee"])
                } else {
                    let error = try from.refused("Of\(name)/act", with: "level-violation")
                    #expect(error.message.contains("middle") && error.message.contains("topout"))
                    try callee.expectNothing()
                }
                // No policy binds an operator.
                try tool.call("Of\(name)/act")
                try callee.expectCall("Of\(name)/act", nil, ["from": "operator"])
            }
        }
    }

    @Test(.promise("6.20", "I.16", "M.21")) func declaredCallsNeedTheInterfaceInTheRowsRequires() throws {
        let table = AppTable.sixModules {
            $0.calls = .declared
            $0.modules[2].requires = ["Test"]
        }
        try MemoryBus.run(table) { bus in
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            try bus.module("Bee").call("Test/act")
            try callee.expectCall("Test/act")
            // The `requires` of hello don't count.
            let other = try bus.module("Bee2", ["requires": ["Test"]])
            try other.refused("Test/act", with: "undeclared")
            let report = try other.report("news", to: "Ant")
            try other.expectError(to: report, "undeclared", ran: "no")
            let broadcast = try other.broadcast("news")
            try other.expectError(to: broadcast, "undeclared", ran: "no")
        }
    }

    @Test(.promise("8.8", "M.22")) func authSkipIsForTrustedRowsAlone() throws {
        try MemoryBus.run(.sixModules { $0.modules[2].trusted = true }) { bus in
            let callee = try bus.provider("Ant", "Test")
            try bus.module("Cat").refused("Test/act", nil, ["auth": "skip"], with: "forbidden")
            try bus.operator().refused("Test/act", nil, ["auth": "skip"], with: "forbidden")
            try bus.module("Bee").call("Test/act", nil, ["auth": "skip"])
            try callee.expectCall("Test/act")
        }
    }
}
