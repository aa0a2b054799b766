import StrataCore
import StrataTesting
import Testing

/// `contracts: enforced`: what joins must fit the versions of the modules that are there.
@Suite(.timeLimit(.hang))
struct ContractTests: ContractSuite {
    // MARK: hello

    @Test(.promise("5.52", "12.31"), arguments: ["1.5", "2.0", "0.9"])
    func aModuleThatRequiresAnotherVersionIsRefused(_ version: String) throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.module("Store", provides("1.4"))
            let peer = try bus.connect("Shop")
            let error = try peer.expectRefusal(
                of: try peer.sendHello("Shop", requires("Other@9.9", "Data@\(version)")), "incompatible")
            #expect(error["ran"] == "no")
            for part in ["Store serves version 1.4 of Data", "Shop requires \(version)", "contracts: off"] {
                #expect(error.message.contains(part), "\(error.message)")
            }
            #expect(try bus.state(of: "Shop") == "absent")
        }
    }

    @Test(.promise("5.52"), arguments: ["1.4", "1.3", "1.0"]) func aModuleThatFitsJoins(_ version: String) throws {
        try MemoryBus.run(table()) { bus in
            let store = try bus.module("Store", provides("1.4"))
            let shop = try bus.module("Shop", requires("Data@\(version)"))
            let id = try shop.call("Data/read")
            try store.reply(to: try store.expectCall("Data/read"))
            try shop.expectReply(to: id)
        }
    }

    /// The lowest and the highest of all that is required decide, whoever requires it.
    @Test(.promise("5.52")) func aProviderThatSomeModuleCannotUseIsRefused() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.module("Shop", requires("Data@1.1", "Data@1.3"))
            let guest = try bus.module("Guest", requires("Data@1.5"))
            let later = try refused("Store", provides("1.4"), bus)
            #expect(later.contains("Store serves version 1.4 of Data, and Guest requires 1.5"), "\(later)")
            let other = try refused("Store", provides("2.0"), bus)
            #expect(other.contains("Store serves version 2.0 of Data, and Shop requires 1.1"), "\(other)")
            guest.close()
            try bus.operator().settle()
            _ = try bus.module("Store", provides("1.4"))
        }
    }

    @Test(.promise("5.52")) func aGuestIsComparedAsARowIs() throws {
        try MemoryBus.run(table()) { bus in
            let provider = try bus.module("Provider", provides("1.4"))
            #expect(try refused("Caller", requires("Data@2.0"), bus).contains("Provider serves version 1.4"))
            _ = try bus.module("Caller", requires("Data@1.4"))
            provider.close()
            try bus.operator().settle()
            #expect(try refused("Provider", provides("1.3"), bus).contains("Caller requires 1.4"))
        }
    }

    @Test(.promise("5.52")) func whatARowRequiresCountsWhileItsModuleIsLive() throws {
        let table = table { $0.modules[1].requires = ["Data@1.2"] }
        try MemoryBus.run(table) { bus in
            let store = try bus.module("Store", provides("1.1"))
            #expect(try refused("Shop", [:], bus).contains("Shop requires 1.2"))
            try refused("Shop", requires("Data@1.0"), bus)
            store.close()
            try bus.operator().settle()
            let shop = try bus.module("Shop")
            try refused("Store", provides("1.1"), bus)
            shop.close()
            try bus.operator().settle()
            _ = try bus.module("Store", provides("1.1"))
        }
    }

    @Test(.promise("5.52")) func aSessionThatResumesIsComparedToo() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.module("Store", provides("1.4"))
            try refused("Shop", requires("Data@2.0").with(["resumed": true]), bus)
        }
    }

    // MARK: bus/register

    @Test(.promise("5.52")) func aPartThatDoesNotFitChangesNothing() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.module("Store", provides("1.4"))
            let peer = try bus.connect("Shop", answersLifecycle: true)
            try peer.hello("Shop", requires("Data@1.1").with(["more": true]))
            let part = requires("Data@2.0").with(["observes": ["news"], "more": true])
            let error = try peer.refused("bus/register", part, with: "incompatible")
            #expect(error["ran"] == "no" && error.message.contains("Shop requires 2.0"), "\(error.message)")
            try peer.expectReply(to: try peer.call("bus/register", requires("Data@1.2")), body: ["subscriptions": []])
            try peer.becomeReady()
            #expect(try bus.state(of: "Shop") == "ready")
        }
    }

    @Test(.promise("5.52")) func whatAModuleRegistersLaterIsCompared() throws {
        try MemoryBus.run(table()) { bus in
            let shop = try bus.module("Shop", requires("Data@1.1"))
            let store = try bus.module("Store", ["interfaces": ["Own": [:]]])
            let message = try store.refused("bus/register", provides("1.0"), with: "incompatible").message
            #expect(message.contains("Store serves version 1.0 of Data, and Shop requires 1.1"), "\(message)")
            try shop.refused("Data/read", with: "unknown-interface")
            try store.asked("bus/register", provides("1.1"))
            try store.refused("bus/register", provides("1.0"), with: "incompatible")
            // Still the one before.
            try refused("Cart", requires("Data@1.2"), bus)
            _ = try bus.module("Cart", requires("Data@1.1"))
            try store.asked("bus/unregister", ["interfaces": ["Data": [:]]])
            try store.refused("bus/register", provides("2.0"), with: "incompatible")
        }
    }

    @Test(.promise("5.52")) func whatAPartRequiresCountsForLaterProviders() throws {
        try MemoryBus.run(table()) { bus in
            let peer = try bus.connect("Shop", answersLifecycle: true)
            try peer.hello("Shop", ["more": true])
            try peer.asked("bus/register", requires("Data@1.1").with(["more": true]))
            try refused("Store", provides("1.0"), bus)
        }
    }

    // MARK: what isn't compared

    @Test(.promise("5.53")) func aSideWithoutAVersionIsNotCompared() throws {
        try MemoryBus.run(table()) { bus in
            let store = try bus.provider("Store", "Data")
            _ = try bus.module("Shop", requires("Data@1.1", "Data@7.0"))
            store.close()
            try bus.operator().settle()
            try refused("Store", provides("1.1"), bus)
            _ = try bus.provider("Store", "Data")
            _ = try bus.module("Guest", provides("1.0", "Else"))
            _ = try bus.module("Cart", requires("Else", "Data"))
        }
    }

    @Test(.promise("5.53", "M.98")) func nothingIsComparedUnlessTheAppSaysSo() throws {
        try MemoryBus.run(table { $0.contracts = .off }) { bus in
            _ = try bus.module("Store", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@2.0"))
        }
    }

    @Test(.promise("5.53", "M.98"), arguments: [0, 1]) func aRowMayBeExempt(_ row: Int) throws {
        try MemoryBus.run(table { $0.modules[row].contracts = .off }) { bus in
            let store = try bus.module("Store", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@2.0", "Data@1.0"))
            store.close()
            try bus.operator().settle()
            _ = try bus.module("Store", provides("3.0"))
        }
    }

    @Test(.promise("5.53")) func aModulesOwnInterfaceIsNotComparedWithWhatItRequires() throws {
        try MemoryBus.run(table()) { bus in
            let store = try bus.module("Store", provides("1.0").with(requires("Data@2.0")))
            try store.asked("bus/register", provides("3.1"))
            try store.asked("bus/register", provides("1.1"))
            // Others aren't compared with that either, as long as they fit the provider.
            _ = try bus.module("Shop", requires("Data@1.1"))
            try store.refused("bus/register", provides("2.0"), with: "incompatible")
        }
    }

    @Test(.promise("5.53")) func throughAdaptersNothingIsCompared() throws {
        let table = table { $0.adapters = [AppTable.Adapter(name: "Old", to: "Data")] }
        try MemoryBus.run(table) { bus in
            _ = try bus.module("Store", provides("1.0"))
            let shop = try bus.module("Shop", requires("Old@7.3"))
            try shop.call("Old/read")
            // An interface of that name comes before the adapter.
            try refused("Guest", provides("1.0", "Old"), bus)
        }
    }

    // MARK: ends

    @Test(.promise("5.55")) func aSessionThatEndsLeavesNothing() throws {
        try MemoryBus.run(table()) { bus in
            for version in ["1.0", "2.0", "1.1"] {
                let shop = try bus.module("Shop", requires("Data@\(version)", "Data@\(version)", "Other@1.0"))
                let store = try bus.module("Store", provides(version))
                try refused("Cart", requires("Data@9.0"), bus)
                for peer in [store, shop] { peer.close() }
                try bus.waitUntil("Store", is: "absent")
                try bus.waitUntil("Shop", is: "absent")
            }
        }
    }
}
