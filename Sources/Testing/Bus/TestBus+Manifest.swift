public import StrataCore
internal import Glibc
internal import StrataManifest

/// An app's own manifest in tests, so that no test repeats its table.
extension TestBus {
    /// Runs a test beside the app of a manifest: `strata test` starts each row as it is, but for those
    /// that the test plays.
    ///
    ///     try TestBus.app("strata.yaml", play: ["Fetcher"]) { bus in
    ///         try bus.play("Fetcher") { $0.expectCall("Fetcher/get").reply(["status": 200]) }
    ///         try bus.operator().expect("Rules/status", gives: ["failing": 0])
    ///     }
    ///
    /// The bus isn't the test's: its launcher is the app's, so `start`, `vouch`, `launcher` and `reload`
    /// have no use here. The test's target depends on the products `strata` and `strata-broker`.
    /// - Parameters:
    ///   - manifest: the path of the manifest, as for `AppTable.manifest`.
    ///   - rows: the names of the rows that the test plays, by `module` or `play`.
    ///   - arguments: further options of `strata test`, such as `["--set", "store.size=3"]`.
    ///   - executable: the path of `strata`; nil for the one beside the tests.
    ///   - file: the test's file.
    ///   - test: the test, which gets the bus.
    /// - Throws: What the test throws, and `TestFailure` with the app's output if it can't start.
    @discardableResult
    public static func app<Result>(
        _ manifest: String = "strata.yaml", play rows: [String] = [], _ arguments: [String] = [],
        executable: String? = nil, file: StaticString = #filePath, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        try TestBus(app: AppTable.place(of: manifest, near: file), play: rows, arguments, executable).run(test)
    }

    /// Runs a test beside an app, on a thread of its own, as the other `run` does.
    @discardableResult
    public static func app<Result: Sendable>(
        _ manifest: String = "strata.yaml", play rows: [String] = [], _ arguments: [String] = [],
        executable: String? = nil, file: StaticString = #filePath, _ test: (TestBus) throws -> Result
    ) async throws -> Result {
        try await OwnThread.run { try app(manifest, play: rows, arguments, executable: executable, file: file, test) }
    }

    /// Waits until modules are ready.
    /// - Throws: `TestFailure`, at once for a module that has no row where guests aren't allowed.
    public func waitUntilReady(
        _ modules: String..., within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let rows = table.modules.map(\.name)
        for module in modules {
            guard rows.contains(module) || table.guests != nil else {
                throw TestFailure(
                    "there is no row \(module): the table has \(rows.joined(separator: ", "))", file: file, line: line)
            }
            try waitUntil(module, is: "ready", within: time, file: file, line: line)
        }
    }
}

extension AppTable {
    /// Returns the table of a manifest for `TestBus.run`: its levels, ranks, rows, adapters and rules.
    /// All rows are manual, as in `testing`, because the test starts or plays them.
    /// - Parameters:
    ///   - path: the manifest's path, from the working folder, which is the package's under `swift test`,
    ///     or else from a folder above the test's file.
    ///   - file: the test's file.
    /// - Throws: `TestFailure` with everything that is wrong with the manifest.
    public static func manifest(_ path: String = "strata.yaml", file: StaticString = #filePath) throws -> AppTable {
        var table: AppTable
        do throws(ManifestErrors) {
            table = try Manifest.load(path: place(of: path, near: file), environment: [:]).inForce().table
        } catch {
            throw TestFailure("\(error)")
        }
        for place in table.modules.indices { table.modules[place].start = .manual }
        return table
    }

    /// Returns where a file is, from the working folder or from a folder above another file; the path
    /// itself if it is nowhere.
    fileprivate static func place(of path: String, near file: StaticString) -> String {
        var folder = Substring("\(file)")
        var place = path
        while access(place, F_OK) != 0, let slash = folder.lastIndex(of: "/"), !path.hasPrefix("/") {
            folder = folder[..<slash]
            place = "\(folder)/\(path)"
        }
        return access(place, F_OK) == 0 ? place : path
    }
}
