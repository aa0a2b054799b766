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
    /// The launcher's part of the manifest: a process for each of the table's rows, in the same
    /// order.
    public var processes: [ModuleProcess]
    /// The position of each value in the file.
    public var places: ManifestPlaces

    /// Creates a manifest that was read elsewhere, or one for a test. Nothing is checked.
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

    /// Reads and checks a manifest. Blocks on the file and on the user database.
    ///
    /// - Parameter environment: `STRATA_ENV` in it overrides the manifest's `env`.
    /// - Throws: All errors of the manifest at once.
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

    /// Reads only the app's name, even if the rest of the manifest has errors. Blocks on the file.
    ///
    /// - Returns: Nil if there is no such file, or no YAML with a valid name in it.
    public static func app(path: String) -> String? {
        guard let file = try? ManifestFile(path: path), let root = try? YAMLComposer.compose(file.bytes),
            case .mapping(let pairs) = root.content, let name = pairs.first(where: { $0.key == "app" })?.value,
            case .string(let app)? = name.scalar, ManifestReader.isApp(app)
        else { return nil }
        return app
    }
}

/// The bytes of a manifest, which are valid UTF-8 of limited size, and its folder.
struct ManifestFile {
    static let longest = 1 << 20

    let bytes: [UInt8]
    /// The absolute path, with links resolved.
    let folder: String

    struct Failure: Error {
        var message: String
        var line: Int?
    }

    init(path: String) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(message: "can't be opened: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        bytes = try Self.read(descriptor)
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        var line = 1
        decoding: while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if scalar == "\n" { line += 1 }
            case .emptyInput: break decoding
            case .error: throw Failure(message: "is not valid UTF-8", line: line)
            }
        }
        var parent = "."
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { parent = String(path[...slash]) }
        guard let resolved = realpath(parent, nil) else {
            throw Failure(message: "its folder can't be resolved: \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        folder = String(cString: resolved)
    }

    private static func read(_ descriptor: CInt) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(message: "can't be read: \(String(cString: strerror(errno)))") }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= longest else { throw Failure(message: "is larger than 1 MiB") }
        }
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
