import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: deadlines of streams, and of requests made for them. The test
/// measures time by the broker: a call whose deadline passes.
@Suite(.timeLimit(.hang))
struct StepDeadlineTests {
    /// Lets this many milliseconds pass by the broker's clock.
    private func pass(_ milliseconds: Int64, _ caller: RawPeer, _ callee: RawPeer) throws {
        let clock = try caller.call("Clock/tick", nil, ["deadline": .integer(milliseconds)])
        try callee.expectCall("Clock/tick")
        try caller.expectError(to: clock, "deadline-exceeded")
        try callee.find(["kind": "cancel"])
    }

    @Test(.promise("6.25")) func whatIsMadeForACallWithoutDeadlineHasTheDefault() throws {
        try TestBus.run(.sixModules()) { bus in
            let inner = try bus.provider("Ant", "Inner")
            let outer = try bus.provider("Bee", "Outer")
            try bus.module("Cat").call("Outer/list", nil, ["deadline": 0, "credit": 1])
            let parent = try outer.expectCall("Outer/list", nil, ["deadline": 0])
            try outer.call("Inner/act", nil, ["parent": parent.number])
            let left = try inner.expectCall("Inner/act")["deadline"]?.integer ?? 0
            #expect((26_000...30_000).contains(left), "\(left)")
        }
    }

    /// The callee isn't slow: it has answered, but sends nothing more.
    @Test(.promise("M.82")) func aQuietStreamIsReportedAsQuiet() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let stream = try caller.call("Test/list", nil, ["deadline": 50])
            try callee.partialReply(to: try callee.expectCall("Test/list"), 1)
            try caller.expect(["kind": "reply", "more": true], body: 1)
            let error = try caller.expectError(to: stream, "deadline-exceeded", ran: "maybe")
            #expect(
                error.message
                    == "the stream of Ant was quiet for 50 ms, the deadline of each reply: give more, or 0 for none")
            let silent = try caller.call("Test/list", nil, ["deadline": 50])
            let slow = try caller.expectError(to: silent, "deadline-exceeded", ran: "maybe")
            #expect(slow.message.hasPrefix("Ant did not answer within the deadline of 50 ms"), "\(slow.message)")
        }
    }

    @Test(.promise("6.24")) func creditBeginsAStepAnew() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let clock = try bus.provider("Cat", "Clock")
            let caller = try bus.module("Bee")
            let stream = try caller.call("Test/list", nil, ["deadline": 2_500, "credit": 0])
            let call = try callee.expectCall("Test/list")
            for _ in 0..<3 {
                try pass(900, caller, clock)
                try caller.credit(stream, 1)
                try callee.expect(["kind": "credit"])
            }
            try callee.reply(to: call)
            try caller.expectReply(to: stream)
        }
    }

    /// It has no deadline of its own, so each step has the time of its parent's step.
    @Test func aStreamWithoutDeadlineGoesOnWithItsParents() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let inner = try bus.provider("Ant", "Inner")
            let clock = try bus.provider("Ant2", "Clock")
            let outer = try bus.provider("Bee", "Outer")
            let caller = try bus.module("Cat")
            let top = try caller.call("Outer/list", nil, ["deadline": 1_000])
            let parent = try outer.expectCall("Outer/list")
            let stream = try outer.call("Inner/list", nil, ["parent": parent.number, "deadline": 0, "credit": 0])
            let call = try inner.expectCall("Inner/list")
            for _ in 0..<3 {
                try pass(700, caller, clock)
                try outer.partialReply(to: parent)
                try caller.find(["kind": "reply", "more": true])
                try outer.credit(stream, 1)
                try inner.expect(["kind": "credit"])
            }
            // A step of its parent is not a step of its own.
            try pass(700, caller, clock)
            try outer.partialReply(to: parent)
            let error = try outer.expectError(to: stream, "deadline-exceeded", ran: "maybe")
            #expect(error.message.contains("within the deadline of the call that it was made for"), "\(error)")
            try inner.expect(["kind": "cancel", "id": call.number])
            try caller.expectError(to: top, "deadline-exceeded", ran: "maybe")
        }
    }

    @Test func creditChangesNothingOfAReport() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let target = try bus.module("Ant", ["observes": ["news"]])
            let clock = try bus.provider("Ant2", "Clock")
            let reporter = try bus.module("Bee")
            let report = try reporter.report("news", to: "Ant", nil, ["deadline": 1_000])
            let notice = try target.expectNotice("news")
            try pass(700, reporter, clock)
            try reporter.credit(report, 1)
            try pass(200, reporter, clock)
            // A request made for it has the rest of the first second.
            try target.call("Clock/tick", nil, ["parent": notice.number])
            #expect((1...100).contains(try clock.expectCall("Clock/tick")["deadline"]?.integer ?? 0))
            // It ends before a request that ends half a second later.
            try reporter.call("Clock/tick", nil, ["deadline": 600])
            #expect(try reporter.expect(["kind": "error", "code": "deadline-exceeded"]).id == report)
        }
    }

    @Test(.promise("6.24")) func noStepLastsLongerThanItsParent() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let inner = try bus.provider("Ant", "Inner")
            let outer = try bus.provider("Bee", "Outer")
            let caller = try bus.module("Cat")
            let top = try caller.call("Outer/act", nil, ["deadline": 2_000])
            let parent = try outer.expectCall("Outer/act")
            let stream = try outer.call("Inner/list", nil, ["parent": parent.number, "deadline": 60_000])
            let call = try inner.expectCall("Inner/list")
            try inner.partialReply(to: call)
            try outer.expect(["kind": "reply", "more": true])
            try outer.credit(stream, 1)
            try caller.expectError(to: top, "deadline-exceeded", ran: "maybe")
            let end = try outer.answer(to: stream)
            #expect(["cancelled", "deadline-exceeded"].contains(end.code) && end.ran == "maybe", "\(end)")
            try inner.find(["kind": "cancel"])
        }
    }
}
