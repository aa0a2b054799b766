import GRDB
public import StorageInterface

extension PackageDatabase {
    /// Nil where the last import had the same stamp.
    public func beginImport(stamp: String) throws -> Int64? {
        try pool.write { db in
            let last = try String.fetchOne(
                db, sql: "SELECT stamp FROM import WHERE isComplete ORDER BY number DESC LIMIT 1")
            guard last != stamp else { return nil }
            try db.execute(sql: "INSERT INTO import (stamp) VALUES (?)", arguments: [stamp])
            return db.lastInsertedRowID
        }
    }

    public func put(_ packages: [Package], number: Int64) throws {
        try pool.write { db in
            let statement = try db.cachedStatement(sql: Self.upsert)
            for package in packages {
                try statement.execute(arguments: [
                    package.name, package.version, package.architecture, package.summary, package.description,
                    package.section, package.maintainer, package.homepage, package.depends, package.installedSize,
                    number,
                ])
            }
        }
    }

    /// Nil where there is no such import: a newer one has begun and is complete.
    public func completeImport(_ number: Int64) throws -> Storage.CompleteImport.Reply? {
        try pool.write { db in
            try db.execute(sql: "UPDATE import SET isComplete = 1 WHERE number = ?", arguments: [number])
            guard db.changesCount == 1 else { return nil }
            try db.execute(sql: "DELETE FROM import WHERE number < ?", arguments: [number])
            try db.execute(sql: "DELETE FROM package WHERE import <> ?", arguments: [number])
            let removed = db.changesCount
            return Storage.CompleteImport.Reply(packages: try db.counts().packages, removed: removed)
        }
    }

    private static let upsert = """
        INSERT INTO package (name, version, architecture, summary, description,
            section, maintainer, homepage, depends, installedSize, import)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET
            version = excluded.version, architecture = excluded.architecture,
            summary = excluded.summary, description = excluded.description,
            section = excluded.section, maintainer = excluded.maintainer,
            homepage = excluded.homepage, depends = excluded.depends,
            installedSize = excluded.installedSize, import = excluded.import
        """
}
