import StrataContracts
import StrataCore
import Testing

@testable import Strata

/// The settings that a module declares: in hello, at the start and after a reload.
@Suite(.timeLimit(.hang))
struct RuntimeSettingsTests {
    struct ShelfSettings: ModuleSettings, Equatable {
        enum Order: String, Codable, Sendable { case name, year }
        static let defaults: JSON = ["shelf.page": 20, "shelf.order": "name"]
        var page: Int
        var order: Order
        var title: String
        var key: Secret<String>?
        enum CodingKeys: String, CodingKey {
            case page = "shelf.page"
            case order = "shelf.order"
            case title = "shelf.title"
            case key = "shelf.key"
        }
    }

    final class ShelfModule: Module {
        static let name = "Shelf"
        let bus: Bus
        private(set) var context: Context?
        private(set) var atStart: ShelfSettings?
        private(set) var changes: [ShelfSettings] = []
        /// The values that the module has while `settingsChanged` runs.
        private(set) var old: [ShelfSettings] = []
        var refusal: (any Error)?
        /// Holds up `settingsChanged` until it is finished.
        var gate: AsyncStream<Void>?

        init(bus: Bus) { self.bus = bus }

        func register(_ exports: inout Exports) {
            exports.settings(ShelfSettings.self)
            exports.settingsChanged(ShelfSettings.self) { [self] new in
                if let refusal { throw refusal }
                if let gate { for await _ in gate {} }
                old.append(bus.settings(as: ShelfSettings.self))
                changes.append(new)
            }
        }

        func setUp(_ context: Context) {
            self.context = context
            atStart = context.settings(as: ShelfSettings.self)
            #expect(atStart == bus.settings(as: ShelfSettings.self))
        }
    }

    /// Takes no changes while it runs.
    final class StillModule: Module {
        static let name = "Still"
        let bus: Bus
        init(bus: Bus) { self.bus = bus }
        func register(_ exports: inout Exports) { exports.settings(ShelfSettings.self) }
    }

