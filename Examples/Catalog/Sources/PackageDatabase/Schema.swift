import GRDB

/// The tables, as a list of steps: a step that was released is never changed,
/// another one is added.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("packages") { try $0.execute(sql: packages) }
        migrator.registerMigration("search") { try $0.execute(sql: search) }
        migrator.registerMigration("notes") { try $0.execute(sql: notes) }
        migrator.registerMigration("writers") { try $0.execute(sql: "ALTER TABLE note ADD COLUMN writer TEXT") }
        return migrator
    }

    /// `import` is the number of the last import that put the package: those
    /// with an older one are gone from the machine when an import is complete.
    private static let packages = """
        CREATE TABLE package (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            version TEXT NOT NULL,
            architecture TEXT NOT NULL,
            summary TEXT NOT NULL,
            description TEXT NOT NULL,
            section TEXT, maintainer TEXT, homepage TEXT, depends TEXT,
            installedSize INTEGER,
            import INTEGER NOT NULL
        );
        CREATE TABLE import (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            stamp TEXT NOT NULL,
            isComplete INTEGER NOT NULL DEFAULT 0
        );
        """

    /// The index holds no text of its own; triggers keep it up to date. Words
    /// are compared by their stems, and without accents. A package that an import
    /// puts as it was costs no work here.
    private static let search = """
        CREATE VIRTUAL TABLE packageText USING fts5(
            name, summary, description,
            content='package', content_rowid='id',
            tokenize='porter unicode61 remove_diacritics 2'
        );
        CREATE TRIGGER packageInserted AFTER INSERT ON package BEGIN
            INSERT INTO packageText(rowid, name, summary, description)
            VALUES (new.id, new.name, new.summary, new.description);
        END;
        CREATE TRIGGER packageDeleted AFTER DELETE ON package BEGIN
            INSERT INTO packageText(packageText, rowid, name, summary, description)
            VALUES ('delete', old.id, old.name, old.summary, old.description);
        END;
        CREATE TRIGGER packageUpdated AFTER UPDATE ON package
        WHEN old.name <> new.name OR old.summary <> new.summary OR old.description <> new.description BEGIN
            INSERT INTO packageText(packageText, rowid, name, summary, description)
            VALUES ('delete', old.id, old.name, old.summary, old.description);
            INSERT INTO packageText(rowid, name, summary, description)
            VALUES (new.id, new.name, new.summary, new.description);
        END;
        """

    /// A note outlives its package.
    private static let notes = """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            item TEXT NOT NULL,
            text TEXT NOT NULL,
            at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
        );
        CREATE INDEX noteItem ON note(item);
        """
}
