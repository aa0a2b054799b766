import StrataCore

/// Everything that is wrong with a manifest, in the order of its lines.
public struct ManifestErrors: Error, Equatable, CustomStringConvertible {
    /// Sorted by line; what concerns no line comes first. Never empty.
    public let errors: [ManifestError]

    init(_ errors: [ManifestError]) {
        var unique: [ManifestError] = []
        var seen: Set<String> = []
        // What an alias repeats is wrong once.
        for error in errors where seen.insert(error.description).inserted { unique.append(error) }
        self.errors = unique.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
    }

    /// One error a line.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a manifest.
public struct ManifestError: Error, Equatable, CustomStringConvertible {
    /// The manifest's path, as it was given.
    public var file: String
    /// From 1; nil where it concerns the file as a whole.
    public var line: Int?
    /// From 1, in characters.
    public var column: Int?
    /// The key, such as `modules.Storage.restart`; empty for the file itself.
    public var key: String
    /// What was expected and what was found.
    public var message: String

    public init(file: String, line: Int?, column: Int?, key: String, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// `strata.yaml:12: modules.Storage.restart: expected always, on-failure or
    /// never; found "sometimes"`
    public var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return Printable.indented(key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)")
    }
}
