import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 11 on `module/settings`: values that a reload changed.
@Suite(.timeLimit(.hang))
struct ChangedSettingsTests {
    private func table(_ page: Int64, key: String = "hunter2", _ change: (inout AppTable) -> Void = { _ in })
        -> AppTable
    {
        SettingsTests.table {
            $0.settings = ["page": .integer(page), "title": "All"]
            $0.modules[0].secrets = [.init("key", key)]
            change(&$0)
        }
    }

    private func ant(_ bus: TestBus, _ hello: JSON = [:]) throws -> RawPeer {
        try bus.module("Ant", SettingsTests.declared.with(hello))
    }

    private func pending(_ bus: TestBus, _ module: String = "Ant") throws -> JSON {
        let modules = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return modules.first { $0["name"]?.string == module }?["pending"] ?? .null
    }

    private func reload(_ bus: TestBus, _ table: AppTable) throws {
        #expect(try bus.reload(table).kind == "reply")
    }

    @Test(.promise("11.40")) func onlyModulesWhoseOwnValuesChangedAreCalled() throws {
        try TestBus.run(table(20)) { bus in
            let ant = try ant(bus)
            let bee = try bus.module("Bee", ["settings": ["title", "key"]])
            let cat = try bus.module("Cat")
            try reload(bus, table(30))
            let call = try ant.expectCall("module/settings", nil, ["from": "bus", "deadline": 30_000])
            #expect(call.json == ["settings": ["page": 30, "key": "hunter2", "title": "Ants"]])
            try ant.reply(to: call)
            try reload(bus, table(30, key: "another"))
            #expect(try ant.expectCall("module/settings").json["settings"]?["key"] == "another")
            for peer in [bee, cat] { try peer.expectNothing() }
            // A new session gets them at once.
            cat.close()
            #expect(try bus.module("Cat").welcome["settings"]?["page"] == 30)
        }
    }

