import GRDB
public import StorageInterface

/// Everything as it was at one moment, read a batch at a time while others go
/// on writing. Reading blocks.
public struct PackageSnapshot: Sendable {
    private let snapshot: DatabaseSnapshot
    private var lastPackage: Int64 = 0
    private var lastNote: Int64 = 0

    init(_ snapshot: DatabaseSnapshot) { self.snapshot = snapshot }

    /// The next packages, and after the last of them the notes; nil at the end.
    public mutating func next(_ count: Int) throws -> Storage.Dump.Element? {
        let (after, rows) = try nextRows(count, table: "package", after: lastPackage) { try Package(row: $0) }
        lastPackage = after
        if !rows.isEmpty { return Storage.Dump.Element(packages: rows, notes: []) }
        let (afterNote, notes) = try nextRows(count, table: "note", after: lastNote) { try Note(row: $0) }
        lastNote = afterNote
        return notes.isEmpty ? nil : Storage.Dump.Element(packages: [], notes: notes)
    }

    private func nextRows<Record: Sendable>(
        _ count: Int, table: String, after: Int64, _ record: @Sendable (Row) throws -> Record
    ) throws -> (Int64, [Record]) {
        try snapshot.read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM \(table) WHERE id > ? ORDER BY id LIMIT ?", arguments: [after, count])
            return (rows.last?["id"] ?? after, try rows.map(record))
        }
    }
}