    /// Has settings that no contract can be derived of.
    final class WrongModule: Module {
        struct Settings: ModuleSettings {
            static let defaults: JSON = ["size": "large"]
            var size: Int
        }
        static let name = "Wrong"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) { exports.settings(Settings.self) }
    }

    private static let keys: JSON = [
        "shelf.page", "shelf.order", "shelf.title", ["name": "shelf.key", "secret": true],
    ]

    private static func values(_ more: JSON.Member...) -> JSON {
        .object([JSON.Member("shelf.title", "Books")] + more)
    }

    // MARK: Declaring

    @Test func helloListsTheKeysAndMarksSecrets() async throws {
        try await withModule(ShelfModule.self) { harness in
            harness.runtime.start()
            let peer = try await harness.broker.peer()
            #expect(try await peer.expect("call").body["settings"] == Self.keys)
        }
        let described = try await Task { @ModuleActor in try ModuleRuntime.describe(ShelfModule.self) }.value
        let hello = try JSON(parsing: described)
        #expect(hello["settings"] == Self.keys)
        let settings = hello["contracts"]?["module"]?["settings"]
        #expect(settings?["properties"]?["shelf.page"] == ["type": "integer", "default": 20])
        #expect(settings?["required"] == ["shelf.title"])
        #expect(settings?["properties"]?["shelf.key"]?["writeOnly"] == true)
    }

    @Test func keysStayInHellosFirstPart() {
        let path = String(repeating: "x", count: 200)
        let urls = JSON.array((0..<400).map { ["host": "h", "path": .string("/\($0)\(path)")] })
        let parts = OfferParts.of(["protocol": 1, "urls": urls, "settings": Self.keys])
        #expect(parts.count > 1)
        #expect(parts.map { $0["settings"] } == [Self.keys] + Array(repeating: nil, count: parts.count - 1))
    }

    @Test func moduleWithoutDeclarationGetsWhatTheBusSends() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            #expect(harness.runtime.hello(resumed: false, takesFiles: false)["settings"] == nil)
            #expect(harness.module.context?.settings == ["size": 3])
            #expect(try await harness.peer.call("module/settings", ["settings": [:]])["code"] == "unknown-action")
        }
    }

    @Test func moduleWithSettingsThatCantBeDeclaredDoesNotStart() async throws {
        try await withModule(WrongModule.self) { harness in
            harness.runtime.start()
            await harness.ended()
            #expect(harness.exit?.code == 1)
            #expect(
                harness.exit?.line?.contains(
                    #"($.settings.size): its default isn't what the setting takes ($: expected an integer, found the "#
                        + #"string "large")"#) == true)
        }
    }

    // MARK: The start

    /// The bus may send notices and events before `setUp`.
    @Test func hellosAnswerHasTheFirstValues() async throws {
        try await withModule(PickyModule.self) { harness in
            harness.runtime.start()
            harness.peer = try await harness.broker.peer()
            try await harness.peer.welcome(settings: ["picky.size": 3, "picky.key": "abcd"])
            _ = try await harness.peer.call("module/ping")
            #expect(harness.module.bus.settings(as: PickySettings.self).size == 3)
        }
    }

    /// Has an `init(from:)` of its own, which refuses values of the declared types.
    struct PickySettings: ModuleSettings {
        struct Refusal: Error, CustomStringConvertible { var description: String }
        var size: Int
        var key: Secret<String>
        enum CodingKeys: String, CodingKey {
            case size = "picky.size"
            case key = "picky.key"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            size = try container.decode(Int.self, forKey: .size)
            key = try container.decode(Secret<String>.self, forKey: .key)
            if size == 100 {
                throw DecodingError.dataCorruptedError(
                    forKey: .size, in: container, debugDescription: "\(key.value) has no \(size)")
            }
            if size == 101 { throw Refusal(description: "\(key.value) and \(size) don't fit") }
        }
    }

    final class PickyModule: Module {
        static let name = "Picky"
        let bus: Bus
        init(bus: Bus) { self.bus = bus }
        func register(_ exports: inout Exports) { exports.settings(PickySettings.self) }
    }

    private static let picky: [(Int64?, String?, String)] = [
        (100, "hunter2", "the setting picky.size: ‹secret› has no 100"),
        (101, "hunter2", "the settings: ‹secret› and 101 don't fit"),
        (
            1, nil,
            "the setting picky.key: expected a string, found nothing: give it in the row's secrets, from a file or a "
                + "variable"
        ),
    ]

    @Test(arguments: picky)
    func aTypesOwnRefusalFailsSetUpAndShowsNoSecret(_ size: Int64?, _ key: String?, _ message: String) async throws {
        try await withModule(PickyModule.self) { harness in
            try await harness.start()
            var given: [JSON.Member] = []
            if let size { given.append(.init("picky.size", .integer(size))) }
            if let key { given.append(.init("picky.key", .string(key))) }
            let answer = try await harness.peer.call("module/setUp", ["settings": .object(given)])
            #expect(answer["code"] == "bad-params")
            #expect(answer["message"]?.string?.contains(message) == true, "\(answer)")
            #expect(!"\(answer)".contains("hunter2"), "\(answer)")
        }
    }

    @Test func setUpGetsTypedValuesWithDefaults() async throws {
        try await withModule(ShelfModule.self) { harness in
            try await harness.start()
            let given = Self.values(.init("shelf.order", "year"), .init("shelf.key", "abcd"), .init("other", 1))
            #expect(try await harness.peer.call("module/setUp", ["settings": given]).kind == "reply")
            let expected = ShelfSettings(page: 20, order: .year, title: "Books", key: Secret("abcd"))
            #expect(harness.module.atStart == expected)
            let context = try #require(harness.module.context)
            #expect(context.settings["shelf.title"] == "Books" && context.settings["shelf.key"] == nil)
            #expect(!"\(context)".contains("abcd"))
        }
    }

    private static let wrongValues = [
        (
            "{}",
            "the setting shelf.title: expected a string, found nothing: set it in the manifest's settings, in "
                + "settings.d or by STRATA_SET_shelf__title"
        ),
        (#"{"shelf.title": 5}"#, "the setting shelf.title: expected a string, found the number 5: set it in "),
        (
            #"{"shelf.title": "a", "shelf.order": "size"}"#,
            #"the setting shelf.order: expected "name" or "year", found the string "size": "#
        ),
        (
            #"{"shelf.title": 5, "shelf.page": "x"}"#,
            #"the setting shelf.page: expected an integer, found the string "x": set it in the manifest's settings, "#
                + "in settings.d or by STRATA_SET_shelf__page; the setting shelf.title: expected a string, found the "
        ),
        (
            #"{"shelf.title": "a", "shelf.key": 12345678}"#,
            "the setting shelf.key: expected a string or null, found another value: give it in the row's secrets"
        ),
    ]

    @Test(arguments: wrongValues)
    func wrongValuesFailSetUp(_ settings: String, _ message: String) async throws {
        try await withModule(ShelfModule.self) { harness in
            try await harness.start()
            let given: JSON = ["settings": try JSON(parsing: settings)]
            let answer = try await harness.peer.call("module/setUp", given)
            #expect(answer["code"] == "bad-params")
            let said = answer["message"]?.string ?? ""
            #expect(said.contains(message), "said \(said)")
            #expect(!said.contains("12345678"))
            #expect(harness.module.context == nil)
        }
    }

    // MARK: Changes

    private func withShelf(_ test: @ModuleActor (Harness<ShelfModule>) async throws -> Void) async throws {
        try await withModule(ShelfModule.self) { harness in
            try await harness.start()
            let given = Self.values(.init("shelf.key", "abcdefgh"))
            #expect(try await harness.peer.call("module/setUp", ["settings": given]).kind == "reply")
            try await test(harness)
        }
    }

    @Test func changedSettingsAreTakenTogether() async throws {
        try await withShelf { harness in
            let peer = harness.peer!
            let module = harness.module
            let given: JSON = ["settings": Self.values(.init("shelf.page", 50), .init("shelf.order", "year"))]
            let answer = try await peer.call("module/settings", given)
            #expect(answer.kind == "reply")
            let expected = ShelfSettings(page: 50, order: .year, title: "Books", key: nil)
            #expect(module.changes == [expected] && module.old.map(\.page) == [20])
            #expect(module.bus.settings(as: ShelfSettings.self) == expected)
            // The same values again are no change.
            #expect(try await peer.call("module/settings", given).kind == "reply")
            #expect(module.changes.count == 1)
        }
    }

    @Test func aWrongValueRefusesAll() async throws {
        try await withShelf { harness in
            let given = Self.values(.init("shelf.page", 50), .init("shelf.order", "size"))
            let answer = try await harness.peer.call("module/settings", ["settings": given])
            #expect(answer["code"] == "bad-params")
            #expect(answer["message"]?.string?.hasPrefix("the setting shelf.order: expected") == true)
            #expect(harness.module.changes.isEmpty)
            #expect(harness.module.bus.settings(as: ShelfSettings.self).page == 20)
        }
    }

    @Test func aHandlerThatThrowsRefusesAllAndShowsNoSecret() async throws {
        try await withShelf { harness in
            harness.module.refusal = ModuleError("Shelf.bad-key", "abcdefgh isn't like ijkl\"mno")
            let given = Self.values(.init("shelf.page", 50), .init("shelf.key", "ijkl\"mno"))
            let answer = try await harness.peer.call("module/settings", ["settings": given])
            #expect(answer["code"] == "Shelf.bad-key")
            #expect(
                answer["message"]
                    == "settingsChanged refuses shelf.page, shelf.key: ‹secret› isn't like ‹secret›")
            #expect(harness.module.bus.settings(as: ShelfSettings.self).page == 20)
            // It is asked again, and takes them.
            harness.module.refusal = nil
            #expect(try await harness.peer.call("module/settings", ["settings": given]).kind == "reply")
            #expect(harness.module.bus.settings(as: ShelfSettings.self).key?.value == "ijkl\"mno")
        }
    }

    /// Has many settings, and takes no change of them.
    final class ManyModule: Module {
        struct Settings: ModuleSettings {
            static let defaults = JSON.object("abcdefghi".map { .init(String($0), 1) })
            var a, b, c, d, e, f, g, h, i: Int
        }
        static let name = "Many"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) {
            exports.settings(Settings.self)
            exports.settingsChanged(Settings.self) { _ in throw ModuleError("Many.no", "not now", ran: .no) }
        }
    }

    @Test func aRefusalNamesTheFirstKeysAndKeepsWhetherItRan() async throws {
        try await withModule(ManyModule.self) { harness in
            try await harness.start()
            #expect(try await harness.peer.call("module/setUp", ["settings": [:]]).kind == "reply")
            for (keys, names) in [("abcdefghi", "a, b, c, d, e, f, g, h, …"), ("ci", "c, i")] {
                let given = JSON.object(keys.map { .init(String($0), 2) })
                let answer = try await harness.peer.call("module/settings", ["settings": given])
                #expect(answer["code"] == "Many.no" && answer["ran"] == "no")
                #expect(answer["message"]?.string == "settingsChanged refuses \(names): not now")
            }
        }
    }

    @Test func anOvertakenChangeCountsNoLonger() async throws {
        try await withShelf { harness in
            let (gate, opened) = AsyncStream<Void>.makeStream()
            harness.module.gate = gate
            let older = harness.peer.send(
                call: "module/settings", ["settings": Self.values(.init("shelf.page", 50))])
            _ = try await harness.peer.call("module/ping")
            harness.module.gate = nil
            let newer = Self.values(.init("shelf.page", 60))
            let taken = try await harness.peer.call("module/settings", ["settings": newer])
            #expect(taken.kind == "reply")
            opened.finish()
            let answer = try await harness.peer.expect("error")
            #expect(answer.id == .integer(older))
            #expect(answer["message"]?.string?.hasPrefix("newer settings came") == true)
            #expect(harness.module.bus.settings(as: ShelfSettings.self).page == 60)
        }
    }

    @Test func withoutAHandlerTheyAreForTheNextStart() async throws {
        try await withModule(StillModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await peer.call("module/setUp", ["settings": Self.values()]).kind == "reply")
            #expect(try await peer.call("module/settings", ["settings": Self.values()]).kind == "reply")
            let given = Self.values(.init("shelf.page", 50))
            let answer = try await peer.call("module/settings", ["settings": given])
            #expect(answer["code"] == "unknown-action")
            #expect(answer["message"]?.string?.hasPrefix("Still takes changed settings at its next start") == true)
            #expect(harness.module.bus.settings(as: ShelfSettings.self).page == 20)
        }
    }
}
