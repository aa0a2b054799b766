import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// The broker doesn't keep the memory that it needed for full queues.
@Suite(.timeLimit(.hang))
struct MemoryTests {
    /// Blocks of a frame's size are kept while there are such frames, and are then freed.
    @Test func theMemoryOfFullQueuesGoesBackToTheSystem() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            let broker = try #require(bus.brokerPID)
            func resident() -> UInt64 { ProcessFiles.memory(of: broker) ?? 0 }
            let owner = try bus.provider("Ant", "Big")
            let callers = try (0..<4).map { _ in try bus.connect("caller") }
            for caller in callers { try caller.hello(role: "operator") }
            let before = resident()
            for caller in callers {
                caller.isPaused = true
                for _ in 0..<100 {
                    try caller.call("Big/act")
                    try owner.reply(to: try owner.expectCall("Big/act"), .filler(64 << 10))
                }
            }
            try owner.settle()
            #expect(resident() > before + (16 << 20))
            for caller in callers { caller.close() }
            // A call's deadline is a wait of 100 ms. Kept blocks are freed after two periods.
            var rounds = 0
            while resident() > before + (6 << 20), rounds < 100 {
                let clock = try owner.call("Big/clock", nil, ["deadline": 100])
                try owner.expectCall("Big/clock")
                try owner.expectError(to: clock, "deadline-exceeded")
                try owner.expect(["kind": "cancel"])
                rounds += 1
            }
            #expect(rounds < 100, "\(resident() >> 20) MiB are left of \(before >> 20) at first")
        }
    }
}
