import StrataCore
import StrataTesting
import Testing

/// The bus in memory that tests use.
@Suite(
    .timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "brokers are replaced, and have sockets"))
struct MemoryBusTests {
    @Test func timePassesWhenNothingElseIsDue() throws {
        try MemoryBus.run(.sixModules()) { bus in
            _ = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let start = bus.now
            let id = try caller.call("Test/act", nil, ["deadline": 3_600_000])
            try caller.settle()
            #expect(bus.now - start < .seconds(1))
            try caller.expectError(to: id, "deadline-exceeded", within: .seconds(4_000))
            #expect((3_599.0...3_601.0).contains((bus.now - start) / .seconds(1)))
        }
    }

    @Test func anUnmetExpectationFailsWithoutWaiting() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            let start = bus.now
            let failure = #expect(throws: TestFailure.self) { try peer.expect(["kind": "call"]) }
            #expect(failure?.description.contains("but nothing was received") == true)
            #expect(bus.now - start >= TestBus.patience)
        }
    }

    @Test func aScriptThatIsNotAtItsEndFails() {
        let failure = #expect(throws: TestFailure.self) {
            try MemoryBus.run(.sixModules()) { bus in _ = try bus.play("Bee") { $0.expectCall("Bee/act") } }
        }
        #expect(failure?.description.contains("Bee still waits for") == true)
    }

    @Test func aPeerThatReadsNothingIsSentNoMoreThanASocketTakes() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            callee.isPaused = true
            let ids = try (0..<12).map { _ in try caller.call("Test/act", .filler(30_000)) }
            callee.isPaused = false
            for _ in ids { try callee.expectCall("Test/act") }
            callee.isPaused = true
            let others = try (0..<12).map { _ in try caller.call("Test/act", .filler(30_000)) }
            callee.close()
            let ran = try others.map { try caller.expectError(to: $0, "died").ran }
            // 208 KiB hold seven frames and the beginning of one more.
            #expect(ran == Array(repeating: "maybe", count: 7) + Array(repeating: "no", count: 5))
            for id in ids { try caller.expectError(to: id, "died", ran: "maybe") }
        }
    }

    @Test func framesSentBeforeAPeerClosesAreHandled() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let sender = try bus.module("Ant")
            for _ in 0..<3 { try sender.send(["kind": "broadcast", "name": "news"]) }
            sender.close()
            for _ in 0..<3 { try observer.expectNotice("news") }
            try observer.expectNothing()
            try bus.waitUntil("Ant", is: "absent")
        }
    }

    @Test func itEndsInOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            bus.beginShutDown()
            try peer.expectEnd("shutting-down")
            #expect(peer.lifecycle.last == "tearDown")
            #expect(throws: SystemError.self) { try bus.connect() }
            try bus.waitUntilEnded()
        }
    }
}
