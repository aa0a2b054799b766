import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: requests that are made for a call.
@Suite(.timeLimit(.hang))
struct ParentTests {
    /// Cat calls Bee, which calls Ant for that call.
    private func chain(_ test: (TestBus, Chain) throws -> Void) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let chain = Chain(
                first: try bus.module("Cat"), middle: try bus.provider("Bee", "Outer"),
                last: try bus.provider("Ant", "Inner"))
            try test(bus, chain)
        }
    }

    private struct Chain {
        let first: RawPeer, middle: RawPeer, last: RawPeer
    }

    @Test(.promise("6.16", "R.1"), arguments: ["reply", "error", "cancel", "deadline", "caller's death"])
    func whenTheParentEndsItsRequestsAreCancelled(ending: String) throws {
        try chain { bus, chain in
            let outer = try chain.first.call("Outer/act", nil, ending == "deadline" ? ["deadline": 1_500] : [:])
            let parent = try chain.middle.expectCall("Outer/act")
            let inner = try chain.middle.call("Inner/act", nil, ["parent": parent["id"] ?? .null])
            let call = try chain.last.expectCall("Inner/act")
            switch ending {
            case "reply": try chain.middle.reply(to: parent)
            case "error": try chain.middle.fail(parent, "Outer.no")
            case "cancel": try chain.first.cancel(outer)
            case "deadline": break
            default: chain.first.close()
            }
            // With a deadline of its own that isn't later than the parent's, either end may be
            // reported first.
            let error = try chain.middle.answer(to: inner)
            #expect(error.code == "cancelled" || ending == "deadline" && error.code == "deadline-exceeded", "\(error)")
            #expect(error.ran == "maybe")
            if error.code == "cancelled" { #expect(error.message.contains("\(parent.id)")) }
            try chain.last.expect(["kind": "cancel", "id": call["id"] ?? .null])
        }
    }

    /// The callee of both has ended, and the request was still in its queue.
    @Test func aRequestThatADeadCalleeNeverReceivedHasNotRun() throws {
        try chain { bus, chain in
            try chain.first.call("Outer/act")
            let parent = try chain.middle.expectCall("Outer/act")
            chain.last.isPaused = true
            // More than a socket takes, so what follows waits in the queue.
            for _ in 0..<12 { try chain.middle.call("Inner/act", .filler(30_000)) }
            let back = try chain.middle.call("Inner/act", nil, ["parent": parent.number])
            // The peer that will close makes a call, too. The end of that call cancels what its
            // callee has made for it.
            let call = try chain.last.call("Outer/act")
            let own = try chain.middle.find(["kind": "call", "to": "Outer/act"])
            let late = try chain.middle.call("Inner/act", nil, ["parent": own.number])
            try chain.middle.settle()
            chain.last.close()
            #expect(call > 0 && back > 0)
            for id in [late, back] {
                let error = try chain.middle.answer(to: id)
                #expect(["died", "cancelled"].contains(error.code) && error.ran == "no", "\(error)")
            }
        }
    }

    @Test(.promise("6.16")) func theDeadlineIsAtMostWhatTheParentHas() throws {
        try chain { bus, chain in
            try chain.first.call("Outer/act", nil, ["deadline": 5_000])
            let parent = try chain.middle.expectCall("Outer/act")
            try chain.middle.call("Inner/act", nil, ["parent": parent["id"] ?? .null, "deadline": 20_000])
            let left = try chain.last.expectCall("Inner/act")["deadline"]?.integer ?? -1
            #expect((1...5_000).contains(left))
        }
    }

    @Test(.promise("6.18")) func aParentThatIsNotOpenIsCancelled() throws {
        try chain { bus, chain in
            try chain.middle.refused("Inner/act", nil, ["parent": 4_711], with: "cancelled")
            // Another peer's call is no parent.
            try chain.first.call("Outer/act")
            let parent = try chain.middle.expectCall("Outer/act")
            try chain.first.refused("Inner/act", nil, ["parent": parent["id"] ?? .null], with: "cancelled")
            try chain.middle.reply(to: parent)
            try chain.middle.refused("Inner/act", nil, ["parent": parent["id"] ?? .null], with: "cancelled")
            try chain.last.expectNothing()
        }
    }

    @Test(.promise("6.16")) func aChainOfManyIsCancelledToItsEnd() throws {
        try TestBus.run(.sixModules { $0.limits.depth = 1_000 }) { bus in
            let module = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let outer = try caller.call("Test/act", ["depth": 0])
            var parent = try module.expectCall("Test/act", ["depth": 0])
            var made: [UInt64] = []
            for depth in 1...200 as ClosedRange<Int64> {
                made.append(try module.call("Test/act", ["depth": .integer(depth)], ["parent": parent["id"] ?? .null]))
                parent = try module.expectCall("Test/act", ["depth": .integer(depth)])
            }
            try caller.cancel(outer)
            try caller.expectError(to: outer, "cancelled")
            for id in made { try module.expectError(to: id, "cancelled", ran: "maybe") }
        }
    }
}
