import StrataCore
import Testing

@testable import Strata

/// Handlers without an `await`, which run without a task.
@Suite(.timeLimit(.hang))
struct RuntimeAtOnceTests {
    @Test func oneWithoutAnAwaitHasNoTask() async throws {
        try await withModule(QuickModule.self) { harness in
            try await harness.start()
            // A handler has a task if it is called while other jobs wait, such as those of other
            // tests.
            var hasTask = JSON.null
            for _ in 0..<1_000 where hasTask != false { hasTask = try await harness.peer.call("Quick/hasTask").body }
            #expect(hasTask == false)
            #expect(try await harness.peer.call("Quick/hasTaskLater").body == true)
        }
    }

    @Test func handlersBeginInTheOrderOfTheirCalls() async throws {
        try await withModule(QuickModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            // All of them are there before the module reads.
            let ids = ["noteLater", "note", "noteLater", "note"].enumerated().map { index, action in
                peer.send(call: "Quick/\(action)", .integer(Int64(index)))
            }
            var answered: [JSON] = []
            for _ in ids { answered.append(try await peer.expect("reply").id) }
            #expect(harness.module.noted == [0, 1, 2, 3])
            #expect(answered == ids.map(JSON.integer))
        }
    }

    @Test func whatOneAsksForIsApartOfItsCall() async throws {
        try await withModule(QuickModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Quick/ask")
            #expect(try await peer.expect("call")["parent"] == .integer(id))
            #expect(try await peer.expect("reply").id == .integer(id))
            // The next handler sees no trace of it.
            _ = try await peer.call("Quick/hasTask")
            #expect(CallScope.current == nil)
        }
    }

    @Test func typedOnesAnswerAndFail() async throws {
        try await withModule(QuickModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await peer.call("Quick/half", ["of": 8]).body == 4)
            #expect(try await peer.call("Quick/half", ["of": "x"])["code"] == "bad-params")
            let odd = try await peer.call("Quick/half", ["of": 3])
            #expect(odd["code"] == "Quick.odd")
            #expect(odd["ran"] == "yes")
            #expect(try await peer.call("Quick/forget").body == [:])
        }
    }

    @Test func requestOfACancelledTaskIsNotSent() async throws {
        try await withModule(QuickModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            @ModuleActor func ask() async throws {
                let call = Task { @ModuleActor in try await bus.call("Other/work") }
                let frame = try await harness.peer.expect("call")
                harness.peer.reply(frame)
                _ = try await call.value
            }
            try await ask()
            for _ in 0..<3 {
                let task = Task { @ModuleActor in try await bus.call("Other/work") }
                task.cancel()
                let error = await #expect(throws: BusError.self) { try await task.value }
                #expect(error?.code == .cancelled)
                #expect(error?.ran == BusError.Ran.no)
            }
            try await ask()
        }
    }
}

private final class QuickModule: Module {
    static let name = "Quick"
    private let bus: Bus
    private(set) var noted: [Int64] = []
    private var stream: ReplyStream<JSON>?

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Quick/hasTask") { _ in .bool(self.hasTask) }
        exports.action("Quick/hasTaskLater") { (_) async in .bool(self.hasTask) }
        exports.action("Quick/note") { self.note($0) }
        exports.action("Quick/noteLater") { (call) async in self.note(call) }
        exports.action("Quick/ask") { _ in
            self.stream = try self.bus.stream("Other/work")
            return nil
        }
        exports.action(Half.self, perform: half)
        exports.action(Forget.self) { _, _ in self.noted = [] }
    }

    private var hasTask: Bool { withUnsafeCurrentTask { $0 != nil } }

    private func note(_ call: Call) -> JSON {
        noted.append((try? call.params)?.integer ?? -1)
        return nil
    }

    private func half(_ request: Half) throws -> Int {
        guard request.of.isMultiple(of: 2) else { throw ModuleError("Quick.odd", "\(request.of) has no half") }
        return request.of / 2
    }

    private struct Half: Action {
        static let name = ActionName(interface: "Quick", action: "half")
        typealias Reply = Int
        var of: Int
    }

    private struct Forget: Action {
        static let name = ActionName(interface: "Quick", action: "forget")
    }
}
