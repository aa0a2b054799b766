import GRDB
public import StorageInterface

extension PackageDatabase {
    public func page(after: String?, limit: Int) throws -> Storage.Page.Reply {
        // One more than is wanted tells whether there is another page.
        var packages = try pool.read { db in
            try PackageSummary.fetchAll(
                db, sql: "SELECT name, version, summary FROM package WHERE name > ? ORDER BY name LIMIT ?",
                arguments: [after ?? "", limit + 1])
        }
        let isLast = packages.count <= limit
        if !isLast { packages.removeLast() }
        return Storage.Page.Reply(packages: packages, next: isLast ? nil : packages.last?.name)
    }

    public func find(_ name: String) throws -> Package? {
        try pool.read { db in
            try Package.fetchOne(db, sql: "SELECT * FROM package WHERE name = ?", arguments: [name])
        }
    }

    public func search(_ text: String, limit: Int, offset: Int) throws -> Storage.Search.Reply {
        guard let pattern = SearchPattern.make(text) else { return Storage.Search.Reply(packages: [], total: 0) }
        return try pool.read { db in
            // A word in the name weighs ten times one in the description.
            let packages = try PackageSummary.fetchAll(
                db,
                sql: """
                    SELECT package.name, version, package.summary
                    FROM packageText JOIN package ON package.id = packageText.rowid
                    WHERE packageText MATCH ? ORDER BY bm25(packageText, 10, 4, 1), package.name LIMIT ? OFFSET ?
                    """,
                arguments: [pattern, limit, offset])
            let total = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM packageText WHERE packageText MATCH ?", arguments: [pattern])
            return Storage.Search.Reply(packages: packages, total: total ?? 0)
        }
    }

    public func counts() throws -> Storage.Counts.Reply { try pool.read { try $0.counts() } }
}

extension Database {
    func counts() throws -> Storage.Counts.Reply {
        Storage.Counts.Reply(
            packages: try Int.fetchOne(self, sql: "SELECT count(*) FROM package") ?? 0,
            notes: try Int.fetchOne(self, sql: "SELECT count(*) FROM note") ?? 0)
    }
}
