import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// `bus/timeline`: when each step of a module's start happened.
@Suite(.timeLimit(.hang))
struct TimelineTests {
    private static let marks = [
        "spawned", "connected", "setUpBegun", "setUpEnded", "initializeBegun", "initializeEnded", "ready",
    ]

    private func timeline(_ bus: TestBus) throws -> JSON { try bus.operator().asked("bus/timeline") }

    private func row(_ name: String, _ bus: TestBus) throws -> JSON {
        let rows = try timeline(bus)["modules"]?.array ?? []
        return try #require(rows.first { $0["name"]?.string == name })
    }

    /// Returns the names of the times that a row has.
    private func known(_ row: JSON) -> [String] { (Self.marks + ["ended"]).filter { row[$0] != nil } }

    private func tell(_ bus: TestBus, _ module: String, _ state: String, spawnedAt: UInt64) throws {
        try bus.launcher().asked(
            "bus/moduleState",
            [
                "module": .string(module), "state": .string(state), "reason": "the test says so",
                "spawnedAt": .integer(Int64(spawnedAt)),
            ])
    }

    @Test(.promise("10.36", "I.12")) func eachStepOfALaunchedModuleHasItsTime() throws {
        try TestBus.run(.testing(.eager("Shop", rank: 1))) { bus in
            let spawnedAt = Loop.wallMicroseconds - 5_000
            try tell(bus, "Shop", "starting", spawnedAt: spawnedAt)
            #expect(known(try row("Shop", bus)) == ["spawned"])
            let token = try bus.vouch(for: "Shop")
            let shop = try bus.connect("Shop")
            try shop.hello("Shop", ["token": .string(token)])
            for (step, so) in [("setUp", 3), ("initialize", 5)] {
                let call = try shop.expectCall("module/\(step)")
                #expect(known(try row("Shop", bus)) == Array(Self.marks.prefix(so)))
                try shop.reply(to: call)
            }
            try shop.reply(to: try shop.expectCall("module/didStart"))
            try shop.settle()

            let done = try row("Shop", bus)
            #expect(known(done) == Self.marks)
            #expect(done["spawned"] == .integer(Int64(spawnedAt)))
            #expect(done.matches(["level": "middle", "start": "eager", "state": "ready"]), "\(done)")
            let times = Self.marks.map { done[$0]?.integer ?? 0 }
            #expect(times == times.sorted())
            let lasted = try #require(done["microseconds"])
            #expect(lasted["connect"]?.integer == times[1] - times[0])
            #expect(times[1] - times[0] >= 5_000)
            #expect(lasted["setUp"]?.integer == times[3] - times[2])
            #expect(lasted["initialize"]?.integer == times[5] - times[4])
            #expect(lasted["all"]?.integer == times[6] - times[0])
        }
    }

    @Test func theAppsStartBeginsWithTheLauncherAndEndsWhenAllAreReady() throws {
        try MemoryBus.run(.testing(.eager("Shop"), .manual("Cat"))) { bus in
            #expect(try timeline(bus)["app"] == ["name": "test"])
            let token = try bus.vouch(for: "Shop")
            let begun = try timeline(bus)["app"]
            #expect(begun?["begun"]?.integer != nil && begun?["ready"] == nil)
            _ = try bus.module("Shop", ["token": .string(token)])
            let app = try #require(try timeline(bus)["app"])
            let (from, to) = (app["begun"]?.integer ?? 0, app["ready"]?.integer ?? 0)
            #expect(from > 0 && to >= from && app["microseconds"]?.integer == to - from)
            // Modules that start later or again don't change it.
            _ = try bus.module("Cat")
            #expect(try timeline(bus)["app"] == app)
        }
    }

    @Test func anAppThatWaitsForNoModuleIsReadyAtOnce() throws {
        try MemoryBus.run(.testing(.manual("Cat"))) { bus in
            _ = try bus.module("Cat")
            _ = try bus.launcher()
            #expect(try timeline(bus)["app"]?["ready"]?.integer != nil)
        }
    }

