import StorageInterface

/// The fields of one package, as far as they are of use here.
struct Paragraph: Sendable {
    private enum Field: String {
        case package, status, version, architecture, section, maintainer, homepage, depends, description
        case installedSize = "installed-size"
    }

    private var values: [Field: String] = [:]
    /// What lines of more text belong to; nil behind a field of no use.
    private var current: Field?
    private var descriptionLines: [String] = []
    private var descriptionBytes = 0

    init() {}

    /// Takes a line that isn't empty, without its end.
    mutating func add(_ line: [UInt8]) {
        if line[0] == UInt8(ascii: " ") || line[0] == UInt8(ascii: "\t") {
            addMore(line.dropFirst())
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            current = Field(rawValue: String(decoding: line[..<colon], as: UTF8.self).lowercased())
            if let current { values[current] = Self.trimmed(line[(colon + 1)...]) }
        } else {
            current = nil
        }
    }

    private mutating func addMore(_ line: ArraySlice<UInt8>) {
        switch current {
        case nil: break
        case .description:
            descriptionBytes += line.count + 1
            guard descriptionBytes <= StatusParser.longestDescription else { return }
            // A lone dot stands for an empty line.
            let text = String(decoding: line, as: UTF8.self)
            descriptionLines.append(Self.trimmed(line) == "." ? "" : text)
        case let field?: values[field, default: ""] += " " + Self.trimmed(line)
        }
    }

    /// The package; nil where the paragraph isn't one that is installed.
    var package: Package? {
        guard let name = values[.package], !name.isEmpty, let version = values[.version], isInstalled else {
            return nil
        }
        var package = Package(
            name: name, version: version, architecture: values[.architecture] ?? "all",
            summary: values[.description] ?? "", description: descriptionLines.joined(separator: "\n"))
        package.section = values[.section]
        package.maintainer = values[.maintainer]
        package.homepage = values[.homepage]
        package.depends = values[.depends]
        package.installedSize = values[.installedSize].flatMap { Int($0) }
        return package
    }

    /// The status is three words; the last says how far the package is.
    private var isInstalled: Bool {
        switch values[.status]?.split(separator: " ").last {
        case nil, "not-installed", "config-files": false
        default: true
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
