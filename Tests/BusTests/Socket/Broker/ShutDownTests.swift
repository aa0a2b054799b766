import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 11: the orderly end, in this process, and of the daemon at SIGTERM.
@Suite(.timeLimit(.hang))
struct ShutDownTests {
    @Test(.promise("11.9", "I.10")) func tearDownGoesInReverseOrderEqualsAtOnce() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peers = try ["Ant", "Ant2", "Bee", "Cat"].map { try bus.module($0) }
            for peer in peers { peer.answersLifecycle = false }
            bus.beginShutDown()
            let cat = try peers[3].expectCall("module/tearDown", nil, ["from": "bus"])
            for peer in peers[..<3] { try peer.expectNothing() }
            try peers[3].reply(to: cat)
            let bee = try peers[2].expectCall("module/tearDown")
            for peer in peers[..<2] { try peer.expectNothing() }
            try peers[2].fail(bee, "Bee.broken")
            let both = try [peers[0].expectCall("module/tearDown"), peers[1].expectCall("module/tearDown")]
            try peers[0].reply(to: both[0])
            try peers[0].settle()
            try peers[1].fail(both[1], "unknown-action")
            for peer in peers { try peer.expectEnd("shutting-down") }
            try bus.waitUntilEnded()
        }
    }

    @Test(.promise("11.18", "12.7")) func openRequestsAreAnsweredBeforeTheFarewell() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let tool = try bus.operator()
            let id = try caller.call("Test/act")
            try callee.expectCall("Test/act")
            let watch = try tool.call("bus/watch", nil, ["credit": 0])
            try tool.settle()
            bus.beginShutDown()
            try caller.expectError(to: id, "shutting-down", ran: "maybe")
            try caller.expectEnd("shutting-down")
            try tool.expectError(to: watch, "shutting-down")
            try tool.expectEnd("shutting-down")
            try callee.expectEnd("shutting-down")
            try bus.waitUntilEnded()
        }
    }

    @Test func callsStillPassWhileModulesAreTornDown() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let storage = try bus.provider("Ant", "Storage")
            let shop = try bus.module("Cat")
            shop.answersLifecycle = false
            bus.beginShutDown()
            let tearDown = try shop.expectCall("module/tearDown")
            let save = try shop.call("Storage/save")
            try storage.reply(to: try storage.expectCall("Storage/save"))
            try shop.expectReply(to: save)
            try shop.reply(to: tearDown)
            try shop.expectEnd("shutting-down")
        }
    }

    @Test(.promise("11.18")) func aHangingTearDownDoesNotDelayTheEndForever() throws {
        try MemoryBus.run(.sixModules { $0.modules[4].stop = 30 }) { bus in
            let hanging = try bus.module("Cat")
            hanging.answersLifecycle = false
            bus.beginShutDown()
            try hanging.expectCall("module/tearDown")
            try hanging.expectEnd("shutting-down")
            try bus.waitUntilEnded()
        }
    }

    @Test func aPeerThatReadsNothingDoesNotDelayTheEndForever() throws {
        let table = AppTable.sixModules { for row in $0.modules.indices { $0.modules[row].stop = 300 } }
        try TestBus.run(table) { bus in
            let slow = try bus.module("Cat", ["observes": ["news"]])
            slow.isPaused = true
            let sender = try bus.module("Ant")
            for _ in 0..<10 { #expect(try sender.recipients(ofBroadcast: "news", .filler(100_000)) == 1) }
            slow.answersLifecycle = false
            // It never reads its tearDown; its row allows 300 ms.
            slow.close()
            bus.beginShutDown()
            try bus.waitUntilEnded()
        }
    }

    @Test(.promise("11.18")) func theDaemonEndsInOrderAtSIGTERM() throws {
        try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            try callee.expectCall("Test/act")
            bus.beginShutDown()
            try caller.expectError(to: id, "shutting-down", ran: "maybe")
            try caller.expectEnd("shutting-down")
            try callee.expectEnd("shutting-down")
            #expect(callee.lifecycle.last == "tearDown")
            try bus.waitUntilEnded()
        }
    }

    /// A service may be told to stop twice.
    @Test func signalsThatComeWhileItEndsDontKillIt() throws {
        for _ in 0..<10 {
            try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
                _ = try bus.operator()
                let pid = try #require(bus.brokerPID)
                // Send signals until it has ended and is a zombie, which ignores them.
                for _ in 0..<2_000 {
                    kill(pid, SIGTERM)
                    sched_yield()
                }
                try bus.waitUntilEnded()
            }
        }
    }
}
