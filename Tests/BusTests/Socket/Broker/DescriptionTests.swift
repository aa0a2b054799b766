import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: the bus's descriptions of itself.
@Suite(.timeLimit(.hang))
struct DescriptionTests {
    @Test(.promise("10.12")) func levelsListsModulesInStartOrder() throws {
        let table = AppTable.testing(
            .manual("B"), .manual("A") { $0.priority = 1 }, .manual("C", rank: 2))
        try TestBus.run(table) { bus in
            let expected: JSON = [
                "levels": [
                    ["name": "basic", "rank": 0, "modules": ["A", "B"]], ["name": "middle", "rank": 1, "modules": []],
                    ["name": "topout", "rank": 2, "modules": ["C"]],
                ]
            ]
            let levels = try bus.operator().asked("bus/levels")
            #expect(levels == expected)
        }
    }

    @Test(.promise("10.13")) func levelsListsReportsWithinALevel() throws {
        let table = AppTable.testing(
            .manual("A"), .manual("B"), .manual("C", rank: 2),
            .manual("D", rank: 2) { row in
                row.reports = ["A", "C", "D"].map { .init(module: $0, names: ["x"]) }
            }, .manual("E", rank: 2), .manual("F", rank: 2))
        try MemoryBus.run(table) { bus in
            let tool = try bus.operator()
            func reporters() throws -> [JSON?] {
                try tool.asked("bus/levels")["levels"]?.array?.map { $0["reporters"] } ?? []
            }
            #expect(try reporters() == [nil, nil, [["module": "D", "declared": ["C"], "seen": []]]])
            // A report counts whether or not it arrives, because it was meant to. A report that a
            // level forbids doesn't count.
            let sender = try bus.module("D")
            for target in ["F", "E", "F", "D", "A"] {
                let id = try sender.report("x", to: target)
                if target != "D" { try sender.expectError(to: id, "unavailable") }
            }
            let other = try bus.module("B")
            try other.expectError(to: try other.report("x", to: "C"), "level-violation")
            #expect(
                try reporters() == [nil, nil, [["module": "D", "declared": ["C"], "seen": ["F", "E"]]]])
        }
    }

    @Test(.promise("10.13")) func onlySoManyReportedToAreKeptApart() throws {
        let rows = (0..<18).map { AppTable.Row.manual("M\($0)") }
        try MemoryBus.run(AppTable.testing(rows)) { bus in
            let sender = try bus.module("M0")
            for number in 1..<18 {
                try sender.expectError(to: try sender.report("x", to: "M\(number)"), "unavailable")
            }
            let levels = try bus.operator().asked("bus/levels")["levels"]?.array ?? []
            #expect(
                levels[0]["reporters"]?.array?.first?["seen"] == .array((1...16).map { .string("M\($0)") }))
        }
    }

    @Test(.promise("10.14")) func modulesListsStatesAndOpenRequests() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.call("Test/act")
            try callee.expectCall("Test/act")
            let modules = try caller.asked("bus/modules")["modules"]?.array ?? []
            #expect(modules.map { $0["name"]?.string } == ["Ant", "Ant2", "Bee", "Bee2", "Cat", "Cat2"])
            let live: JSON = [
                "level": "basic", "priority": 0, "state": "ready", "pid": .integer(Int64(getpid())),
                "uid": .integer(Int64(geteuid())), "restarts": 0, "open": 1, "waiting": 0, "queued": 0,
            ]
            #expect(modules[0].matches(live), "\(modules[0])")
            #expect(modules[1].matches(["state": "absent", "pid": nil, "uid": nil]), "\(modules[1])")
        }
    }

    @Test(.promise("10.14")) func restartsAreCounted() throws {
        try MemoryBus.run(.sixModules()) { bus in
            for _ in 0..<2 {
                try bus.module("Ant").close()
                try bus.waitUntil("Ant", is: "absent")
            }
            _ = try bus.module("Ant")
            let ant = try bus.operator().asked("bus/modules")["modules"]?.array?.first
            #expect(ant?["restarts"] == 2)
        }
    }

    /// The launcher knows the numbers of its own processes across the lives of all brokers.
    @Test(.promise("10.14")) func restartsAndStartsComeFromTheLauncher() throws {
        let table = AppTable.testing(.eager("Login", rank: 1))
        try MemoryBus.run(table) { bus in
            func login() throws -> JSON? { try bus.operator().asked("bus/modules")["modules"]?.array?.first }
            let launcher = try bus.launcher()
            func vouch(_ token: String, restarts: Int64, startedAt: Int64) throws {
                try launcher.asked(
                    "bus/vouch",
                    [
                        "module": "Login", "token": .string(token), "pid": .integer(Int64(getpid())),
                        "spawnedAt": .integer(startedAt * 1_000), "restarts": .integer(restarts),
                    ])
            }
            // The broker was started again, and the module was there before.
            try vouch("one", restarts: 3, startedAt: 86_400_000)
            let peer = try bus.connect("Login")
            try peer.hello("Login", ["token": "one", "resumed": true])
            #expect(try login()?["restarts"] == 3 && login()?["startedAt"] == 86_400_000)
            // It has lost only its connection.
            peer.close()
            try bus.waitUntil("Login", is: "restarting")
            #expect(try login()?["startedAt"] == .null)
            try bus.connect("Login").hello("Login", ["token": "one", "resumed": true])
            #expect(try login()?["restarts"] == 3 && login()?["startedAt"] == 86_400_000)
        }
    }

    /// Even if none of its processes came as far as hello.
    @Test(.promise("10.14")) func aModuleThatFailsSaysHowOftenItWasStarted() throws {
        try MemoryBus.run(.testing(.eager("Login", rank: 1))) { bus in
            try bus.launcher().asked(
                "bus/moduleState", ["module": "Login", "state": "failed", "reason": "no", "restarts": 9])
            let login = try bus.operator().asked("bus/modules")["modules"]?.array?.first
            #expect(login?["restarts"] == 9 && login?["state"] == "failed")
        }
    }

    @Test(.promise("5.14", "10.12", "S.4")) func interfacesListsActionsURLsAndWhoRequiresThem() throws {
        let table = AppTable.sixModules {
            $0.modules[0].provides = ["Stored"]
            $0.modules[2].requires = ["Shop"]
        }
        try MemoryBus.run(table) { bus in
            _ = try bus.module(
                "Cat",
                [
                    "interfaces": ["Shop": ["actions": ["item": ["auth": true], "changes": ["stream": true]]]],
                    "urls": [
                        ["host": "shop", "path": "/item/:id", "to": "Shop/item"],
                        ["host": "shop", "path": "/all", "to": "Shop/item"],
                        ["host": "basket", "path": "/item", "to": "Shop/item"],
                    ],
                ])
            _ = try bus.module("Bee2", ["requires": ["ShopRouter"]])
            let interfaces = try bus.operator().asked("bus/interfaces")["interfaces"]?.array ?? []
            #expect(interfaces.map { $0["name"]?.string } == ["Shop", "Stored"])
            let shop: JSON = [
                "module": "Cat", "instances": "single",
                "actions": [["name": "item", "auth": true], ["name": "changes", "auth": false, "stream": true]],
                "urls": [
                    ["host": "basket", "path": "/item", "to": "Shop/item"],
                    ["host": "shop", "path": "/all", "to": "Shop/item"],
                    ["host": "shop", "path": "/item/:id", "to": "Shop/item"],
                ], "requiredBy": ["Bee", "Bee2"],
            ]
            #expect(interfaces[0].matches(shop), "\(interfaces[0])")
            #expect(interfaces[1].matches(["module": "Ant"]))
        }
    }

    @Test(.promise("10.9")) func namesListsEventsAndNotificationsOnce() throws {
        let table = AppTable.testing(
            .manual("Ant") { $0.broadcasts = ["item.gone", "item.added"] }, .manual("Bee"), .manual("Cat"))
        try MemoryBus.run(table) { bus in
            _ = try bus.module("Bee", ["events": ["b.event", "a.event"], "observes": ["item.added", "z"]])
            let cat = try bus.module("Cat", ["events": ["a.event"], "observes": ["z"]])
            let names = try bus.operator().asked("bus/names")
            #expect(
                names == [
                    "events": ["a.event", "b.event"], "patterns": [],
                    "notifications": ["item.added", "item.gone", "z"],
                ])
            cat.close()
            #expect(try bus.operator().asked("bus/names")["events"]?.array?.first == "a.event")
        }
    }

    @Test(.promise("10.9")) func namesEndAtTheirBound() throws {
        let many = (0..<1_100).map { JSON.string("event\($0)") }
        try MemoryBus.run(.testing(.manual("Ant"))) { bus in
            _ = try bus.module("Ant", ["events": .array(many)])
            #expect(try bus.operator().asked("bus/names")["events"]?.array?.count == 1_024)
        }
    }

    @Test(.promise("10.12")) func statsCountsWhatPassed() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            func counters() throws -> [String: Int64] {
                let members = try tool.asked("bus/stats")["counters"]?.object ?? []
                return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.integer ?? -1) })
            }
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            let caller = try bus.module("Cat", ["observes": ["news"]])
            let before = try counters()
            let id = try caller.call("Test/act")
            try callee.reply(to: try callee.expectCall("Test/act"))
            try caller.expectReply(to: id)
            #expect(try callee.recipients(ofBroadcast: "news") == 1)
            let bad = try callee.report("news", to: "Cat")
            try callee.expectError(to: bad, "level-violation")
            let good = try caller.report("news", to: "Ant")
            try callee.reply(to: try callee.expectNotice("news"))
            try caller.expectReply(to: good)
            let after = try counters()
            func grown(_ name: String) -> Int64 { after[name, default: -1] - before[name, default: 0] }
            #expect(grown("broadcasts") == 1)
            #expect(grown("notices") == 2)
            #expect(grown("reports") == 1)
            #expect(grown("violations") == 1)
            for name in ["calls", "replies", "errors", "dropped", "slowConsumers", "badFrames"] {
                #expect(after[name] != nil, "\(name)")
            }
            #expect(grown("calls") == 2, "one and the second bus/stats")
            #expect(try tool.asked("bus/stats")["errors"] == ["level-violation": 1])
            let times = try tool.asked("bus/stats")["callMicroseconds"]
            #expect(times?["count"] == 1)
            #expect((times?["max"]?.integer ?? -1) >= (times?["p50"]?.integer ?? 0))
        }
    }

    @Test func errorsAreCountedByCodeAndAllOfModulesOwnAsOne() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let tool = try bus.operator()
            for code in ["Test.lost", "Test.found", "failed", "unavailable"] {
                let id = try caller.call("Test/act")
                try callee.fail(try callee.expectCall("Test/act"), code, "no")
                // A callee may send only a few of the bus's codes.
                try caller.expectError(to: id, code == "unavailable" ? "failed" : code)
            }
            try caller.refused("None/act", with: "unknown-interface")
            let stats = try tool.asked("bus/stats")
            #expect(stats["errors"] == ["failed": 2, "unknown-interface": 1, "modules-own": 2])
            #expect(stats["counters"]?["errors"] == 5)
        }
    }
}
