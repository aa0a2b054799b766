import StrataCore

/// The JSON Schema of the manifest, for editors. It is made of the shapes by which the reader reads.
///
/// A manifest that the reader takes fits the schema. The reverse isn't so: the schema doesn't know
/// which names exist. It is of draft 07, which yaml-language-server knows best.
package struct ManifestSchema {
    /// The name of the file that `strata new` writes.
    package static let file = "strata.schema.json"
    /// The first line of a manifest by which an editor finds the file beside it.
    package static let modeline = "# yaml-language-server: $schema=\(file)"
    static let definitions = "#/definitions/"
    /// The definition for included files.
    static let rows = "rows"

    private let shapes: ManifestShapes

    init(_ shapes: ManifestShapes) { self.shapes = shapes }

    /// Creates the schema of this version's manifests.
    package init() { self.init(.all) }

    /// The document.
    var json: JSON {
        // A file that names this definition gets the root's properties, too, where it has none of its own:
        // yaml-language-server merges both.
        let rows: [JSON.Member] = [
            .init("description", "Rows by the names of their modules, as an included file has them."),
            .init("properties", .object([])),
        ]
        var definitions = [
            JSON.Member(Self.rows, .object(rows + ManifestType.map(keys: .module, .mapping(.row)).keywords))
        ]
        for name in ManifestShape.Name.allCases where name != .app {
            definitions.append(.init(name.rawValue, .object(Self.keywords(shapes[name]))))
        }
        return .object(
            [
                .init("$schema", "http://json-schema.org/draft-07/schema#"),
                .init("title", "strata.yaml"),
            ] + Self.keywords(shapes[.app]) + [.init("definitions", .object(definitions))])
    }

    private static func keywords(_ shape: ManifestShape) -> [JSON.Member] {
        var keywords: [JSON.Member] = [
            .init("description", .string(shape.meaning)),
            .init("type", shape.mayBeEmpty ? ["object", "null"] : "object"),
            .init("properties", .object(shape.keys.map { .init($0.name, property($0)) })),
        ]
        let required = shape.keys.filter(\.isRequired)
        if !required.isEmpty { keywords.append(.init("required", .array(required.map { .string($0.name) }))) }
        if !shape.oneOf.isEmpty {
            let choices = shape.oneOf.map { JSON.object([.init("required", [.string($0)])]) }
            keywords.append(.init("oneOf", .array(choices)))
        }
        return keywords + [.init("additionalProperties", false)]
    }

    private static func property(_ key: ManifestShape.Key) -> JSON {
        var keywords = [JSON.Member("description", .string(key.meaning))]
        if let standard = key.standard { keywords.append(.init("default", standard)) }
        let type = key.type.keywords
        // Draft 07 ignores what stands beside a reference.
        guard type.first?.name == "$ref" else { return .object(keywords + type) }
        return .object(keywords + [.init("allOf", [.object(type)])])
    }

    /// The document's text, indented, with a line for each keyword.
    package var text: String { Self.text(json, indent: "") + "\n" }

    private static func text(_ value: JSON, indent: String) -> String {
        let inner = indent + "  "
        switch value {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(JSON.string($0.name)): \(text($0.value, indent: inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array(let values) where values.contains { $0.string == nil }:
            return "[\n\(values.map { inner + text($0, indent: inner) }.joined(separator: ",\n"))\n\(indent)]"
        case .array(let values): return "[\(values.map { "\($0)" }.joined(separator: ", "))]"
        default: return "\(value)"
        }
    }
}
