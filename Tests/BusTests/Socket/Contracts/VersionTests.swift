import StrataCore
@testable import StrataTesting
import Testing

/// Versions of interfaces in hello, in `bus/register` and in `bus/interfaces`.
@Suite(.timeLimit(.hang))
struct VersionTests: ContractSuite {
    @Test(.promise("5.51"), arguments: ["2", "2.1.0", "02.1", "2.65536", "", "latest"])
    func aMalformedVersionIsBadParams(_ version: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant")
            let error = try peer.expectRefusal(of: try peer.sendHello("Ant", provides(version)), "bad-params")
            #expect(error.message.contains("Data") && error.message.contains("major.minor"), "\(error.message)")
            let live = try bus.module("Ant")
            try live.refused("bus/register", provides(version), with: "bad-params")
            #expect(try bus.operator().asked("bus/interfaces")["interfaces"] == [])
        }
    }

    @Test(.promise("5.51"), arguments: ["Data@", "Data@2", "@2.1", "Data@2.1 ", "Da ta"])
    func aMalformedRequirementIsBadParams(_ required: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant")
            let error = try peer.expectRefusal(of: try peer.sendHello("Ant", requires("Shop", required)), "bad-params")
            #expect(error.message.contains("Storage@2.1"), "\(error.message)")
        }
    }

    @Test(.promise("5.51"), arguments: [["interfaces": ["Data": ["version": 2.1]]], ["requires": [2.1]]] as [JSON])
    func anotherTypeIsBadParams(_ hello: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant")
            try peer.expectRefusal(of: try peer.sendHello("Ant", hello), "bad-params")
        }
    }

    @Test(.promise("5.51", "5.38")) func theFeatureTellsThatTheBrokerKnowsThem() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let features = try bus.module("Ant").welcome["features"]?.array ?? []
            #expect(features.contains("contracts") && features.contains("rest-urls"))
        }
    }

    @Test(.promise("10.12", "10.51")) func interfacesShowsTheVersionOfALiveInterface() throws {
        let table = table {
            $0.modules[0].provides = ["Data"]
            $0.modules[1].requires = ["Data@1.0"]
        }
        try MemoryBus.run(table) { bus in
            func listed() throws -> JSON? { try bus.operator().asked("bus/interfaces")["interfaces"]?.array?.first }
            #expect(try listed()?["version"] == nil)
            let store = try bus.module("Store", provides("1.2"))
            _ = try bus.module("Cart", requires("DataRouter@1.1"))
            #expect(try listed()?["version"] == "1.2")
            #expect(try listed()?["requiredBy"] == ["Shop", "Cart"])
            // `add` leaves the version as it is, and without it the new declaration counts.
            try store.asked("bus/register", ["interfaces": ["Data": ["actions": ["a": [:]]]]])
            #expect(try listed()?["version"] == nil)
            try store.asked("bus/register", ["interfaces": ["Data": ["version": "1.3", "actions": ["a": [:]]]]])
            try store.asked(
                "bus/register", ["interfaces": ["Data": ["add": true, "version": "1.4", "actions": ["b": [:]]]]])
            #expect(try listed()?["version"] == "1.3" && listed()?["actions"]?.array?.count == 2)
            store.close()
            try bus.waitUntil("Store", is: "absent")
            #expect(try listed()?["version"] == nil && listed()?["module"] == "Store")
        }
    }

    /// Under `calls: declared` the name alone counts.
    @Test(.promise("5.51", "6.20"), arguments: ["Data@1.0", "Data"]) func aRowDeclaresByItsName(_ row: String) throws {
        let table = table {
            $0.calls = .declared
            $0.modules[1].requires = [RequiredInterface(row)!]  // because both are well-formed
        }
        try MemoryBus.run(table) { bus in
            let store = try bus.module("Store", provides("1.2"))
            let shop = try bus.module("Shop", requires("Data@1.1"))
            let id = try shop.call("Data/read")
            try store.reply(to: try store.expectCall("Data/read"))
            try shop.expectReply(to: id)
            // Its hello declares nothing.
            let cart = try bus.module("Cart", requires("Data@1.1"))
            try cart.refused("Data/read", with: "undeclared")
        }
    }

    @Test(.promise("10.54")) func versionsPassToTheNextProgram() throws {
        let memory = MemoryBus(table(), isLaunched: false)
        try TestBus(table(), memory).run { bus in
            let store = try bus.module("Store", provides("1.2"))
            let shop = try bus.module("Shop", requires("Data@1.1", "Other@3.0"))
            try memory.resume(try memory.writtenDown())
            let listed = try bus.operator().asked("bus/interfaces")["interfaces"]?.array?.first
            #expect(listed?["version"] == "1.2" && listed?["requiredBy"] == ["Shop"])
            try refused("Cart", requires("Data@1.3"), bus)
            try refused("Cart", provides("2.9", "Other"), bus)
            try store.refused("bus/register", provides("1.0"), with: "incompatible")
            shop.close()
            try bus.waitUntil("Shop", is: "absent")
            _ = try bus.module("Cart", provides("2.9", "Other"))
        }
    }
}
