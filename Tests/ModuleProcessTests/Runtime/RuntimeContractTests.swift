import StrataContracts
import StrataCore
import StrataDeriving
import Testing

@testable import Strata

/// What a module says of its contracts.
@Suite(.timeLimit(.hang))
struct RuntimeContractTests {
    /// An interface with a version and a list of its members.
    enum Store: Interface {
        static let name = "Store"
        static let version: ContractVersion? = "2.1"
        static let members: [any InterfaceMember.Type] = [Put.self, Watch.self, Full.self]

        struct Item: Codable, Sendable {
            var name: String
            var count: Int?
        }
        struct Put: Action {
            static let name = action("put")
            static let errors: KeyValuePairs<String, String> = ["Store.full": "No room is left.", "Store.closed": ""]
            var items: [Item]
        }
        struct Watch: StreamingAction {
            static let name = action("watch")
            typealias Element = Item
        }
        struct Full: Broadcast {
            static let name = "store.full"
            var most: UInt8
        }
    }

    final class StoreModule: Module {
        static let name = "Store"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.action(Store.Put.self, auth: true) { (_: Store.Put) -> Void in }
            exports.stream(Store.Watch.self) { _ in AsyncStream<Store.Item> { $0.finish() } }
            exports.broadcasts(Store.Full.self)
        }
    }

    final class UserModule: Module {
        static let name = "User"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.requires(Store.self)
            exports.requires("Other")
            exports.observe(Store.Full.self) { _ in }
        }
    }

    /// Exports less than its interface lists.
    final class HalfModule: Module {
        static let name = "Half"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.action(Store.Put.self) { (_: Store.Put) -> Void in }
        }
    }

    /// An interface whose type says nothing of descriptors, and whose members aren't listed.
    enum Files: Interface {
        static let name = "Files"
        struct Open: Action { static let name = action("open") }
    }

    /// An interface that says them.
    enum Pipes: Interface {
        static let name = "Pipes"
        static let members: [any InterfaceMember.Type] = [Open.self]
        struct Open: Action {
            static let name = action("open")
            static let descriptors = DescriptorCounts(reply: 2)
        }
    }

    final class FilesModule: Module {
        static let name = "Files"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.action(Files.Open.self, descriptors: .init(params: 1)) { _, _ in WithDescriptors(Nothing()) }
            exports.action("Files/close", descriptors: .init(params: 16)) { _ in WithDescriptors([:]) }
            exports.action(Pipes.Open.self, descriptors: Pipes.Open.descriptors) { _, _ in WithDescriptors(Nothing()) }
        }
    }

    final class CarrierModule: Module {
        static let name = "Carrier"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws { exports.requires(Pipes.self) }
    }

    /// Exports without descriptors what its type says has some.
    final class DryModule: Module {
        static let name = "Dry"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.action(Pipes.Open.self) { (_: Pipes.Open) -> Void in }
        }
    }

    /// Exports with descriptors what its interface lists without any.
    final class WetModule: Module {
        static let name = "Wet"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.action(Store.Put.self, descriptors: .init(params: 1)) { _, _ in WithDescriptors(Nothing()) }
            exports.stream(Store.Watch.self) { _ in AsyncStream<Store.Item> { $0.finish() } }
        }
    }

    private func described<M: Module>(_ type: M.Type) async throws -> JSON {
        TestLoop.start
        return try JSON(parsing: try await Task { @ModuleActor in try ModuleRuntime.describe(type) }.value)
    }

    private func contracts<M: Module>(_ type: M.Type) async throws -> ModuleContracts {
        try ModuleContracts(json: try #require(try await described(type)["contracts"]))
    }

    @Test func providerSaysWhatItExports() async throws {
        let store = try #require(try await contracts(StoreModule.self).provides.first)
        #expect(store.version == "2.1")
        let put = try #require(store.action("put"))
        #expect(put.needsAuthorization == true)
        #expect(put.errors.map(\.code) == ["Store.closed", "Store.full"])
        #expect(put.errors.map(\.doc) == [nil, "No room is left."])
        #expect(store.action("watch")?.result == .elements(Schema(.reference("Item"))))
        #expect(store.action("watch")?.needsAuthorization == false)
        #expect(store.broadcasts.map(\.name) == ["store.full"])
        #expect(store.definitions.keys.sorted() == ["Item"])
    }

    @Test func callerSaysWhatItWasBuiltWith() async throws {
        let contracts = try await contracts(UserModule.self)
        #expect(contracts.provides.isEmpty)
        #expect(contracts.requires.map(\.subject.name) == ["Store"])
        #expect(contracts.requires.first?.version == "2.1")
        #expect(contracts.requires.first?.actions.map(\.name) == ["put", "watch"])
        #expect(contracts.requires.first?.action("put")?.needsAuthorization == nil)
        #expect(contracts.module.observes.map(\.name) == ["store.full"])
    }

    @Test func descriptorsAreInTheContractAsInHello() async throws {
        let described = try await described(FilesModule.self)
        let contracts = try ModuleContracts(json: try #require(described["contracts"])).provides
        for (name, action, counts) in [
            ("Files", "open", DescriptorCounts(params: 1)), ("Files", "close", .init(params: 16)),
            ("Pipes", "open", .init(reply: 2)),
        ] {
            let contract = contracts.first { $0.subject.name == name }
            #expect(contract?.action(action)?.descriptors == counts)
            #expect(described["interfaces"]?[name]?["actions"]?[action]?["descriptors"] == counts.json)
        }
        let required = try await self.contracts(CarrierModule.self).requires
        #expect(required.first?.action("open")?.descriptors == DescriptorCounts(reply: 2))
    }

    @Test func exportThatContradictsTheDescriptorsOfItsTypeIsNotDescribed() async throws {
        for (work, message) in [
            (
                { try await self.described(DryModule.self) },
                "Pipes/open is exported with other descriptors (none) than its type says (at most 2 with the reply): say "
                    + "the same in both"
            ),
            (
                { try await self.described(WetModule.self) },
                "Store/put is exported with other descriptors (at most 1 with a call) than its type says (none): say the "
                    + "same in both"
            ),
        ] as [(() async throws -> JSON, String)] {
            let failure = await #expect(throws: ContractFailure.self) { _ = try await work() }
            #expect(failure?.description == message)
        }
    }

    @Test func typesAreFoundByTheirPlaces() async throws {
        let types = try await contracts(StoreModule.self).types
        let store = "ModuleProcessTests.RuntimeContractTests.Store"
        #expect(types["/provides/0"] == store)
        #expect(types["/provides/0/actions/put"] == "\(store).Put")
        #expect(types["/provides/0/$defs/Item"] == "\(store).Item")
        #expect(types["/module/broadcasts/store.full"] == "\(store).Full")
    }

    @Test func versionsStandInHello() async throws {
        let provider = try await described(StoreModule.self)
        #expect(provider["interfaces"]?["Store"]?["version"] == "2.1")
        #expect(try await described(UserModule.self)["requires"] == ["Store@2.1", "Other"])
        #expect(try await described(PlayerModule.self)["interfaces"]?["Player"]?["version"] == nil)
    }

    @Test func providerThatExportsLessThanItsInterfaceListsIsNotDescribed() async throws {
        do {
            _ = try await described(HalfModule.self)
            Issue.record("it was described")
        } catch {
            #expect(
                "\(error)"
                    == "Store lists the action watch in its members, and Store/watch isn't exported: export it, or "
                    + "take it from the list")
        }
    }

    @Test func contractsAreAskedOnDemand() async throws {
        let expected = try await contracts(StoreModule.self)
        try await withModule(StoreModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            for _ in 1...2 {
                let answer = try await peer.call("module/contracts")
                #expect(answer.kind == "reply")
                #expect(try ModuleContracts(json: answer.body) == expected)
            }
        }
    }

    @Test func badParamsNameTheirPlace() async throws {
        try await withModule(StoreModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let wrong = try await peer.call("Store/put", ["items": [["name": "a"], ["name": 5]]])
            #expect(wrong["code"] == "bad-params")
            #expect(wrong["message"] == "$.items[1].name: expected a string, found a number")
            let null = try await peer.call("Store/put", ["items": [["name": .null]]])
            #expect(null["message"] == "$.items[0].name: expected a string, found null")
        }
    }
}
