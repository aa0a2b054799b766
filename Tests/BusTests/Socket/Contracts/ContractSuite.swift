import StrataCore
import StrataTesting

/// The part that the tests of contracts' versions share: a table under `contracts: enforced`, with
/// Store of the first level, Shop, and Cart, and with guests.
protocol ContractSuite {}

extension ContractSuite {
    func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(.manual("Store"), .manual("Shop", rank: 1), .manual("Cart", rank: 2)) { table in
            table.contracts = .enforced
            table.guests = .init(rank: 2, most: 8)
            change(&table)
        }
    }

    /// A hello's members that provide an interface.
    func provides(_ version: String, _ interface: String = "Data") -> JSON {
        ["interfaces": .object([.init(interface, ["version": .string(version)])])]
    }

    func requires(_ required: String...) -> JSON { ["requires": .array(required.map { .string($0) })] }

    /// Says a hello that must be refused with `incompatible`.
    /// - Returns: the message.
    @discardableResult
    func refused(
        _ module: String, _ hello: JSON, _ bus: TestBus, file: StaticString = #fileID, line: UInt = #line
    ) throws -> String {
        let peer = try bus.connect(module)
        return try peer.expectRefusal(
            of: try peer.sendHello(module, hello), "incompatible", file: file, line: line
        ).message
    }
}
