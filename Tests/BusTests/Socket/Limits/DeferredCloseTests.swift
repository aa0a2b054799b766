import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// Ends of peers that have asked for much, or sent much, while other peers wait.
@Suite(.timeLimit(.hang))
struct DeferredCloseTests {
    private static let table = AppTable.testing([.manual("Ant"), .manual("Bee"), .manual("Cat")]) {
        $0.guests = .init(rank: 2, most: 80)
    }
    private static let requests = 1_000

    /// Connects a peer with many open requests at `Ant`, which has received them.
    private static func asking(_ name: String, _ bus: TestBus, _ owner: RawPeer, _ count: Int) throws -> RawPeer {
        let peer = try bus.module(name)
        for _ in 0..<count { try peer.call("Work/act") }
        for _ in 0..<count { try owner.expectCall("Work/act") }
        return peer
    }

    @Test func otherPeersAreServedBeforeAllRequestsAreCancelled() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.provider("Ant", "Work")
            let gone = try Self.asking("Gone", bus, owner, Self.requests)
            let other = try bus.module("Bee")
            let light = try bus.lightModule("Cat")
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                gone.close()
                try other.call("Work/second")
            }
            try owner.expectCall("Work/first")
            // Handled in the same round as the end, after it.
            try owner.expectCall("Work/second")
            for _ in 0..<Self.requests { try owner.expect(["kind": "cancel"]) }
        }
    }

    /// The callee's answers, and other peers' frames, arrive while a peer's end is under way.
    @Test func answersThatComeMeanwhileAreDropped() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.provider("Ant", "Work")
            let gone = try bus.module("Gone")
            for _ in 0..<Self.requests { try gone.call("Work/act") }
            let calls = try (0..<Self.requests).map { _ in try owner.expectCall("Work/act") }
            let light = try bus.lightModule("Cat")
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                gone.close()
                for call in calls.prefix(100) { try owner.reply(to: call, .filler(100)) }
            }
            try owner.expectCall("Work/first")
            try owner.settle()
            // Requests that were answered before their turn came need no cancel.
            let cancelled = try owner.drain()
            #expect(cancelled.allSatisfy { $0.kind == "cancel" } && cancelled.count <= Self.requests)
            // Only `Work/first` is still open.
            let modules = try bus.operator().asked("bus/modules")["modules"]?.array
            #expect(modules?.first { $0["name"] == "Ant" }?["open"] == 1)
        }
    }

    /// More peers than the broker ends in batches at the same time.
    @Test func everyRequestOfManyClosedPeersEnds() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.provider("Ant", "Work")
            let gone = try (0..<70).map { try Self.asking("Gone\($0)", bus, owner, 140) }
            let light = try bus.lightModule("Cat")
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                for peer in gone { peer.close() }
            }
            try owner.expectCall("Work/first")
            for _ in 0..<70 * 140 { try owner.expect(["kind": "cancel"]) }
        }
    }

    @Test func theAppsEndEndsThemAll() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.provider("Ant", "Work")
            let gone = try Self.asking("Gone", bus, owner, Self.requests)
            let light = try bus.lightModule("Cat")
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                gone.close()
                bus.beginShutDown()
            }
            try owner.expectCall("Work/first")
            for _ in 0..<Self.requests { try owner.expect(["kind": "cancel"]) }
            try owner.find(["kind": "error", "code": "shutting-down"])
        }
    }

    /// A peer that closes is read to its last frame, even though its socket accepts nothing any
    /// more. This holds in short turns, too.
    @Test func framesOfAClosedPeerAreReadInShortTurns() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let speaker = try bus.provider("Ant", "Talk")
            let observer = try bus.module("Observer", ["observes": ["news"]])
            let asking = try bus.module("Gone")
            let light = try bus.lightModule("Cat")
            let frame = FrameBytes.frame(["kind": "broadcast", "name": "news"], body: .filler(500))
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                // The broker writes to it before it has read everything from it.
                try asking.call("Talk/act")
                try speaker.send(bytes: Array(repeatElement(frame, count: 150).joined()))
                speaker.close()
            }
            for _ in 0..<150 { try observer.expectNotice("news") }
            try asking.find(["kind": "error", "code": "died"])
        }
    }
}