    @Test(.promise("10.36")) func aModuleThatNeverConnectedSaysSo() throws {
        try TestBus.run(.testing(.eager("Shop"), .eager("Till"))) { bus in
            try tell(bus, "Shop", "starting", spawnedAt: Loop.wallMicroseconds)
            try tell(bus, "Shop", "failed", spawnedAt: Loop.wallMicroseconds)
            let shop = try row("Shop", bus)
            #expect(known(shop) == ["spawned", "ended"])
            #expect(shop.matches(["state": "failed", "reason": "the test says so"]))
            let till = try row("Till", bus)
            #expect(known(till).isEmpty && till["microseconds"] == nil)
        }
    }

    @Test(.promise("10.36")) func aStartThatFailedEndsWithItsStep() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant")
            try module.fail(try module.expectCall("module/setUp"), "Ant.broken", "no disk")
            try module.expectEnd("failed")
            try bus.waitUntil("Ant", is: "absent")
            #expect(known(try row("Ant", bus)) == ["connected", "setUpBegun", "ended"])
        }
    }

    @Test(.promise("10.36")) func theLastStartIsTold() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").close()
            try bus.waitUntil("Ant", is: "absent")
            // It was ready, so its start has no other end.
            let first = try row("Ant", bus)
            #expect(known(first) == Array(Self.marks.dropFirst()))
            _ = try bus.module("Ant")
            let second = try row("Ant", bus)
            #expect(known(second) == known(first))
            #expect((second["connected"]?.integer ?? 0) >= (first["ready"]?.integer ?? .max))
        }
    }

    @Test(.promise("10.36")) func aSessionThatResumesKeepsItsProcessesStart() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").close()
            try bus.waitUntil("Ant", is: "absent")
            let first = try row("Ant", bus)
            try bus.connect("Ant").hello("Ant", ["resumed": true])
            let second = try row("Ant", bus)
            for mark in Self.marks { #expect(second[mark] == first[mark]) }
            // A module whose start this broker has not seen.
            try bus.connect("Bee").hello("Bee", ["resumed": true])
            let bee = try row("Bee", bus)
            #expect(known(bee) == ["connected", "ready"])
            #expect(bee["resumed"] == true && bee["microseconds"] == nil)
        }
    }

    // MARK: a module's own marks

    private func marks(_ module: String, _ bus: TestBus) throws -> [String?] {
        (try row(module, bus)["marks"]?.array ?? []).map { $0["name"]?.string }
    }

    @Test(.promise("10.38")) func aModulesOwnMarksHaveTheirTimes() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let ant = try bus.connect("Ant")
            try ant.hello("Ant")
            let setUp = try ant.expectCall("module/setUp")
            // Within its start, as part of it, and after it.
            #expect(try ant.asked("bus/mark", ["name": "cache\nloaded"], ["parent": setUp.number]) == [:])
            try ant.reply(to: setUp)
            try ant.reply(to: try ant.expectCall("module/initialize"))
            try ant.reply(to: try ant.expectCall("module/didStart"))
            for _ in 0..<2 { try ant.asked("bus/mark", ["name": "index read", "more": 1]) }
            let ant0 = try row("Ant", bus)
            let times = try #require(ant0["marks"]?.array?.map { $0["at"]?.integer ?? 0 })
            #expect(try marks("Ant", bus) == ["cache\nloaded", "index read", "index read"])
            #expect(times == times.sorted() && times[0] >= ant0["setUpBegun"]?.integer ?? .max)
            #expect(times[0] <= ant0["setUpEnded"]?.integer ?? 0 && times[1] >= ant0["ready"]?.integer ?? .max)
            #expect(try row("Bee", bus)["marks"] == nil)
        }
    }

    @Test(.promise("10.38")) func sixtyFourMarksOfUpTo256BytesAreKept() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            for body: JSON? in [
                nil, [:], ["name": nil], ["name": 1], ["name": ""],
                ["name": .string(String(repeating: "ä", count: 129))],
                [],
            ] { try ant.refused("bus/mark", body, with: "bad-params") }
            let longest = String(repeating: "ä", count: 128)
            for _ in 0..<64 { try ant.asked("bus/mark", ["name": .string(longest)]) }
            try ant.refused("bus/mark", ["name": "one more"], with: "overloaded")
            #expect(try marks("Ant", bus) == Array(repeating: longest, count: 64))
            for peer in [try bus.operator(), try bus.launcher()] {
                try peer.refused("bus/mark", ["name": "x"], with: "forbidden")
            }
        }
    }

    @Test(.promise("10.38")) func theNextStartBeginsWithoutMarks() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            try ant.asked("bus/mark", ["name": "one"])
            ant.close()
            try bus.waitUntil("Ant", is: "absent")
            #expect(try marks("Ant", bus) == ["one"])
            // The same process comes back.
            let resumed = try bus.connect("Ant")
            try resumed.hello("Ant", ["resumed": true])
            try resumed.asked("bus/mark", ["name": "two"])
            #expect(try marks("Ant", bus) == ["one", "two"])
            resumed.close()
            try bus.waitUntil("Ant", is: "absent")
            _ = try bus.module("Ant")
            #expect(try marks("Ant", bus) == [])
        }
    }

    @Test func theLauncherThatSaysASpawnAgainBeginsNothing() throws {
        try TestBus.run(.testing(.eager("Shop"))) { bus in
            let spawnedAt = Loop.wallMicroseconds - 1_000_000
            try tell(bus, "Shop", "starting", spawnedAt: spawnedAt)
            let first = try row("Shop", bus)
            try tell(bus, "Shop", "starting", spawnedAt: spawnedAt)
            #expect(try row("Shop", bus) == first)
            try tell(bus, "Shop", "starting", spawnedAt: spawnedAt + 500)
            #expect(try row("Shop", bus)["spawned"] == .integer(Int64(spawnedAt + 500)))
        }
    }

    @Test(.promise("10.37")) func underOverlapTheNewProcessesStartIsTold() throws {
        let table = AppTable.testing(.eager("Shop", provides: ["Shop"]) { $0.replace = .overlap })
        try TestBus.run(table) { bus in
            let hello: JSON = ["interfaces": ["Shop": [:]]]
            let old = try bus.process(of: "Shop", hello)
            try old.peer.becomeReady()
            try old.peer.asked("bus/mark", ["name": "old"])
            let first = try row("Shop", bus)
            let new = try OtherProcess(bus, "Shop", answersLifecycle: false)
            let spawnedAt = Int64(Loop.wallMicroseconds)
            try bus.launcher().asked(
                "bus/vouch",
                ["module": "Shop", "token": "next", "pid": .integer(Int64(new.pid)), "spawnedAt": .integer(spawnedAt)])
            try new.peer.hello("Shop", ["token": "next", "interfaces": ["Shop": [:]]])
            let setUp = try new.peer.expectCall("module/setUp")
            // Until it is ready, the old process's times are reported.
            try new.peer.asked("bus/mark", ["name": "new"])
            #expect(try row("Shop", bus)["connected"] == first["connected"])
            #expect(try marks("Shop", bus) == ["old"])
            try new.peer.reply(to: setUp)
            try new.peer.reply(to: try new.peer.expectCall("module/initialize"))
            try new.peer.reply(to: try new.peer.expectCall("module/didStart"))
            try new.peer.settle()
            let second = try row("Shop", bus)
            #expect(known(second) == Self.marks)
            #expect(second["spawned"] == .integer(spawnedAt))
            #expect(try marks("Shop", bus) == ["new"])
        }
    }

    @Test(.promise("10.36")) func onlyOperatorsAreTold() throws {
        try MemoryBus.run(.sixModules()) { bus in
            for peer in [try bus.module("Ant"), try bus.launcher()] {
                try peer.refused("bus/timeline", with: "forbidden")
            }
        }
    }

    @Test(.promise("10.37")) func theTimesPassToTheNextProgram() throws {
        try TestBus.run(
            .testing(.eager("Shop"), .eager("Till")), executable: try BuiltExecutable.path("strata-broker")
        ) { bus in
            try tell(bus, "Shop", "starting", spawnedAt: Loop.wallMicroseconds)
            let shop = try bus.connect("Shop")
            try shop.hello("Shop", ["token": .string(try bus.vouch(for: "Shop"))])
            let setUp = try shop.expectCall("module/setUp")
            try shop.asked("bus/mark", ["name": "begun"])
            let before = try timeline(bus)
            try bus.operator().asked("bus/handOver")
            #expect(try timeline(bus) == before)
            try shop.reply(to: setUp)
            try shop.settle()
            let after = try row("Shop", bus)
            #expect(known(after) == ["spawned", "connected", "setUpBegun", "setUpEnded"])
            #expect(try marks("Shop", bus) == ["begun"])
        }
    }
}
