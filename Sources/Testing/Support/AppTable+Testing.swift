public import StrataCore

extension AppTable {
    /// A table for a test: the three usual levels, and rows to connect by hand.
    public static func testing(_ rows: Row..., with change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        testing(rows, with: change)
    }

    /// The same of an array of rows.
    public static func testing(_ rows: [Row], with change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        var table = AppTable(app: "test")
        table.env = "test"
        table.schemes = ["test"]
        table.modules = rows
        change(&table)
        return table
    }
}

extension AppTable.Row {
    /// A row whose module a test connects by hand: `start: manual`.
    public static func manual(
        _ name: String, rank: Int = 0, provides: [String] = [], with change: (inout AppTable.Row) -> Void = { _ in }
    ) -> AppTable.Row {
        row(name, .manual, rank, provides, change)
    }

    /// A row that the app's start waits for; its module needs a launcher's
    /// vouch: see `TestBus.launcher`.
    public static func eager(
        _ name: String, rank: Int = 0, priority: Int = 0, provides: [String] = [],
        with change: (inout AppTable.Row) -> Void = { _ in }
    ) -> AppTable.Row {
        row(name, .eager, rank, provides) { row in
            row.priority = priority
            change(&row)
        }
    }

    private static func row(
        _ name: String, _ start: AppTable.Start, _ rank: Int, _ provides: [String],
        _ change: (inout AppTable.Row) -> Void
    ) -> AppTable.Row {
        var row = AppTable.Row(name: name)
        row.rank = rank
        row.start = start
        row.provides = provides
        change(&row)
        return row
    }
}

// What of Core a test's author meets, so that `import StrataTesting` is enough.

/// An app as its broker knows it: `testing` makes one of rows, which `manual` and
/// `eager` make. Its properties have the names of the manifest's keys (`schemes`,
/// `levels`, `calls`, `authorizer`, `guests`, `limits`, …), and so have a row's.
public typealias AppTable = StrataCore.AppTable
