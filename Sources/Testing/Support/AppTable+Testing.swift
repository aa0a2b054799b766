public import StrataCore

extension AppTable {
    /// Returns a table for a test, with the three usual levels and these rows.
    public static func testing(_ rows: Row..., with change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        testing(rows, with: change)
    }

    /// Returns a table for a test, with an array of rows.
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
    /// Returns a row whose module a test connects by hand: `start: manual`.
    public static func manual(
        _ name: String, rank: Int = 0, provides: [String] = [], with change: (inout AppTable.Row) -> Void = { _ in }
    ) -> AppTable.Row {
        row(name, .manual, rank, provides, change)
    }

    /// Returns a row that the app's start waits for. A launcher must vouch for its module; see
    /// `TestBus.launcher`.
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

// The parts of Core that a test's author meets, so that `import StrataTesting` is enough.

/// The table of an app, as its broker knows it.
///
/// `testing` makes one from rows, and `manual` and `eager` make the rows. The properties of the
/// table and its rows have the names of the manifest's keys (`schemes`, `levels`, `calls`,
/// `authorizer`, `guests`, `limits`, …).
public typealias AppTable = StrataCore.AppTable
