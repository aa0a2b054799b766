import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5 on settings: who declares them, and who gets which values.
@Suite(.timeLimit(.hang))
struct SettingsTests {
    static let declared: JSON = ["settings": ["page", ["name": "key", "secret": true], "title", "none"]]

    static func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Ant") {
                $0.settings = [.init("title", "Ants"), .init("own", 1)]
                $0.secrets = [.init("key", "hunter2")]
            }, .manual("Bee"), .manual("Cat", rank: 2)
        ) {
            $0.settings = ["page": 20, "title": "All", "other": [1]]
            change(&$0)
        }
    }

    @Test(.promise("5.60")) func moduleGetsWhatItDeclares() throws {
        try MemoryBus.run(Self.table()) { bus in
            let ant = try bus.connect("Ant")
            let expected: JSON = ["page": 20, "key": "hunter2", "title": "Ants"]
            #expect(try ant.hello("Ant", Self.declared)["settings"] == expected)
            #expect(try ant.expectCall("module/setUp").json["settings"] == expected)
            #expect(ant.welcome["features"]?.array?.contains("settings") == true)
            // A module that declares none of them, and one that declares nothing.
            #expect(try bus.module("Bee", ["settings": []]).welcome["settings"] == [:])
            #expect(try bus.module("Cat").welcome["settings"] == ["page": 20, "title": "All", "other": [1]])
        }
    }

    @Test(.promise("5.60")) func moduleThatDeclaresNothingGetsAllPlainValues() throws {
        try MemoryBus.run(Self.table()) { bus in
            let ant = try bus.connect("Ant")
            let expected: JSON = ["page": 20, "title": "Ants", "other": [1], "own": 1]
            #expect(try ant.hello("Ant")["settings"] == expected)
            #expect(try ant.expectCall("module/setUp").json["settings"] == expected)
        }
    }

    @Test(.promise("5.60")) func settingsMayBeAnyJSONForWhoDeclaresNone() throws {
        let table = Self.table {
            $0.settings = [1, 2]
            $0.modules[0].settings = []
        }
        try MemoryBus.run(table) { bus in
            let (bee, ant) = (try bus.module("Bee"), try bus.module("Ant", Self.declared))
            #expect(bee.welcome["settings"] == [1, 2] && ant.welcome["settings"] == ["key": "hunter2"])
        }
    }

    @Test(.promise("5.60"), arguments: [[:], ["settings": ["page"]]] as [JSON])
    func guestGetsNone(hello: JSON) throws {
        try MemoryBus.run(Self.table { $0.guests = .init(rank: 2, most: 1) }) { bus in
            let guest = try bus.connect("Guest")
            #expect(try guest.hello("Guest", hello)["settings"] == [:])
            #expect(try guest.expectCall("module/setUp").json["settings"] == [:])
        }
    }

    // MARK: secrets

    /// A secret goes to its row's module alone, and only if that declares it so.
    @Test(.promise("5.61")) func secretGoesToItsDeclarerAlone() throws {
        try MemoryBus.run(Self.table()) { bus in
            let (ant, bee) = (try bus.module("Ant", ["settings": ["key"]]), try bus.module("Bee", Self.declared))
            #expect(ant.welcome["settings"] == [:])
            #expect(bee.welcome["settings"] == ["page": 20, "title": "All"])
            let tool = try bus.operator().welcome
            #expect(!"\(tool)".contains("hunter2"))
        }
    }

    @Test(.promise("5.61"), arguments: [true, false]) func plainValueOfASecretRefusesHello(isOfRow: Bool) throws {
        let table = Self.table {
            $0.modules[0].secrets = []
            if isOfRow {
                $0.modules[0].settings.append(.init("key", "hunter2"))
            } else {
                $0.settings = ["key": "hunter2"]
            }
        }
        try MemoryBus.run(table) { bus in
            let ant = try bus.connect("Ant")
            let refusal = try ant.expectRefusal(of: try ant.sendHello("Ant", Self.declared), "bad-params")
            #expect(refusal.message.contains("\"key\"") && !refusal.message.contains("hunter2"), "\(refusal.message)")
        }
    }

    /// Who may not be a module learns nothing of its settings.
    @Test(.promise("5.61")) func refusalForItsPlaceComesFirst() throws {
        let table = AppTable.testing(.eager("Shop")) { $0.settings = ["key": "hunter2"] }
        try MemoryBus.run(table, isLaunched: true) { bus in
            let token = try bus.vouch(for: "Shop")
            let hello = Self.declared.with(["token": .string(token)])
            let forged = try bus.connect("Shop")
            try forged.expectRefusal(
                of: try forged.sendHello("Shop", Self.declared.with(["token": "forged"])), "forbidden")
            let shop = try bus.connect("Shop")
            try shop.expectRefusal(of: try shop.sendHello("Shop", hello), "bad-params")
        }
    }

    // MARK: the form

    @Test(
        .promise("5.60"),
        arguments: [
            nil, "page", ["page": 1], [1], [nil], [""], [.filler(257)], [["secret": true]],
            [["name": "a", "secret": 1]],
            [["name": 1]], ["a", "a"], ["a", ["name": "a", "secret": true]],
            .array((0...1_024).map { .string("s\($0)") }),
        ] as [JSON])
    func otherFormsAreBadParams(settings: JSON) throws {
        try MemoryBus.run(Self.table()) { bus in
            let ant = try bus.connect("Ant")
            try ant.expectRefusal(of: try ant.sendHello("Ant", ["settings": settings]), "bad-params")
        }
    }

    @Test(.promise("5.60", "13.60")) func moduleMayDeclareManySettings() throws {
        let names = (0..<1_024).map { JSON.string("s\($0)") }
        try MemoryBus.run(Self.table { $0.settings = ["s0": 1, "s1023": 2] }) { bus in
            let hello = JSON.object([.init("settings", .array(names))])
            #expect(try bus.module("Ant", hello).welcome["settings"] == ["s0": 1, "s1023": 2])
            let long = try bus.connect("Bee")
            try long.expectRefusal(
                of: try long.sendHello("Bee", ["settings": .array(names + ["one more"])]), "bad-params")
            #expect(try bus.module("Bee", ["settings": [.filler(256)]]).welcome["settings"] == [:])
        }
    }

    @Test(.promise("5.60")) func settingsStandInHelloAndInNoPart() throws {
        try MemoryBus.run(Self.table()) { bus in
            let ant = try bus.connect("Ant", answersLifecycle: true)
            #expect(try ant.hello("Ant", Self.declared.with(["more": true]))["settings"]?["page"] == 20)
            let error = try ant.refused("bus/register", ["settings": ["page"]], with: "bad-params")
            #expect(error.message.contains("hello"))
            try ant.asked("bus/register", [:])
            try ant.becomeReady()
        }
    }
}
