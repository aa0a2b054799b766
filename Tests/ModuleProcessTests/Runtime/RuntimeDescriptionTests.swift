import StrataContracts
import StrataCore
import Synchronization
import Testing

@testable import Strata

/// The contracts of a module that has everything that contracts say.
@Suite(.timeLimit(.hang))
struct RuntimeDescriptionTests {
    /// The contracts of `ShopModule`.
    private static let contracts: JSON = [
        "module": [
            "contract": 1, "module": "Shop",
            "broadcasts": [
                "shop.opened": [:],
                "shop.sold": ["content": ["type": "object", "properties": ["item": item], "required": ["item"]]],
            ],
            "reports": ["shop.empty": empty], "observes": ["clock.ticked": [:], "shop.empty": empty],
            "$defs": ["Item": definition],
        ],
        "provides": [
            [
                "contract": 1, "interface": "Desk", "instances": "multiple",
                "actions": [
                    "rub": ["auth": false],
                    "write": [
                        "auth": false,
                        "params": ["type": "object", "properties": ["text": ["type": "string"]], "required": ["text"]],
                        "reply": ["type": "string"],
                    ],
                ],
            ], ["contract": 1, "interface": "Plain", "actions": ["echo": ["auth": false]]],
            [
                "contract": 1, "interface": "Shop", "version": "2.1",
                "actions": [
                    "close": ["auth": true, "params": ["type": "object"], "reply": ["type": "object"]],
                    "find": [
                        "auth": false,
                        "params": ["type": "object", "properties": ["text": ["type": "string"]], "required": ["text"]],
                        "reply": ["type": "array", "items": item],
                        "errors": ["Shop.busy": [:], "Shop.closed": ["description": "It opens at nine."]],
                    ],
                    "watch": [
                        "auth": false,
                        "params": [
                            "type": "object",
                            "properties": ["most": ["anyOf": [["type": "integer"], ["type": "null"]]]],
                        ], "element": item,
                    ],
                ],
                "broadcasts": [
                    "shop.empty": empty,
                    "shop.sold": ["content": ["type": "object", "properties": ["item": item], "required": ["item"]]],
                ], "reports": ["shop.empty": empty], "$defs": ["Item": definition],
            ],
        ],
        "requires": [
            [
                "contract": 1, "interface": "Bank", "version": "1.0",
                "actions": [
                    "pay": [
                        "params": [
                            "type": "object", "properties": ["cents": ["type": "integer"]], "required": ["cents"],
                        ],
                        "reply": ["type": "boolean"],
                    ]
                ],
            ]
        ],
    ]
    private static let item: JSON = ["$ref": "#/$defs/Item"]
    private static let empty: JSON = [
        "content": ["type": "object", "properties": ["since": ["type": "integer"]], "required": ["since"]]
    ]
    private static let definition: JSON = [
        "type": "object",
        "properties": ["name": ["type": "string"], "price.cents": ["anyOf": [["type": "integer"], ["type": "null"]]]],
        "required": ["name"],
    ]

    private func description<M: Module>(of type: M.Type) async throws -> JSON {
        try JSON(parsing: try await Task { @ModuleActor in try ModuleRuntime.describe(type) }.value)
    }

    @Test func aDescriptionHasTheContracts() async throws {
        let described = try #require(try await description(of: ShopModule.self)["contracts"]?.object)
        #expect(JSON.object(described.filter { $0.name != "types" }) == Self.contracts)
        #expect(try ModuleContracts(json: .object(described)).json() == .object(described))
    }

    @Test func membersThatAreRenamedHaveTheirSwiftNames() async throws {
        let types = try await description(of: ShopModule.self)["contracts"]?["types"]
        #expect(types?["/provides/2/$defs/Item/properties/price.cents"] == "ModuleProcessTests.Shop.Item.price")
        #expect(types?["/provides/2/$defs/Item/properties/name"] == nil)
    }

    @Test func helloHasTheVersions() async throws {
        try await withModule(ShopModule.self) { harness in
            harness.runtime.start()
            harness.peer = try await harness.broker.peer()
            let hello = try await harness.peer.welcome()
            #expect(hello.body["interfaces"]?["Shop"]?["version"] == "2.1")
            #expect(hello.body["interfaces"]?["Desk"]?["version"] == nil)
            #expect(hello.body["requires"] == ["Bank@1.0", "Clock"])
            #expect(hello.body["contracts"] == nil)
        }
    }

    @Test func whatIsRegisteredLaterIsInTheContracts() async throws {
        try await withModule(ShopModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/contracts")
            let registration = Task { @ModuleActor in
                try await harness.module.bus.register { $0.action(Bank.Pay.self) { _ in true } }
            }
            let asked = try await peer.expect("call")
            #expect(asked.body["interfaces"]?["Bank"]?["version"] == "1.0")
            peer.reply(asked)
            _ = try await registration.value
            let provided = try await peer.call("module/contracts").body["provides"]?.array ?? []
            #expect(provided.map { $0["interface"]?.string } == ["Bank", "Desk", "Plain", "Shop"])
        }
    }

