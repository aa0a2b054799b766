import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: how much of its limits a module has used.
@Suite(.timeLimit(.hang))
struct UsageTests {
    private func usage(of module: String, _ bus: TestBus) throws -> JSON {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return rows.first { $0["name"]?.string == module }?["usage"] ?? .null
    }

    private static let none: JSON = [
        "calls": 0, "queue": 0, "waiting": 0, "held": 0, "observations": 0, "interfaces": 0, "urls": 0, "instances": 0,
        "retained": 0,
    ]

    @Test(.promise("10.14")) func aModuleThatAsksForNothingUsesNothingAndAnAbsentOneHasNone() throws {
        try MemoryBus.run(.sixModules()) { bus in
            _ = try bus.module("Ant")
            #expect(try usage(of: "Ant", bus) == Self.none)
            #expect(try usage(of: "Bee", bus) == .null)
        }
    }

    @Test(.promise("10.14")) func aSessionsInterfacesObservationsAndRequestsAreCountedUntilItEnds() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.module(
                "Ant",
                [
                    "interfaces": ["Test": [:], "Cart": ["instances": "multiple"]],
                    "urls": [["host": "test", "path": "/", "to": "Test/act"]], "observes": ["a", "b", "c"],
                ])
            let caller = try bus.module("Bee")
            let calls = try (0..<3).map { _ in try caller.call("Test/act") }
            let instance = try caller.asked("bus/create", ["interface": "Cart"])["instance"] ?? .null
            #expect(try usage(of: "Ant", bus).matches(["observations": 3, "interfaces": 2, "urls": 1, "instances": 0]))
            #expect(try usage(of: "Bee", bus).matches(["calls": 3, "instances": 1, "interfaces": 0]))
            for id in calls {
                try owner.reply(to: try owner.expectCall("Test/act"))
                try caller.expectReply(to: id)
            }
            try caller.asked("bus/release", ["instance": instance])
            try owner.asked("bus/unregister", ["interfaces": ["Test": [:]]])
            try owner.asked("bus/unobserve", ["subscription": 1])
            #expect(try usage(of: "Ant", bus).matches(["observations": 2, "interfaces": 1, "urls": 0]))
            #expect(try usage(of: "Bee", bus) == Self.none)
        }
    }

    @Test(.promise("10.14")) func waitingBytesCountForTheSenderAndWaitingRequestsForTheOwner() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let caller = try bus.module("Bee")
            let starting = try bus.connect("Ant")
            try starting.hello("Ant", ["interfaces": ["Test": [:]]])
            let ids = try (0..<2).map { _ in try caller.call("Test/act", .filler(50_000)) }
            try caller.settle()
            #expect(try usage(of: "Ant", bus).matches(["waiting": 2, "held": 0]))
            let sent = try usage(of: "Bee", bus)
            #expect((100_000..<102_000).contains(sent["held"]?.integer ?? 0), "\(sent)")
            #expect(sent.matches(["calls": 2, "waiting": 0]))
            for step in ["setUp", "initialize"] { try starting.reply(to: try starting.expectCall("module/\(step)")) }
            for id in ids {
                try starting.reply(to: try starting.find(["kind": "call", "to": "Test/act"]))
                try caller.expectReply(to: id)
            }
            #expect(try usage(of: "Ant", bus).matches(["waiting": 0]))
            #expect(try usage(of: "Bee", bus) == Self.none)
        }
    }

    @Test(.promise("10.14")) func unsentBytesCountAsTheModulesQueue() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            owner.isPaused = true
            for _ in 0..<12 { try caller.call("Test/act", .filler(100_000)) }
            try caller.settle()
            #expect((1...1_300_000).contains(try usage(of: "Ant", bus)["queue"]?.integer ?? 0))
            owner.isPaused = false
            for _ in 0..<12 { try owner.expectCall("Test/act") }
            #expect(try usage(of: "Ant", bus)["queue"] == 0)
        }
    }
}
