import StrataCore
import StrataTesting
import TestSupport
import Testing

@testable import StrataBus

/// The work of comparing versions has a bound, however much modules require.
struct RequiredVersionsTests {
    private func module(_ number: Int) -> ModuleRecord {
        ModuleRecord(guest: "Guest\(number)", rank: 0, number: number)
    }

    private func data(_ minor: Int, _ name: String = "Data") -> RequiredInterface {
        RequiredInterface(name: name, version: ContractVersion(major: 1, minor: UInt16(minor)))
    }

    /// What a version of Data doesn't meet.
    private func unmet(
        _ required: inout RequiredVersions, by version: ContractVersion, of owner: ModuleRecord? = nil
    ) -> RequiredVersions.Requirement? {
        required.unmet("Data", by: version, of: owner)
    }

    @Test(.promise("13.44")) func aProviderIsComparedWithTwoOfAllThatRequireIt() {
        var required = RequiredVersions()
        let modules = (0..<4_096).map(module)
        for module in modules { required.add([data(module.number % 7)], of: module) }
        #expect(unmet(&required, by: "1.6") == nil)
        #expect(required.comparisons == 2)
        #expect(unmet(&required, by: "1.5")?.version == "1.6")
        #expect(unmet(&required, by: "2.6")?.version == "1.0")
        #expect(required.comparisons == 5)
        // Those that remain decide.
        for module in modules where module.number % 7 > 3 { required.remove([data(module.number % 7)], of: module) }
        #expect(unmet(&required, by: "1.3") == nil)
        #expect(unmet(&required, by: "1.2")?.version == "1.3")
        for module in modules { required.remove([data(module.number % 7)], of: module) }
        #expect(unmet(&required, by: "3.0") == nil)
        #expect(required.comparisons == 9)
    }

    /// However many versions of one interface a module lists, few are kept.
    @Test(.promise("13.44")) func ofOneHelloTheLowestAndTheHighestAreKept() {
        var required = RequiredVersions()
        let (one, other) = (module(1), module(2))
        let all = (0..<16_384).map { data($0) }
        required.add(all.shuffled(), of: one)
        required.add([data(20_000), RequiredInterface(name: "Data")], of: other)
        #expect(unmet(&required, by: "1.16383", of: other) == nil)
        #expect(unmet(&required, by: "1.16382", of: other)?.version == "1.16383")
        #expect(unmet(&required, by: "1.19999", of: one)?.version == "1.20000")
        #expect(unmet(&required, by: "1.20000") == nil)
        #expect(required.requirements["Data"]?.count == 3)
        required.remove(all, of: one)
        required.remove(all, of: one)
        #expect(unmet(&required, by: "1.0", of: other) == nil)
        #expect(unmet(&required, by: "1.0", of: one)?.module === other)
    }

    @Test(.promise("13.44")) func aHelloMayRequireTheMost() throws {
        var table = AppTable.sixModules()
        table.contracts = .enforced
        try MemoryBus.run(table) { bus in
            let names = (0..<256).map { "Face\($0)" }
            _ = try bus.module("Ant", ["interfaces": .object(names.map { .init($0, ["version": "1.0"]) })])
            // 16,384 in parts.
            let peer = try bus.connect("Bee", answersLifecycle: true)
            try peer.hello("Bee", ["more": true])
            for part in 0..<8 {
                let all = (0..<2_048).map { JSON.string("Face\((part * 2_048 + $0) % 256)@1.0") }
                try peer.asked("bus/register", ["requires": .array(all), "more": .bool(part < 7)])
            }
            try peer.becomeReady()
            let other = try bus.connect("Cat")
            try other.expectRefusal(of: try other.sendHello("Cat", ["requires": ["Face7@1.1"]]), "incompatible")
        }
    }
}
