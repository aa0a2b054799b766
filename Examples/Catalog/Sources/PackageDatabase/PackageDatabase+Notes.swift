import GRDB
public import StorageInterface

extension PackageDatabase {
    /// Nil where there is no such package.
    public func addNote(on item: String, _ text: String, by writer: String) throws -> Note? {
        try pool.write { db in
            try db.execute(
                sql: "INSERT INTO note (item, text, writer) SELECT name, ?, ? FROM package WHERE name = ?",
                arguments: [text, writer, item])
            guard db.changesCount == 1 else { return nil }
            return try Note.fetchOne(db, sql: "SELECT * FROM note WHERE id = ?", arguments: [db.lastInsertedRowID])
        }
    }

    /// The newest ones, the oldest of them first.
    /// - Parameter item: what they are about; nil for anything.
    public func notes(on item: String?, limit: Int) throws -> [Note] {
        try pool.read { db in
            let condition = item == nil ? "" : "WHERE item = ?"
            let notes = try Note.fetchAll(
                db, sql: "SELECT * FROM note \(condition) ORDER BY id DESC LIMIT ?",
                arguments: (item.map { [$0] } ?? []) + [limit])
            return notes.reversed()
        }
    }

    public func strayNotes(limit: Int) throws -> [Note] {
        try pool.read { db in
            try Note.fetchAll(
                db, sql: "SELECT * FROM note WHERE item NOT IN (SELECT name FROM package) ORDER BY id DESC LIMIT ?",
                arguments: [limit])
        }
    }
}
