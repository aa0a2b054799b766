import Glibc
import StrataCore
import Synchronization
import Testing

@testable import Strata

/// Who cancels a task cancels what it waits for: a request of the task that the runtime made, and one of a
/// child task.
@Suite(.timeLimit(.minutes(1)))
struct RuntimeCancellationTests {
    @Test func aCancelledCallCancelsWhatItsHandlerWaitsFor() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let id = peer.send(call: "Waiting/ask")
            let inner = try await peer.expect("call")
            #expect(inner["to"] == "Slow/work" && inner["parent"] == .integer(id))
            peer.send(["kind": "cancel", "id": .integer(id)])
            #expect(try await peer.expect("cancel").id == inner.id)
            peer.fail(inner, "cancelled", ran: "maybe")
            #expect(try await peer.expect("error")["code"] == "cancelled")
        }
    }

    @Test func aCancelledChildCancelsItsOwnCallOnly() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let id = peer.send(call: "Waiting/cancelChild")
            let child = try await peer.expect("call")
            #expect(child["to"] == "Slow/child" && child["parent"] == .integer(id))
            let own = try await peer.expect("call")
            #expect(own["to"] == "Slow/own")
            peer.reply(own)
            // The handler has its own answer, and cancels the child.
            #expect(try await peer.expect("cancel").id == child.id)
            peer.fail(child, "cancelled", ran: "maybe")
            #expect(try await peer.expect("reply").id == .integer(id))
        }
    }

    @Test func cancelledBackgroundWorkCancelsItsCall() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            let task = try bus.background { try await bus.call("Slow/work") }
            let call = try await peer.expect("call")
            task.cancel()
            #expect(try await peer.expect("cancel").id == call.id)
            peer.fail(call, "cancelled", ran: "maybe")
            await task.value
            #expect(harness.exit == nil)
        }
    }

    @Test func aTaskThatOutlivesBackgroundWorkIsCancelledByItself() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            var later: Task<Void, any Error>?
            try await bus.background {
                later = Task { @ModuleActor in try await bus.call("Slow/work") }
            }.value
            let call = try await peer.expect("call")
            later?.cancel()
            #expect(try await peer.expect("cancel").id == call.id)
            peer.fail(call, "cancelled", ran: "maybe")
            await #expect(throws: BusError.self) { try await later?.value }
        }
    }

    @Test func otherActorsCallTheBus() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let other = Other(bus: Bus(harness.runtime))
            async let typed = other.half(of: 8)
            let first = try await peer.expect("call")
            #expect(first["to"] == "Waiting/half" && first.body == ["of": 8])
            peer.reply(first, 4)
            #expect(try await typed == 4)
            async let untyped = other.ask()
            let second = try await peer.expect("call")
            peer.reply(second, "yes")
            #expect(try await untyped == "yes")
        }
    }

    /// The actor begins on the loop's thread, and another one has it when the answer comes.
    @Test func anotherActorsRequestMayContinueOnAnotherThread() async throws {
        try await withModule(WaitingModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let other = Other(bus: Bus(harness.runtime))
            harness.module.other = other
            let id = peer.send(call: "Waiting/askOther")
            let call = try await peer.expect("call")
            let holder = Task.detached { await other.hold() }
            while !other.isHeld { await Task.yield() }
            peer.reply(call, 4)
            // A round trip, so that the answer was read.
            _ = try await peer.call("Waiting/now")
            other.letGo()
            await holder.value
            let answer = try await peer.expect("reply")
            #expect(answer.id == .integer(id) && answer.body == 4)
        }
    }
}

private actor Other {
    private let bus: Bus
    private let holding = Atomic(0)

    init(bus: Bus) { self.bus = bus }

    /// Keeps the actor on the calling thread, from when `isHeld` is true until `letGo`.
    func hold() {
        holding.store(1, ordering: .sequentiallyConsistent)
        while isHeld { sched_yield() }
    }

    nonisolated var isHeld: Bool { holding.load(ordering: .sequentiallyConsistent) == 1 }
    nonisolated func letGo() { holding.store(2, ordering: .sequentiallyConsistent) }

    func half(of number: Int) async throws -> Int { try await bus.call(WaitingModule.Half(of: number)) }
    func ask() async throws -> JSON { try await bus.call("Slow/work") }
}

private final class WaitingModule: Module {
    static let name = "Waiting"
    private let bus: Bus
    var other: Other?

    enum Contract: Interface { static let name = "Waiting" }

    struct Half: Action {
        static let name = Contract.action("half")
        typealias Reply = Int
        var of: Int
    }

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Waiting/ask") { (_) async throws in try await self.bus.call("Slow/work") }
        exports.action("Waiting/now") { _ in nil }
        exports.action("Waiting/askOther") { (_) async throws in
            .integer(Int64(try await self.other?.half(of: 8) ?? 0))
        }
        exports.action("Waiting/cancelChild") { (_) async throws in
            let bus = self.bus
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await bus.call("Slow/child") }
                await Task.yield()
                _ = try await bus.call("Slow/own")
                group.cancelAll()
                while let ended = await group.nextResult() { _ = ended }
                return nil
            }
        }
    }
}
