import StrataCore
@testable import StrataTesting
import Testing

/// A reload under which live modules would not fit is refused as a whole.
@Suite(.timeLimit(.hang))
struct ContractReloadTests: ContractSuite {
    private var off: AppTable { table { $0.contracts = .off } }

    @Test(.promise("10.52")) func aReloadThatTurnsTheComparisonOnNamesThePairs() throws {
        try MemoryBus.run(off) { bus in
            _ = try bus.module("Store", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@1.1", "Data@1.2"))
            let guest = try bus.module("Guest", requires("Data@2.0"))
            let answer = try bus.reload(table { $0.settings = ["page": 7] })
            #expect(answer.matches(["kind": "error", "code": "incompatible", "ran": "no"]), "\(answer)")
            #expect(answer.message.hasPrefix("2 pairs of live modules"), "\(answer.message)")
            for pair in ["and Shop requires 1.1", "and Guest requires 2.0"] {
                #expect(answer.message.contains("Store serves version 1.0 of Data, \(pair)"), "\(answer.message)")
            }
            // Nothing of it is in force.
            #expect(try bus.module("Cart", requires("Data@3.0")).welcome["settings"] == [:])
            guest.close()
            try bus.operator().settle()
            #expect(try bus.reload(table()).code == "incompatible")
        }
    }

    @Test(.promise("10.52")) func theRefusalNamesEightPairs() throws {
        try MemoryBus.run(off) { bus in
            _ = try bus.module(
                "Store",
                .object([
                    .init("interfaces", .object((10..<30).map { .init("Data\($0)", ["version": "1.0"]) }))
                ]))
            _ = try bus.module("Shop", ["requires": .array((10..<30).map { .string("Data\($0)@2.0") })])
            let message = try bus.reload(table()).message
            #expect(message.contains("Data17") && !message.contains("Data18"), "\(message)")
            #expect(message.hasPrefix("20 pairs") && message.contains("and 12 more"), "\(message)")
        }
    }

    @Test(.promise("10.52")) func afterAReloadTheVersionsOfLiveModulesCount() throws {
        try MemoryBus.run(off) { bus in
            let store = try bus.module("Store", provides("1.4"))
            let shop = try bus.module("Shop", requires("Data@1.1", "More@1.0"))
            #expect(try bus.reload(table()).kind == "reply")
            try refused("Cart", requires("Data@1.5"), bus)
            try refused("Cart", provides("2.0", "More"), bus)
            try store.refused("bus/register", provides("1.0"), with: "incompatible")
            #expect(try bus.reload(off).kind == "reply")
            let cart = try bus.module("Cart", requires("Data@1.5").with(provides("2.0", "More")))
            #expect(try bus.reload(table()).code == "incompatible")
            for peer in [cart, shop] { peer.close() }
            try bus.operator().settle()
            #expect(try bus.reload(table()).kind == "reply")
            try store.asked("bus/register", provides("1.0"))
        }
    }

    @Test(.promise("10.52")) func whatARowRequiresIsComparedAtItsReload() throws {
        try MemoryBus.run(table()) { bus in
            _ = try bus.module("Store", provides("1.4"))
            let shop = try bus.module("Shop")
            let other = table { $0.modules[1].requires = ["Data@1.5"] }
            #expect(try bus.reload(other).message.contains("Shop requires 1.5"))
            #expect(try bus.reload(table { $0.modules[1].requires = ["Data@1.3"] }).kind == "reply")
            let store = try bus.module("Guest")
            try store.asked("bus/register", provides("1.0", "Else"))
            shop.close()
            try bus.operator().settle()
            // Without a session a row isn't compared.
            #expect(try bus.reload(other).kind == "reply")
            try refused("Shop", [:], bus)
        }
    }

    @Test(.promise("10.52", "5.53")) func aRowsExemptionBeginsAndEndsWithAReload() throws {
        let exempt = table { $0.modules[1].contracts = .off }
        try MemoryBus.run(exempt) { bus in
            _ = try bus.module("Store", provides("1.4"))
            let shop = try bus.module("Shop", requires("Data@2.0"))
            #expect(try bus.reload(table()).code == "incompatible")
            #expect(try bus.reload(table { $0.modules[0].contracts = .off }).kind == "reply")
            _ = try bus.module("Cart", requires("Data@3.0"))
            shop.close()
            try bus.operator().settle()
            #expect(try bus.reload(exempt).message.hasPrefix("1 pair of live modules"))
        }
    }

    /// What the new table ends or takes away is no longer there to be compared.
    @Test(.promise("10.52")) func whatLeavesWithTheReloadIsNotCompared() throws {
        try MemoryBus.run(off) { bus in
            _ = try bus.module("Store", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@2.0"))
            let moved = try bus.module("Moved", requires("Data@2.0"))
            let named = try bus.module("Named", requires("Data@2.0"))
            func new(guests rank: Int) -> AppTable {
                table {
                    $0.modules.remove(at: 1)
                    $0.modules.append(.manual("Named"))
                    $0.guests = .init(rank: rank, most: 8)
                }
            }
            #expect(try bus.reload(new(guests: 2)).message.hasPrefix("1 pair"), "only Moved stays")
            #expect(try bus.reload(new(guests: 1)).kind == "reply")
            try moved.expectEnd("shutting-down")
            try named.expectEnd("shutting-down")
        }
    }

    @Test(.promise("10.52")) func anInterfaceThatTheReloadTakesAwayIsNotCompared() throws {
        try MemoryBus.run(off) { bus in
            _ = try bus.module("Guest", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@2.0"))
            #expect(try bus.reload(table { $0.modules[0].provides = ["Data"] }).kind == "reply")
            _ = try bus.module("Store", provides("2.0"))
        }
    }

    /// The launcher puts a manifest in force only if the bus has taken the table over.
    @Test(.promise("10.52")) func theLauncherLearnsWhetherItsTableIsInForce() throws {
        try MemoryBus.run(off) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            try launcher.asked("bus/reloaded")
            _ = try bus.module("Store", provides("1.0"))
            let shop = try bus.module("Shop", requires("Data@2.0"))
            #expect(try bus.reload(table()).code == "incompatible")
            #expect(try launcher.refused("bus/reloaded", with: "incompatible").message.contains("Shop requires 2.0"))
            shop.close()
            try tool.settle()
            #expect(try bus.reload(table()).kind == "reply")
            try launcher.asked("bus/reloaded")
            // Another level table can't be put in force either.
            #expect(try bus.reload(table { $0.levels = ["one", "middle", "topout"] }).code == "bad-params")
            try launcher.refused("bus/reloaded", with: "bad-params")
            for peer in [tool, try bus.module("Cart")] { try peer.refused("bus/reloaded", with: "forbidden") }
        }
    }

    @Test(.promise("10.52", "10.54")) func theRefusalPassesToTheNextProgram() throws {
        let memory = MemoryBus(off, isLaunched: false)
        try TestBus(off, memory).run { bus in
            _ = try bus.module("Store", provides("1.0"))
            _ = try bus.module("Shop", requires("Data@2.0"))
            #expect(try bus.reload(table()).code == "incompatible")
            try memory.resume(try memory.writtenDown())
            #expect(
                try bus.launcher().refused("bus/reloaded", with: "incompatible").message.contains("Shop requires 2.0"))
        }
    }
}