    @Test(.promise("11.40")) func valueThatCameOrWentIsAChange() throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try ant(bus)
            try reload(bus, table(20) { $0.settings = ["none": nil, "page": 20] })
            let came = try ant.expectCall("module/settings")
            #expect(came.json["settings"] == ["page": 20, "key": "hunter2", "title": "Ants", "none": nil])
            try ant.reply(to: came)
            try reload(bus, table(20) { $0.modules[0].settings = [] })
            #expect(try ant.expectCall("module/settings").json["settings"]?["title"] == "All")
        }
    }

    @Test(.promise("11.41"), arguments: ["unknown-action", "failed", "Ant.no"])
    func refusedValuesArePending(code: String) throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try ant(bus)
            try reload(bus, table(30, key: "another"))
            try ant.fail(try ant.expectCall("module/settings"), code, "not now")
            #expect(try pending(bus) == ["settings.page", "settings.key"])
            // The same values aren't offered again, others are.
            try reload(bus, table(30, key: "another"))
            try ant.expectNothing()
            try reload(bus, table(40))
            #expect(try pending(bus) == ["settings.page"])
            try ant.reply(to: try ant.expectCall("module/settings"))
            try ant.settle()
            #expect(try pending(bus) == nil)
        }
    }

    @Test(.promise("11.41")) func pendingEndsWithTheOldValues() throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try ant(bus)
            try reload(bus, table(30))
            try ant.fail(try ant.expectCall("module/settings"), "failed")
            try reload(bus, table(20))
            try ant.expectNothing()
            #expect(try pending(bus) == nil)
            try reload(bus, table(30))
            try ant.expectCall("module/settings")
        }
    }

    @Test(.promise("11.41")) func pendingEndsWithTheNextSession() throws {
        try MemoryBus.run(table(20)) { bus in
            let first = try ant(bus)
            try reload(bus, table(30))
            try first.fail(try first.expectCall("module/settings"), "failed")
            #expect(try pending(bus) == ["settings.page"])
            first.close()
            #expect(try pending(bus) == nil)
            _ = try ant(bus)
            #expect(try pending(bus) == nil)
        }
    }

    @Test(.promise("11.41")) func silenceForStartupIsARefusal() throws {
        try MemoryBus.run(table(20) { $0.startup = 50 }) { bus in
            let ant = try ant(bus)
            try reload(bus, table(30) { $0.startup = 50 })
            let call = try ant.expectCall("module/settings")
            try ant.expect(["kind": "cancel", "id": call.number])
            #expect(try pending(bus) == ["settings.page"])
            // A late answer changes nothing.
            try ant.reply(to: call)
            try ant.settle()
            #expect(try pending(bus) == ["settings.page"])
            #expect(try bus.state(of: "Ant") == "ready")
        }
    }

    @Test(.promise("11.40")) func oneCallIsOpenAndTheLastValuesCome() throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try ant(bus)
            try reload(bus, table(30))
            let first = try ant.expectCall("module/settings")
            try reload(bus, table(40))
            try reload(bus, table(50))
            try ant.expectNothing()
            #expect(try pending(bus) == ["settings.page"])
            try ant.reply(to: first)
            let second = try ant.expectCall("module/settings")
            #expect(second.json["settings"]?["page"] == 50)
            // Back to what it took first, while it is asked for another value.
            try reload(bus, table(30))
            try ant.reply(to: second)
            #expect(try ant.expectCall("module/settings").json["settings"]?["page"] == 30)
        }
    }

    @Test(.promise("11.40")) func changeDuringSetUpComesAfterIt() throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try bus.connect("Ant")
            try ant.hello("Ant", SettingsTests.declared)
            let setUp = try ant.expectCall("module/setUp")
            try reload(bus, table(30))
            try ant.expectNothing()
            try ant.reply(to: setUp)
            try ant.find(["kind": "call", "to": "module/initialize"])
            #expect(try ant.find(["kind": "call", "to": "module/settings"]).json["settings"]?["page"] == 30)
        }
    }

    @Test(.promise("11.40")) func setUpHasTheValuesOfItsTime() throws {
        let table = table(20) { $0.modules[1].start = .eager }
        try MemoryBus.run(table, isLaunched: true) { bus in
            _ = try bus.launcher()
            let ant = try bus.connect("Ant")
            try ant.hello("Ant", SettingsTests.declared.with(["more": true]))
            try reload(bus, self.table(30) { $0.modules[1].start = .eager })
            try ant.expectNothing()
            try ant.asked("bus/register", [:])
            #expect(try ant.expectCall("module/setUp").json["settings"]?["page"] == 30)
        }
    }

    /// Nobody knows what a process has that comes back after its broker's death.
    @Test(.promise("11.42")) func resumedModuleIsCalledOnce() throws {
        try MemoryBus.run(table(20)) { bus in
            let ant = try bus.connect("Ant")
            try ant.hello("Ant", SettingsTests.declared.with(["resumed": true]))
            let call = try ant.expectCall("module/settings")
            #expect(call.json["settings"] == ["page": 20, "key": "hunter2", "title": "Ants"])
            try ant.reply(to: call)
            try ant.expectNothing()
            #expect(try pending(bus) == nil)
            ant.close()
            let other = try bus.connect("Ant")
            try other.hello("Ant", SettingsTests.declared.with(["resumed": true, "more": true]))
            try other.expectNothing()
            try other.asked("bus/register", [:])
            try other.fail(try other.expectCall("module/settings"), "failed")
            try other.settle()
            #expect(try pending(bus) == ["settings.page", "settings.key", "settings.title"])
        }
    }

    @Test(.promise("11.40")) func bothSessionsOfAnOverlapHaveTheirOwn() throws {
        func table(_ page: Int64) -> AppTable {
            let shop = AppTable.Row.eager("Shop") {
                $0.replace = .overlap
                $0.stop = 60_000
            }
            return .testing(shop) { $0.settings = ["page": .integer(page)] }
        }
        try TestBus.run(table(20)) { bus in
            let old = try bus.process(of: "Shop", ["settings": ["page"], "interfaces": ["Shop": [:]]])
            try old.peer.becomeReady()
            let call = try bus.operator().call("Shop/act")
            let act = try old.peer.expectCall("Shop/act")
            try reload(bus, table(30))
            let first = try old.peer.expectCall("module/settings")
            let new = try bus.process(of: "Shop", ["settings": ["page"]], answersLifecycle: false)
            #expect(new.peer.welcome["settings"] == ["page": 30])
            let setUp = try new.peer.expectCall("module/setUp")
            try reload(bus, table(40))
            try new.peer.reply(to: setUp)
            #expect(try new.peer.find(["kind": "call", "to": "module/settings"]).json == ["settings": ["page": 40]])
            try new.peer.reply(to: try new.peer.expectCall("module/initialize"))
            try new.peer.expectCall("module/didStart")
            // What the old one answers now leads to nothing more.
            try old.peer.reply(to: first)
            try reload(bus, table(50))
            try old.peer.expectNothing()
            try old.peer.reply(to: act)
            try bus.operator().expectReply(to: call)
            #expect(try pending(bus, "Shop") == ["settings.page"])
        }
    }

    @Test(.promise("11.40")) func whoIsToldToTearDownIsNotCalled() throws {
        try MemoryBus.run(.testing(.eager("Shop")) { $0.settings = ["page": 1] }, isLaunched: true) { bus in
            let launcher = try bus.launcher()
            let shop = try bus.connect("Shop")
            try shop.hello("Shop", ["token": .string(try bus.vouch(for: "Shop")), "settings": ["page"]])
            for step in ["setUp", "initialize", "didStart"] {
                try shop.reply(to: try shop.expectCall("module/\(step)"))
            }
            try shop.settle()
            try launcher.call("bus/retire", ["module": "Shop"])
            try shop.expectCall("module/tearDown")
            try reload(bus, .testing(.eager("Shop")) { $0.settings = ["page": 2] })
            try shop.expectNothing()
        }
    }

    // MARK: bounds and hand-over

    /// Many sessions are compared in batches, which other peers' turns interrupt.
    @Test(.promise("13.60")) func manyModulesAreCalledInBatches() throws {
        let rows = (0..<300).map { AppTable.Row.manual("M\($0)") }
        func table(_ value: Int64) -> AppTable {
            .testing(rows) { $0.settings = .object((0..<100).map { .init("s\($0)", .integer(value)) }) }
        }
        let memory = MemoryBus(table(1), isLaunched: false)
        try TestBus(table(1), memory).run { bus in
            let hello: JSON = ["settings": .array((0..<100).map { .string("s\($0)") })]
            let peers = try rows.map { try bus.module($0.name, hello) }
            try reload(bus, table(2))
            for peer in peers { #expect(try peer.expectCall("module/settings").json["settings"]?["s99"] == 2) }
        }
        var work = IdleWork()
        work.compareSettings(of: [1, 2, 3])
        let first = work.takeSettingsToCompare()
        #expect(first == 1 && !work.isEmpty)
        // A further reload begins anew.
        work.compareSettings(of: [1, 2])
        let rest = (0..<3).map { _ in work.takeSettingsToCompare() }
        #expect(rest == [1, 2, nil] && work.isEmpty)
    }

    @Test(.promise("11.43")) func everythingPassesToTheNextProgram() throws {
        let memory = MemoryBus(table(20), isLaunched: false)
        try TestBus(table(20), memory).run { bus in
            let ant = try ant(bus)
            let bee = try bus.module("Bee", ["settings": ["page"]])
            try reload(bus, table(30))
            try bee.fail(try bee.expectCall("module/settings"), "failed")
            let open = try ant.expectCall("module/settings")
            try ant.settle()
            let state = try memory.writtenDown()
            // The table has the secret, and no session has it once more.
            #expect(String(decoding: state, as: UTF8.self).split(separator: "hunter2").count == 2)
            try memory.resume(state)
            #expect(try pending(bus, "Bee") == ["settings.page"])
            #expect(try pending(bus) == ["settings.page"])
            try ant.reply(to: open)
            try ant.settle()
            #expect(try pending(bus) == nil)
            try reload(bus, table(30))
            for peer in [ant, bee] { try peer.expectNothing() }
            try reload(bus, table(40))
            for peer in [ant, bee] { try peer.expectCall("module/settings") }
        }
    }
}
