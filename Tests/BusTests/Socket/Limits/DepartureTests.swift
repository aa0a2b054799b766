import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// Ends of peers that have asked for much, or said much, while others wait.
@Suite(.timeLimit(.hang))
struct DepartureTests {
    private static let table = AppTable.testing([.manual("Ant"), .manual("Bee"), .manual("Cat")]) {
        $0.guests = .init(rank: 2, most: 80)
    }
    private static let requests = 1_000

    /// A peer with many requests open at `Ant`, which has got them.
    private static func asking(_ name: String, _ bus: TestBus, _ owner: RawPeer, _ count: Int) throws -> RawPeer {
        let peer = try bus.module(name)
        for _ in 0..<count { try peer.call("Work/act") }
        for _ in 0..<count { try owner.expectCall("Work/act") }
        return peer
    }

    @Test func othersHaveTheirTurnsBeforeAllRequestsAreCancelled() throws {
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

    /// What the callee answers, and what comes to be known of a gone peer, in between.
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
            // `Work/first` alone is open still.
            let modules = try bus.operator().asked("bus/modules")["modules"]?.array
            #expect(modules?.first { $0["name"] == "Ant" }?["open"] == 1)
        }
    }

    /// More peers than end in pieces at a time.
    @Test func noRequestOfManyGonePeersIsForgotten() throws {
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

    /// A peer that closes has been heard to its last word, though its socket takes
    /// nothing any more; in small turns too.
    @Test func whatAGonePeerSaidIsHeardInShortTurns() throws {
        try TestBus.run(Self.table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let speaker = try bus.provider("Ant", "Talk")
            let observer = try bus.module("Observer", ["observes": ["news"]])
            let asking = try bus.module("Gone")
            let light = try bus.lightModule("Cat")
            let frame = FrameBytes.frame(["kind": "broadcast", "name": "news"], body: .filler(500))
            try bus.whileBrokerIsHalted {
                try light.call("Work/first")
                // It is written to before all that it has said is read.
                try asking.call("Talk/act")
                try speaker.send(bytes: Array(repeatElement(frame, count: 150).joined()))
                speaker.close()
            }
            for _ in 0..<150 { try observer.expectNotice("news") }
            try asking.find(["kind": "error", "code": "died"])
        }
    }
}
