import GRDB
import StorageInterface

/// The SQLite file: its tables, and what is asked of them. All of it blocks.
///
/// Several may read while one writes. What is written stands in the file when
/// the call returns, also after a `kill -9`.
public final class PackageDatabase: Sendable {
    let pool: DatabasePool

    /// Opens the file, makes it where there is none, and brings its tables up
    /// to date.
    public init(path: String) throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 2
        configuration.label = "packages"
        pool = try DatabasePool(path: path, configuration: configuration)
        try Schema.migrator.migrate(pool)
    }

    /// Closes the file, and puts what was written last from the log into it: a
    /// reader that is the last to close could not.
    public func close() throws {
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try pool.close()
    }

    /// All of it as it is now, for who reads it bit by bit.
    public func snapshot() throws -> PackageSnapshot { try PackageSnapshot(pool.makeSnapshot()) }
}
