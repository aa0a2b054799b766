import Glibc
public import StrataCore

/// An app's manifest, read and checked: every name is valid, every reference leads somewhere, users
/// and groups are numbers, and paths are absolute.
///
/// It doesn't check whether the modules' executables exist, or do what the manifest says.
public struct Manifest: Sendable, Equatable {
    /// The path that the manifest was read from, as given.
    public var path: String
    /// The absolute folder of the manifest; paths in it are relative to this folder.
    public var folder: String
    /// The broker's part of the manifest.
    public var table: AppTable
    /// The paths of the manifest and of the files that it includes, as they were read.
    public var files: [String] { places.files }
    /// The launcher's part of the manifest: a process for each of the table's rows, in the same
    /// order.
    public var processes: [ModuleProcess]
    /// How the app's nodes reach each other; nil if it has no nodes.
    public var federation: Federation?
    /// The position of each value in its file.
    public var places: ManifestPlaces

    /// The values of settings, in the order of their layers: of two for the same row and key, the
    /// later one counts. The table has what counts.
    public var settings: [SettingValue]
    /// Where the secrets of rows are read from.
    public var secrets: [SecretSource]

    /// Creates a manifest that was read elsewhere, or one for a test. Nothing is checked.
    public init(
        path: String, folder: String, table: AppTable, processes: [ModuleProcess],
        places: ManifestPlaces = ManifestPlaces(), settings: [SettingValue] = [], secrets: [SecretSource] = [],
        federation: Federation? = nil
    ) {
        self.federation = federation
        self.places = places
        self.settings = settings
        self.secrets = secrets
        self.path = path
        self.folder = folder
        self.table = table
        self.processes = processes
    }

    /// Reads and checks a manifest. Blocks on its files and on the user database.
    ///
    /// - Parameters:
    ///   - environment: `STRATA_ENV` in it overrides the manifest's `env`, and `STRATA_SET_…` set
    ///     settings.
    ///   - readsSecrets: Whether to read the secrets into the table, as whoever runs the app does.
    ///   - node: The node that this machine is. In an app with nodes only its rows' secrets are read.
    ///     A name that the app doesn't have is ignored.
    /// - Throws: All errors of the manifest at once.
    public static func load(
        path: String, environment: [String: String], readsSecrets: Bool = false, node: String? = nil
    ) throws(ManifestErrors) -> Manifest {
        try load(path: path, environment: environment, readsSecrets: readsSecrets, node: node, unwritten: [:])
    }

    /// Reads and checks a manifest whose files are about to change.
    /// - Parameters:
    ///   - unwritten: The new contents by path.
    ///   - shapes: The keys that it may have.
    static func load(
        path: String, environment: [String: String], readsSecrets: Bool = false, node: String? = nil,
        unwritten: [String: [UInt8]], shapes: ManifestShapes = .all
    ) throws(ManifestErrors) -> Manifest {
        func whole(_ message: String, _ line: Int? = nil, _ column: Int? = nil) -> ManifestErrors {
            ManifestErrors([ManifestError(file: path, line: line, column: column, key: "", message: message)])
        }
        var size = ManifestSize()
        size.unwritten = unwritten
        let folder: String
        let root: YAMLNode?
        do throws(ManifestFile.Failure) {
            root = try ManifestFile.tree(path, &size)
            folder = try ManifestFile.folder(of: path)
        } catch {
            throw whole(error.message, error.line, error.column)
        }
        guard let root else { throw whole("expected a mapping with app and modules; found an empty file") }
        let reader = ManifestReader(file: path, folder: folder, shapes: shapes)
        let tree = reader.included(into: root, &size)
        reader.readSettingFiles(&size)
        // Without the rows of a file that can't be read, further errors would mislead.
        if reader.errors.isEmpty {
            reader.app(Field(node: tree, path: ""), environment: environment)
            if let node, reader.table.nodes.contains(where: { $0.name == node }) { reader.table.node = node }
            reader.mergeSettings(environment, readsSecrets: readsSecrets, &size)
        }
        guard reader.errors.isEmpty else { throw ManifestErrors(reader.errors) }
        return Manifest(
            path: path, folder: folder, table: reader.table, processes: reader.processes,
            places: ManifestPlaces(tree, files: reader.files), settings: reader.settings, secrets: reader.secrets,
            federation: reader.federation)
    }

    /// The rows whose modules run on this node, with their processes; without nodes all.
    public var here: [(row: AppTable.Row, process: ModuleProcess)] {
        zip(table.modules, processes).filter { !$0.0.isAway(from: table.node) }.map { ($0, $1) }
    }

    /// Reads only the app's name, even if the rest of the manifest has errors. Blocks on the file.
    ///
    /// - Returns: Nil if there is no such file, or no YAML with a valid name in it.
    public static func app(path: String) -> String? {
        var size = ManifestSize()
        guard let root = try? ManifestFile.tree(path, &size),
            case .mapping(let pairs) = root.content, let name = pairs.first(where: { $0.key == "app" })?.value,
            case .string(let app)? = name.scalar, Name.isApp(app)
        else { return nil }
        return app
    }
}

/// The system's users and groups by name. Blocks if the system asks a server.
enum Accounts {
    static func user(named name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    static func group(named name: String) -> UInt32? {
        // A group's entry lists its members, so it can be long.
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        var entry = GroupEntry()
        var found: UnsafeMutablePointer<GroupEntry>?
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}

/// C's `struct group`, under a name that is not also a function's here.
private typealias GroupEntry = Glibc.group
