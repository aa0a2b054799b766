import StrataCore

@testable import StrataPictures

/// Apps of several sizes, to be drawn.
enum Apps {
    /// Five modules on three levels, with an adapter, and a call within a level.
    static var five: AppTable {
        var table = AppTable(app: "five")
        table.modules = [
            row("Store", 0) {
                $0.provides = ["Store"]
                $0.broadcasts = ["store.changed"]
            },
            row("Log", 0) { $0.provides = ["Log"] },
            row("Session", 1) {
                $0.provides = ["Session"]
                $0.requires = ["Store"]
                $0.broadcasts = ["session.ended"]
                $0.reports = [.init(module: "Log", names: ["log.line"])]
            },
            row("Notes", 2) {
                $0.provides = ["Notes"]
                $0.requires = ["Store", "NoteLogin"]
                $0.observes = [.init(name: "store.changed"), .init(name: "note.left")]
                $0.reports = [.init(module: "Log", names: ["log.line", "log.error"])]
            },
            row("Finder", 2) {
                $0.start = .onDemand
                $0.requires = ["Notes"]
            },
        ]
        var adapter = AppTable.Adapter(name: "NoteLogin", to: "Session")
        adapter.notices = [.init(from: "session.ended", to: "note.left")]
        table.adapters = [adapter]
        return table
    }

    /// Forty modules on four levels with many connections between them.
    static var forty: AppTable {
        var table = AppTable(app: "forty")
        table.levels = ["kernel", "services", "features", "screens"]
        let ranks = (0..<40).map { $0 < 4 ? 0 : $0 < 14 ? 1 : $0 < 27 ? 2 : 3 }
        func name(_ index: Int) -> String { ["Core", "Service", "Feature", "Screen"][ranks[index]] + "\(index)" }
        table.modules = (0..<40).map { index in
            row(name(index), ranks[index]) { row in
                row.provides = [name(index)]
                let required = [index / 2, index / 3 + 1, (index * 7) % 40].filter { $0 != index }
                row.requires = required.map { RequiredInterface(name: name($0)) }
                if index % 4 == 0 { row.broadcasts = ["\(name(index)).changed"] }
                row.observes = [index / 2, index / 4].map { .init(name: "\(name($0)).changed") }
                row.reports = [.init(module: name(index % 3), names: ["line"])]
            }
        }
        return table
    }

    static var all: [AppTable] {
        var empty = AppTable(app: "empty")
        var lonely = AppTable(app: "lonely")
        lonely.levels = ["one", "two", "three", "four"]
        lonely.modules = [
            row("Self", 2) {
                $0.provides = ["Self"]
                $0.requires = ["Self"]
                $0.reports = [.init(module: "Self", names: ["note"])]
            }
        ]
        empty.levels = ["only"]
        return [empty, lonely, five, forty, placed(five, onto: 2), placed(forty, onto: 4)]
    }

    /// Returns the app with its rows spread over nodes, over two of them, and over all.
    static func placed(_ table: AppTable, onto count: Int) -> AppTable {
        var table = table
        let names = (0..<count).map { "node\($0)" }
        table.nodes = names.map { .init($0) }
        for index in table.modules.indices {
            switch index % 5 {
            case 4: table.modules[index].placement = .everywhere
            case 3: table.modules[index].placement = .on(Array(names.prefix(2)))
            default: table.modules[index].placement = .on([names[index % count]])
            }
        }
        return table
    }

    static func row(_ name: String, _ rank: Int, _ change: (inout AppTable.Row) -> Void) -> AppTable.Row {
        var row = AppTable.Row(name: name)
        row.rank = rank
        change(&row)
        return row
    }
}
