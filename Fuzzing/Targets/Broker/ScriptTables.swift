import StrataCore
import StrataTesting

/// The apps that scripts run in. A row's place is the module's number in a script.
enum ScriptTables {
    /// Rows that are started by hand, on three levels, and guests.
    private static var plain: AppTable {
        .testing(
            .manual("Ant", provides: ["Ant"]), .manual("Bee", rank: 1), .manual("Cat", rank: 2, provides: ["Cat"])
        ) { table in
            table.guests = .init(rank: 2, most: 2)
        }
    }

    /// An authorizer, layered calls, and a trusted row.
    private static var authorized: AppTable {
        .testing(
            .manual("Ant", provides: ["Ant"]),
            .manual("Bee", rank: 1, provides: ["Bee"]) { $0.trusted = true },
            .manual("Cat", rank: 2) { $0.emits = ["e"] }
        ) { table in
            table.calls = .layered
            table.authorizer = "Ant"
        }
    }

    /// Small limits.
    private static var small: AppTable {
        .testing(.manual("Ant", provides: ["Ant"]), .manual("Bee", rank: 1), .manual("Cat", rank: 2)) { table in
            table.guests = .init(rank: 1, most: 1)
            table.limits.frame = 140_000
            table.limits.header = 1_024
            table.limits.calls = 4
            table.limits.queue = 32 << 10
            table.limits.waiting = 2
            table.limits.observations = 3
            table.limits.interfaces = 3
            table.limits.urls = 3
            table.limits.instances = 2
            table.limits.connections = 22
            table.limits.unregistered = 3
            table.limits.held = 3_000
            table.limits.total = 100_000
            table.limits.adapted = 512
        }
    }

    /// Adapters, declared calls, and rows of every kind of start that a launcher serves.
    private static var launched: AppTable {
        .testing(
            .eager("Ant", provides: ["Ant"]) { $0.replace = .overlap },
            .manual("Bee", rank: 1) { row in
                row.requires = ["Ant", "Old", "Cat"]
                row.reports = [.init(module: "Ant", names: ["n"])]
            },
            .manual("Cat", rank: 2, provides: ["Cat"]) { row in
                row.start = .onDemand
                row.idle = 2
                row.ping = 2
                row.stop = 3
            }
        ) { table in
            table.calls = .declared
            table.startup = 5
            var adapter = AppTable.Adapter(name: "Old", to: "Ant")
            var action = AppTable.AdaptedAction(name: "walk", to: "go")
            action.params = [.init(from: "a", to: "b")]
            action.result = [.init(from: "c", to: "d")]
            adapter.actions = [action]
            adapter.notices = [.init(from: "n", to: "m")]
            table.adapters = [adapter]
        }
    }

    static let all = [plain, authorized, small, launched]
}
