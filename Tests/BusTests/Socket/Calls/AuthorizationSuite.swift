import StrataCore
import StrataTesting

/// The part that the tests of section 8 share: `Gate` is the authorizer, `Shop` has an action
/// with `auth: true`, and `Hand` calls it.
protocol AuthorizationSuite {}

/// The authorizer, the owner of `Shop/buy`, and a caller.
struct AuthorizationCast {
    let gate: RawPeer, shop: RawPeer, hand: RawPeer
}

extension AuthorizationSuite {
    static var offer: JSON {
        [
            "interfaces": ["Shop": ["actions": ["buy": ["auth": true], "look": [:]]]],
            "urls": [["host": "shop", "path": "/buy/:thing", "to": "Shop/buy"]],
        ]
    }

    func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Gate", provides: ["Guard"]), .manual("Shop", rank: 1, provides: ["Shop"]),
            .manual("Hand", rank: 2), .manual("Hand2", rank: 2) { $0.trusted = true }
        ) { table in
            table.authorizer = "Guard"
            change(&table)
        }
    }

    /// Runs a bus with all three modules.
    func run(
        _ change: (inout AppTable) -> Void = { _ in }, _ test: (TestBus, AuthorizationCast) throws -> Void
    ) throws {
        try MemoryBus.run(table(change)) { bus in
            try test(
                bus,
                AuthorizationCast(
                    gate: try bus.provider("Gate", "Guard"), shop: try bus.module("Shop", Self.offer),
                    hand: try bus.module("Hand")))
        }
    }

    /// Connects a module whose row the launcher starts.
    func arrive(_ bus: TestBus, _ name: String, _ hello: JSON) throws -> RawPeer {
        let token = try bus.vouch(for: name)
        return try bus.module(name, .object([.init("token", .string(token))] + (hello.object ?? [])))
    }
}
