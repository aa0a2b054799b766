import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: partial replies and their credit.
@Suite(.timeLimit(.hang))
struct StreamTests {
    @Test(.promise("6.21")) func partialRepliesReachTheCallerInOrderBeforeTheFinalOne() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/list", nil, ["credit": 3])
            let call = try callee.expectCall("Test/list", nil, ["credit": 3])
            for part in 0..<3 as Range<Int64> { try callee.partialReply(to: call, .integer(part)) }
            // The final reply costs no credit.
            try callee.reply(to: call, "end")
            for part in 0..<3 as Range<Int64> {
                try caller.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true], body: .integer(part))
            }
            let final = try caller.expect(["kind": "reply", "id": .integer(Int64(id))], body: "end")
            #expect(final["more"] == nil)
        }
    }

    @Test(.promise("4.3")) func creditIsForwardedAndLetsMoreThrough() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/list", nil, ["credit": 0])
            let call = try callee.expectCall("Test/list", nil, ["credit": 0])
            try caller.credit(id, 2)
            try callee.expect(["kind": "credit", "id": call["id"] ?? .null, "credit": 2])
            try callee.partialReply(to: call, 1)
            try callee.partialReply(to: call, 2)
            try caller.expect(["kind": "reply", "more": true], body: 1)
            try caller.expect(["kind": "reply", "more": true], body: 2)
            try callee.reply(to: call)
            try caller.expectReply(to: id)
        }
    }

    @Test(.promise("6.22", "12.10")) func onePartialReplyBeyondTheCreditEndsTheCall() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/list", nil, ["credit": 1])
            let call = try callee.expectCall("Test/list")
            try callee.partialReply(to: call, 1)
            try callee.partialReply(to: call, 2)
            try caller.expect(["kind": "reply", "more": true], body: 1)
            try caller.expectError(to: id, "overloaded", ran: "maybe")
            try callee.expect(["kind": "cancel", "id": call["id"] ?? .null])
            try callee.partialReply(to: call, 3)
            try callee.expectNothing()
            try caller.expectNothing()
        }
    }

    @Test(.promise("3.10")) func aSumOfCreditsStopsAtTheLargestInteger() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/list", nil, ["credit": 9_007_199_254_740_991])
            let call = try callee.expectCall("Test/list")
            for _ in 0..<3 { try caller.credit(id, 9_007_199_254_740_991) }
            try caller.settle()
            _ = try callee.drain()
            try callee.partialReply(to: call, 1)
            try caller.expect(["kind": "reply", "more": true])
        }
    }

    @Test(.promise("6.24")) func theDeadlineOfAStreamIsForEachStep() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let stream = try caller.call("Test/list", nil, ["deadline": 2_000])
            let call = try callee.expectCall("Test/list")
            // Calls that exceed a deadline let time pass, each a third of a step.
            for step in 0..<4 as Range<Int64> {
                let clock = try caller.call("Test/clock", nil, ["deadline": 700])
                try callee.expectCall("Test/clock")
                try caller.expectError(to: clock, "deadline-exceeded")
                try callee.find(["kind": "cancel"])
                try callee.partialReply(to: call, .integer(step))
                try caller.expect(["kind": "reply", "more": true], body: .integer(step))
            }
            try caller.expectError(to: stream, "deadline-exceeded", ran: "maybe")
        }
    }

    @Test(.promise("13.25")) func aPartialReplyThatDoesNotFitEndsTheStream() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 300_000 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/list", nil, ["credit": 100])
            let call = try callee.expectCall("Test/list")
            caller.isPaused = true
            for _ in 0..<12 { try callee.partialReply(to: call, .filler(100_000)) }
            try callee.expect(["kind": "cancel", "id": call["id"] ?? .null])
            caller.isPaused = false
            try caller.expectError(to: id, "overloaded", ran: "maybe")
        }
    }

    /// Answers twelve calls with 100 kB each while their caller reads nothing: some don't fit.
    private func answerMuch(
        _ answer: (RawPeer, ReceivedFrame) throws -> Void,
        _ then: (_ callee: RawPeer, _ caller: RawPeer, _ ids: [UInt64]) throws -> Void
    ) throws {
        try TestBus.run(.sixModules { $0.limits.queue = 300_000 }) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let ids = try (0..<12).map { _ in try caller.call("Test/big") }
            let calls = try ids.map { _ in try callee.expectCall("Test/big") }
            caller.isPaused = true
            for call in calls { try answer(callee, call) }
            try callee.settle()
            caller.isPaused = false
            try then(callee, caller, ids)
        }
    }

    @Test(.promise("13.25")) func aFinalReplyThatDoesNotFitIsOverloadedAndRan() throws {
        try answerMuch {
            try $0.reply(to: $1, .filler(100_000))
        } _: { callee, caller, ids in
            #expect(try caller.answer(to: ids[0]).kind == "reply")
            try caller.expectError(to: ids[11], "overloaded", ran: "yes")
            try callee.expectNothing()
        }
    }

    @Test(.promise("13.25")) func anErrorThatDoesNotFitKeepsItsRan() throws {
        try answerMuch {
            try $0.fail($1, "bad-params", "not now", ["ran": "no"], body: .filler(100_000))
        } _: {
            _, caller, ids in
            try caller.expectError(to: ids[0], "bad-params", ran: "no")
            try caller.expectError(to: ids[11], "overloaded", ran: "no")
        }
    }
}
