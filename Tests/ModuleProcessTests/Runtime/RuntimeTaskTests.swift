import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeTaskTests {
    @Test func backgroundWorkHasNoParentAndEndsAtTearDown() async throws {
        try await withModule(Worker.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            #expect(try await peer.call("Worker/start").kind == "reply")
            let request = try await peer.expect("call")
            #expect(request["to"] == "Other/work")
            #expect(request["parent"] == nil)
            peer.reply(request)
            _ = try await peer.call("module/tearDown")
            await harness.module.background?.value
            #expect(harness.module.wasCancelled)
        }
    }

    @Test func aTaskLeftBehindIsToldSo() async throws {
        try await withModule(Worker.self) { harness in
            try await harness.startFully()
            #expect(try await harness.peer.call("Worker/leave").kind == "reply")
            harness.module.goOn?.resume()
            let error = await #expect(throws: BusError.self) { try await harness.module.left?.value }
            #expect(error?.code == .cancelled)
            #expect(error?.message.contains("background") == true)
        }
    }

    @Test func blockingKeepsTheOrderOfALabel() async throws {
        try await withModule(Worker.self) { harness in
            let order = Locked<[Int]>([])
            let tasks = (0..<50).map { number in
                Task.immediate { @ModuleActor in
                    try await blocking(label: "db") { order.withLock { $0.append(number) } }
                }
            }
            for task in tasks { try await task.value }
            #expect(order.withLock { $0 } == Array(0..<50))
            let thread = try await blocking { UInt(pthread_self()) }
            #expect(thread != UInt(pthread_self()))
            #expect(ModuleExecutor.shared.isCurrent)
            await #expect(throws: CancellationError.self) { try await blocking { throw CancellationError() } }
        }
    }

    /// The closure that wakes the loop is kept behind a lock, whose generic code could wrap it at
    /// each use.
    @Test func wakingTheLoopTakesAsMuchStackEachTime() {
        let executor = ModuleExecutor()
        let places = Locked<Set<UInt>>([])
        executor.setWake {
            var mark = 0
            withUnsafePointer(to: &mark) { place in _ = places.withLock { $0.insert(UInt(bitPattern: place)) } }
        }
        for _ in 0..<100 {
            Task(executorPreference: executor) {}
            executor.drain()
        }
        #expect(places.withLock { $0 }.count == 1)
    }

    @Test func whoHoldsTheLoopIsNamed() async throws {
        try await withModule(Worker.self) { harness in
            try await harness.start()
            let watch = ModuleExecutor.shared.watch
            let before = watch.onHeld
            var held: [String] = []
            watch.onHeld = { name, _ in held.append(name) }
            _ = try await harness.peer.call("Worker/hold")
            let id = harness.peer.send(call: "Worker/holdLater")
            harness.peer.reply(try await harness.peer.expect("call"))
            #expect(try await harness.peer.expect("reply").id == .integer(id))
            watch.onHeld = before
            // On a busy machine other handlers are delayed, too, and these in other steps.
            #expect(Set(held.filter { $0.hasPrefix("Worker/") }) == ["Worker/hold", "Worker/holdLater"])
        }
    }
}

final class Worker: Module {
    static let name = "Worker"
    private let bus: Bus
    private(set) var background: Task<Void, Never>?
    private(set) var left: Task<Void, any Error>?
    var goOn: CheckedContinuation<Void, Never>?
    private(set) var wasCancelled = false

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Worker/start") { _ in
            self.background = try self.bus.background("counting") {
                try await self.bus.call("Other/work")
                do { try await sleep(milliseconds: 60_000) } catch { self.wasCancelled = true }
            }
            return nil
        }
        exports.action("Worker/leave") { _ in
            self.left = Task.immediate {
                await withCheckedContinuation { self.goOn = $0 }
                try await self.bus.call("Other/work")
            }
            return nil
        }
        exports.action("Worker/hold") { _ in
            self.spin()
            return nil
        }
        exports.action("Worker/holdLater") { _ in
            try await self.bus.call("Other/work")
            self.spin()
            return nil
        }
    }

    private func spin() {
        let end = Loop.nanoseconds + 120_000_000
        while Loop.nanoseconds < end {}
    }
}
