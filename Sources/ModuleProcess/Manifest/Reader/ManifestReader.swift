import StrataCore

/// Reads a manifest's tree into a table and processes, and collects its errors. A value that can't
/// be read adds an error and becomes nil, and the reader continues.
///
/// Each extension reads one part. A reader serves one load.
final class ManifestReader {
    /// The keys that each mapping may have.
    let shapes: ManifestShapes
    /// The path of the manifest, then those of the included files.
    var files: [String]
    let folder: String
    var errors: [ManifestError] = []
    var table = AppTable(app: "")
    var processes: [ModuleProcess] = []
    /// Nil if the manifest has no `nodes`.
    var federation: Federation?
    /// The provided interfaces, each with the row that provides it.
    var providers: [String: String] = [:]
    /// The URL patterns, each with the row that maps it.
    var mapped = URLTable<String>()
    /// The schemes of other apps, each with its app and the row that named it first.
    var otherSchemes: [String: (app: OtherApp, row: String)] = [:]
    /// References that can be checked only when all rows are known.
    var reportTargets: [(name: String, place: Field.Entry)] = []
    /// The rows with replicas, which are checked when all are known.
    var replicatedRows: [(row: AppTable.Row, field: Field)] = []
    var managedPlaces: [(manager: String, name: String, field: Field)] = []
    var guestNameKeys: [Field.Entry] = []
    var adapterPlaces: [(name: String, to: String, field: Field)] = []
    /// The variables that rows keep of the launcher's environment.
    var keptVariables: [(name: String, field: Field)] = []
    /// The values of settings, in the order of their layers.
    var settings: [SettingValue] = []
    var secrets: [SecretSource] = []
    /// The files of `settings.d`.
    var settingFiles: [Field] = []
    /// The app's `settings` if they are no mapping.
    var otherSettings: Field?

    init(file: String, folder: String, shapes: ManifestShapes) {
        self.shapes = shapes
        files = [file]
        self.folder = folder
    }

    func fail(_ field: Field, _ message: String) {
        fail(field.path, field.node.line, field.node.column, message, in: field.node.file)
    }

    /// Adds an error about a key.
    func fail(key entry: Field.Entry, _ message: String) {
        fail(entry.value.path, entry.keyLine, entry.keyColumn, message, in: entry.value.node.file)
    }

    func expected(_ what: String, _ field: Field) {
        fail(field, "expected \(what); found \(field.node.found)")
    }

    /// Adds an error about an unknown name, with the nearest known one.
    func expected(_ what: String, _ field: Field, among known: some Sequence<String>) {
        guard case .scalar(let text, _) = field.node.content else { return expected(what, field) }
        fail(field, "expected \(what); found \(field.node.found)\(ManifestReview.hint(text, known))")
    }

    func expected(_ what: String, key entry: Field.Entry) {
        fail(key: entry, "expected \(what); found \(JSON.string(entry.key))")
    }

    func fail(_ path: String, _ line: Int?, _ column: Int?, _ message: String, in file: Int = 0) {
        errors.append(
            ManifestError(
                file: files[file], number: file, line: line, column: column, key: path, message: message))
    }

    /// Joins words as in `always, on-failure or never`.
    static func oneOf(_ words: [String]) -> String {
        guard words.count > 1, let last = words.last else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension ManifestReader {
    static let interfaceRule = "an interface's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved)"
    static let requiredRule =
        "an interface's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved), alone or with a version as in Storage@2.1"
    static let moduleRule = "a module's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved)"
    static let actionRule = "an action's name ([A-Za-z_][A-Za-z0-9._-]{0,63})"

    /// Returns an interface's name without its suffix; nil if the name isn't valid.
    static func interface(_ name: String) -> String? {
        let name = Name.withoutRouterSuffix(name)
        return Name.isInterface(name) && !Name.isReserved(name) ? name : nil
    }

    static func required(_ text: String) -> RequiredInterface? {
        RequiredInterface(text).flatMap { Name.isReserved($0.name) ? nil : $0 }
    }

    func interface(_ field: Field?) -> String? {
        text(field, Self.interfaceRule) { Self.interface($0) != nil }.flatMap(Self.interface)
    }

    /// Returns a list of distinct interfaces, with their positions.
    func interfaces(_ field: Field?) -> [(name: String, field: Field)] {
        unique(elements(field).compactMap { element in interface(element).map { ($0, element) } })
    }

    /// Returns the name of a notification or an event.
    func notification(_ field: Field?) -> String? {
        text(field, "a name of 1 to 256 bytes", where: Self.isNotification)
    }

    static func isNotification(_ name: String) -> Bool { (1...256).contains(name.utf8.count) }

    /// Returns a list of distinct names of notifications or events.
    func notifications(_ field: Field?) -> [String] {
        unique(elements(field).compactMap { element in notification(element).map { ($0, element) } }).map(\.name)
    }

    /// Returns each name once; a repeated one is an error.
    func unique(_ names: [(name: String, field: Field)]) -> [(name: String, field: Field)] {
        var seen: Set<[UInt8]> = []
        return names.filter { name, field in
            if seen.insert(Array(name.utf8)).inserted { return true }
            fail(field, "expected each name once; \(JSON.string(name)) is in the list already")
            return false
        }
    }

    /// Returns the rank of a level.
    func level(_ field: Field?) -> Int? {
        text(field, Self.oneOf(table.levels)) { table.levels.contains($0) }
            .flatMap { table.levels.firstIndex(of: $0) }
    }
}