    @Test func contractsBeyondAFrameAreAnErrorThatSaysWhatToDo() async throws {
        try await withModule(ShopModule.self) { harness in
            try await harness.start()
            var limits = SessionLimits()
            limits.frame = 2_048
            let bytes = try await harness.peer.call("module/contracts").body.encoded().count
            harness.runtime.connection.session?.greeted(limits)
            let answer = try await harness.peer.call("module/contracts")
            #expect(answer["code"] == "failed")
            #expect(
                answer["message"]
                    == .string(
                        "the contracts of Shop have \(bytes) bytes, and a frame has room for 1024: raise limits.frame in "
                            + "the manifest, or ask the program with --describe"))
        }
    }

    // MARK: Nothing before it is asked

    struct Counted: Action {
        static let name = ActionName(interface: "Counted", action: "count")
        static let runs = Mutex(0)
        init(from decoder: any Decoder) throws { Self.runs.withLock { $0 += 1 } }
        func encode(to encoder: any Encoder) throws {}
    }

    final class CountedModule: Module {
        static let name = "Counted"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) { exports.action(Counted.self) { _ in } }
    }

    @Test func nothingIsDerivedBeforeItIsAskedFor() async throws {
        try await withModule(CountedModule.self) { harness in
            try await harness.startFully()
            #expect(Counted.runs.withLock { $0 } == 0)
            _ = try await harness.peer.call("module/contracts")
            let runs = Counted.runs.withLock { $0 }
            #expect(runs > 0)
            _ = try await harness.peer.call("module/contracts")
            #expect(Counted.runs.withLock { $0 } == runs)
        }
    }

    // MARK: What can't be described

    enum Listing: Interface {
        static let name = "Listing"
        static let members: [any InterfaceMember.Type] = [One.self, Two.self]
        struct One: Action { static let name = action("one") }
        struct Two: Action { static let name = action("two") }
        struct Three: Action { static let name = action("three") }
    }

    final class AddingModule: Module {
        static let name = "Adding"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) {
            exports.action(Listing.One.self) { _ in }
            exports.action(Listing.Two.self) { _ in }
            exports.action(Listing.Three.self) { _ in }
        }
    }

    enum Foreign: Interface {
        static let name = "Foreign"
        static let members: [any InterfaceMember.Type] = [Listing.One.self]
    }

    final class ForeignModule: Module {
        static let name = "Foreign"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) { exports.requires(Foreign.self) }
    }

    struct Odd: Action {
        static let name = ActionName(interface: "Odd", action: "call")
        struct Key: Hashable, Codable { var x: Int }
        var map: [Key: Int]
    }

    final class OddModule: Module {
        static let name = "Odd"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) { exports.action(Odd.self) { _ in } }
    }

    struct Even: Codable, RawRepresentable {
        var rawValue: Int
        init?(rawValue: Int) {
            guard rawValue % 2 == 0 else { return nil }
            self.rawValue = rawValue
        }
    }

    struct Picky: Action {
        static let name = ActionName(interface: "Picky", action: "call")
        var even: Even
    }

    final class PickyModule: Module {
        static let name = "Picky"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) { exports.action(Picky.self) { _ in } }
    }

    private func refusal<M: Module>(of type: M.Type) async -> String {
        do { return "\(try await description(of: type))" } catch { return "\(error)" }
    }

    @Test func exportsThatAreNoMembersAreNamed() async throws {
        #expect(
            await refusal(of: AddingModule.self)
                == "Listing/three is exported, and Listing doesn't list it in its members: list it, or don't export it")
    }

    @Test func membersOfAnotherInterfaceAreNamed() async throws {
        #expect(await refusal(of: ForeignModule.self) == "Foreign lists One in its members, an action of Listing")
    }

    @Test func typesWithoutAContractAreNamed() async throws {
        let refused = await refusal(of: OddModule.self)
        #expect(refused.hasPrefix("Odd: Dictionary<ModuleProcessTests.RuntimeDescriptionTests.Odd.Key, Int> "))
        #expect(refused.contains("($.actions.call.params.map): "))
        try await withModule(OddModule.self) { harness in
            try await harness.start()
            let answer = try await harness.peer.call("module/contracts")
            #expect(answer["code"] == "failed")
            #expect(answer["message"]?.string == refused)
        }
    }

    @Test func aDescriptionChecksItsTypesWithValues() async throws {
        let refused = await refusal(of: PickyModule.self)
        #expect(
            refused.hasPrefix(
                "Picky: ModuleProcessTests.RuntimeDescriptionTests.Even ($.actions.call.params.even): it doesn't take ")
        )
    }
}
