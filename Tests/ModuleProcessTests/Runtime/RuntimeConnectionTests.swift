import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeConnectionTests {
    @Test func aStartedModuleComesBackResumed() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let bus = Bus(harness.runtime)
            var seen: [JSON] = []
            let observing = Task { @ModuleActor in
                try await bus.observe("late") { seen.append(try $0.content) }
            }
            let observe = try await harness.peer.expect("call")
            #expect(observe["to"] == "bus/observe")
            #expect(observe.body == ["name": "late"])
            harness.peer.reply(observe, ["subscription": 30])
            // Right after the answer.
            harness.peer.send(["kind": "notice", "name": "late", "subscription": 30], 1)
            _ = try await observing.value
            let task = Task { @ModuleActor in try await bus.call("Slow/work") }
            _ = try await harness.peer.expect("call")
            harness.peer.close()
            let error = await #expect(throws: BusError.self) { try await task.value }
            #expect(error?.code == .died)
            #expect(error?.ran == .maybe)
            // Made without a connection, and sent on the next one.
            let early = Task { @ModuleActor in try await bus.call("Fast/work") }
            let peer = try await harness.broker.peer()
            let hello = try await peer.welcome()
            #expect(hello.body["resumed"] == true)
            #expect(hello.body["observes"]?.array?.last == ["name": "late"])
            peer.reply(try await peer.expect("call"), 5)
            #expect(try await early.value == 5)
            peer.send(["kind": "notice", "name": "late", "subscription": 3], 2)
            _ = try await peer.call("module/ping")
            #expect(seen == [1, 2])
            #expect(harness.module.steps == ["setUp", "initialize", "didStart", "resumed"])
        }
    }

    @Test func aHalfStartedModuleGoesOnWhereItWas() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            _ = try await harness.peer.call("module/setUp")
            harness.peer.close()
            let peer = try await harness.broker.peer()
            #expect(try await peer.welcome().body["resumed"] == nil)
            for step in ["setUp", "initialize", "didStart"] { _ = try await peer.call("module/\(step)") }
            #expect(harness.module.steps == ["setUp", "initialize", "didStart"])
        }
    }

    @Test(arguments: ["slow-consumer", "overloaded", "name-taken"])
    func passingFarewellsAreMended(code: String) async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            harness.peer.send(["kind": "error", "code": .string(code), "message": "too slow"])
            harness.peer.close()
            let peer = try await harness.broker.peer()
            let hello = try await peer.expect("call")
            peer.fail(hello, "name-taken")
            peer.close()
            try await harness.broker.peer().welcome()
            #expect(harness.exit == nil)
        }
    }

    @Test func refusalsEndTheModule() async throws {
        try await withModule(PlayerModule.self) { harness in
            harness.runtime.start()
            let peer = try await harness.broker.peer()
            peer.fail(try await peer.expect("call"), "forbidden", "another owns Player")
            await harness.ended()
            #expect(harness.exit?.code == 1)
            #expect(harness.exit?.line?.contains("forbidden: another owns Player") == true)
        }
    }

    @Test func shutdownTearsDownAndExits() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let module = harness.module
            harness.peer.send(["kind": "error", "code": "shutting-down", "message": "bye"])
            harness.peer.close()
            await harness.ended()
            #expect(harness.exit?.code == 0)
            #expect(module.steps.last == "tearDown")
        }
    }

    @Test(.promise("M.36")) func theLifelinesEndEndsTheModule() async throws {
        // Other tests' programs don't inherit its end.
        let pipe = try Pipe()
        try await withModule(PlayerModule.self) {
            $0.lifeline = pipe.reading
        } _: { harness in
            try await harness.startFully()
            let module = harness.module
            harness.runtime.watchLifeline(on: LoopSurroundings.shared.loop)
            pipe.closeWriting()
            await harness.ended()
            #expect(harness.exit?.code == 0)
            #expect(module.steps.last == "tearDown")
        }
    }

    @Test func noBusIsSaid() async throws {
        try await withModule(PlayerModule.self) {
            $0.socket = "/tmp/strata-nobody.sock"
        } _: { harness in
            harness.runtime.start()
            await harness.ended()
            #expect(harness.exit?.code == 1)
            #expect(harness.exit?.line?.contains("is the app running?") == true)
        }
    }

    @Test func tooManyRequestsAreRefusedHere() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            // hello announced a limit of 64.
            for _ in 0..<64 { Task { @ModuleActor in try? await bus.call("Slow/work") } }
            for _ in 0..<64 { _ = try await harness.peer.expect("call") }
            let error = await #expect(throws: BusError.self) { try await bus.call("Slow/work") }
            #expect(error?.code == .overloaded)
            #expect(error?.ran == BusError.Ran.no)
        }
    }
}
