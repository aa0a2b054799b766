import StrataCore

/// Reads a manifest's tree into a table and processes, and collects what is
/// wrong with it on the way: a reading that fails adds an error and yields nil,
/// and the reader goes on.
///
/// Extensions read one part each. Used by one load, then thrown away.
final class ManifestReader {
    let file: String
    let folder: String
    var errors: [ManifestError] = []
    var table = AppTable(app: "")
    var processes: [ModuleProcess] = []
    /// Each provided interface with the row that provides it.
    var providers: [String: String] = [:]
    /// The URL patterns, each with the row that maps it.
    var mapped = URLTable<String>()
    /// Names met before all rows were known.
    var reportTargets: [(name: String, place: Field.Entry)] = []
    var adapterPlaces: [(name: String, to: String, field: Field)] = []

    init(file: String, folder: String) {
        self.file = file
        self.folder = folder
    }

    func fail(_ field: Field, _ message: String) {
        fail(field.path, field.node.line, field.node.column, message)
    }

    /// An error that the key is to blame for.
    func fail(key entry: Field.Entry, _ message: String) {
        fail(entry.value.path, entry.keyLine, entry.keyColumn, message)
    }

    func expected(_ what: String, _ field: Field) {
        fail(field, "expected \(what); found \(field.node.found)")
    }

    /// An error about a name that is none of those that are known.
    func expected(_ what: String, _ field: Field, among known: some Sequence<String>) {
        guard case .scalar(let text, _) = field.node.content else { return expected(what, field) }
        fail(field, "expected \(what); found \(field.node.found)\(ManifestReview.hint(text, known))")
    }

    func expected(_ what: String, key entry: Field.Entry) {
        fail(key: entry, "expected \(what); found \(JSON.string(entry.key))")
    }

    func fail(_ path: String, _ line: Int?, _ column: Int?, _ message: String) {
        errors.append(ManifestError(file: file, line: line, column: column, key: path, message: message))
    }

    /// `always, on-failure or never`
    static func oneOf(_ words: [String]) -> String {
        guard words.count > 1, let last = words.last else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}
