public import StrataCore

/// An app's manifest, read and judged: every name is one, every reference meets
/// something, users and groups are numbers, paths are absolute.
///
/// Whether the modules' executables are there and keep what it says is not
/// looked at here.
public struct Manifest: Sendable, Equatable {
    /// The path that it was read from, as it was given.
    public var path: String
    /// The absolute folder that it lies in; paths in it are relative to this.
    public var folder: String
    /// What the broker needs.
    public var table: AppTable
    /// What the launcher needs, a process for each of the table's rows, in the
    /// same order.
    public var processes: [ModuleProcess]
    /// Where in the file each of its values stands.
    public var places: ManifestPlaces

    /// A manifest that was read elsewhere, or is made for a test; nothing is judged.
    public init(
        path: String, folder: String, table: AppTable, processes: [ModuleProcess],
        places: ManifestPlaces = ManifestPlaces()
    ) {
        self.places = places
        self.path = path
        self.folder = folder
        self.table = table
        self.processes = processes
    }

    /// Reads and judges a manifest. Blocks on the file and on the user database.
    ///
    /// - Parameter environment: `STRATA_ENV` in it overrides the manifest's `env`.
    /// - Throws: All that is wrong with it at once.
    public static func load(
        path: String, environment: [String: String]
    ) throws(ManifestErrors) -> Manifest {
        func whole(_ message: String, _ line: Int? = nil, _ column: Int? = nil) -> ManifestErrors {
            ManifestErrors([ManifestError(file: path, line: line, column: column, key: "", message: message)])
        }
        let file: ManifestFile
        do throws(ManifestFile.Failure) { file = try ManifestFile(path: path) } catch {
            throw whole(error.message, error.line)
        }
        let root: YAMLNode?
        do throws(YAMLError) { root = try YAMLComposer.compose(file.bytes) } catch {
            throw whole(error.message, error.line, error.column)
        }
        guard let root else { throw whole("expected a mapping with app and modules; found an empty file") }
        let reader = ManifestReader(file: path, folder: file.folder)
        reader.app(Field(node: root, path: ""), environment: environment)
        guard reader.errors.isEmpty else { throw ManifestErrors(reader.errors) }
        return Manifest(
            path: path, folder: file.folder, table: reader.table, processes: reader.processes,
            places: ManifestPlaces(root))
    }
}
