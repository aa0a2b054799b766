import StrataCore

/// All errors of a manifest, in the order of its files and their lines.
public struct ManifestErrors: Error, Equatable, CustomStringConvertible {
    /// The errors sorted by file and line; those without a line come first. Never empty.
    public let errors: [ManifestError]

    init(_ errors: [ManifestError]) {
        var unique: [ManifestError] = []
        var seen: Set<String> = []
        // A value that an alias repeats is reported once.
        for error in errors where seen.insert(error.description).inserted { unique.append(error) }
        self.errors = unique.sorted { $0.place < $1.place }
    }

    /// One error per line.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// One error of a manifest.
public struct ManifestError: Error, Equatable, CustomStringConvertible {
    /// The path of the manifest, as given, or of a file that it includes.
    public var file: String
    /// The file's number: 0 for the manifest, then the included files in their order.
    var fileNumber = 0
    /// The line, from 1; nil if the error concerns the whole file.
    public var line: Int?
    /// The column, from 1, in characters.
    public var column: Int?
    /// The key, such as `modules.Storage.restart`; empty for the file itself.
    public var key: String
    /// What was expected, and what was found.
    public var message: String

    public init(file: String, line: Int?, column: Int?, key: String, message: String) {
        self.init(file: file, number: 0, line: line, column: column, key: key, message: message)
    }

    init(file: String, number: Int, line: Int?, column: Int?, key: String, message: String) {
        self.file = file
        fileNumber = number
        self.line = line
        self.column = column
        self.key = key
        self.message = message
    }

    /// Its place in the order of files and lines.
    var place: (file: Int, line: Int, column: Int) { (fileNumber, line ?? 0, column ?? 0) }

    /// A line such as `strata.yaml:12: modules.Storage.restart: expected always, on-failure or
    /// never; found "sometimes"`.
    public var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return Printable.indented(key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)")
    }
}

/// The positions of a manifest's values in its file, for problems that are found after reading it.
public struct ManifestPlaces: Sendable, Equatable {
    /// One step on the path to a value.
    public enum Step: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        /// A mapping's key.
        case key(String)
        /// An element of a list, or an entry of a mapping, counted from 0.
        case at(Int)

        public init(stringLiteral key: String) { self = .key(key) }
        public init(integerLiteral index: Int) { self = .at(index) }
    }

    /// The position of a value. A list or a mapping behind a key has the position of the key.
    public struct Place: Sendable, Equatable {
        /// The number of the file: 0 for the manifest, then the included ones.
        var file: Int
        /// The line, from 1.
        public var line: Int
        /// The column, from 1, in characters.
        public var column: Int
    }

    private let root: YAMLNode?
    /// The path of the manifest, then those of the included files.
    let files: [String]

    /// Creates an empty object, for a manifest without a file.
    public init() { (root, files) = (nil, []) }

    init(_ root: YAMLNode, files: [String]) { (self.root, self.files) = (root, files) }

    /// Returns the position of a value, and its key as errors write it:
    /// `modules.Storage.requires[0]`.
    ///
    /// A missing value has the position of its container; a missing top-level key has none. A
    /// missing index is left out of the key, because what a module adds to its row has no position
    /// in the list.
    public func find(_ steps: [Step]) -> (place: Place?, key: String) {
        var (node, place, path) = (root, Place?.none, "")
        for step in steps {
            switch (step, node?.content) {
            case (.at(let index), .sequence(let elements)?):
                node = elements.indices.contains(index) ? elements[index] : nil
                guard let node else { continue }
                place = Place(file: node.file, line: node.line, column: node.column)
                path += "[\(index)]"
            case (.at(let index), .mapping(let pairs)?):
                node = enter(pairs.indices.contains(index) ? pairs[index] : nil, &place, &path)
            case (.at, .scalar), (.at, nil): node = nil
            case (.key(let key), .mapping(let pairs)?):
                if let pair = pairs.first(where: { $0.key == key }) {
                    node = enter(pair, &place, &path)
                } else {
                    node = nil
                    path += path.isEmpty ? key : ".\(key)"
                }
            case (.key(let key), .sequence), (.key(let key), .scalar), (.key(let key), nil):
                node = nil
                path += path.isEmpty ? key : ".\(key)"
            }
        }
        return (place, path)
    }

    private func enter(_ pair: YAMLNode.Pair?, _ place: inout Place?, _ path: inout String) -> YAMLNode? {
        guard let pair else { return nil }
        place = Place(file: pair.value.file, line: pair.line, column: pair.column)
        // For a reader, a value of several lines begins at its key.
        if case .scalar = pair.value.content, !pair.value.isNull {
            place = Place(file: pair.value.file, line: pair.value.line, column: pair.value.column)
        }
        path += path.isEmpty ? pair.key : ".\(pair.key)"
        return pair.value
    }
}

extension Manifest {
    /// Returns an error about the value that the steps lead to.
    public func problem(_ steps: [ManifestPlaces.Step], _ message: String) -> ManifestError {
        let (place, key) = places.find(steps)
        let number = place?.file ?? 0
        return ManifestError(
            file: number == 0 ? path : places.files[number], number: number, line: place?.line,
            column: place?.column, key: key, message: message)
    }
    /// Returns the file and the line of a row: `strata.yaml:8`.
    func place(of row: String) -> String {
        let problem = problem(["modules", .key(row)], "")
        return problem.line.map { "\(problem.file):\($0)" } ?? problem.file
    }
}
