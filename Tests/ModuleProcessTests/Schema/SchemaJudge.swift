import StrataCore
import Testing

@testable import StrataManifest

/// Says whether a value fits the manifest's JSON Schema: the keywords of draft 07 that the schema uses, patterns
/// included. (`SchemaChecker` leaves patterns to the receiver.)
final class SchemaJudge {
    private let root: JSON
    private let definitions: [String: JSON]
    private var patterns: [String: Regex<AnyRegexOutput>] = [:]

    init(_ root: JSON = ManifestSchema().json) {
        self.root = root
        var definitions: [String: JSON] = [:]
        if case .object(let members)? = root["definitions"] {
            for member in members { definitions[member.name] = member.value }
        }
        self.definitions = definitions
    }

    /// Returns the first place at which a value doesn't fit; nil if there is none.
    /// - Parameter definition: the name of the definition that counts; nil for the whole schema.
    func complaint(_ value: JSON, definition: String? = nil) -> String? {
        complaint(value, definition.flatMap { definitions[$0] } ?? root, "")
    }

    /// Returns the first place at which a value doesn't fit a part of the schema.
    func complaint(_ value: JSON, by schema: JSON) -> String? { complaint(value, schema, "") }

    /// Fails unless the files of a manifest that the reader takes fit the schema.
    static func expectFit(_ manifest: Manifest, text: [UInt8]? = nil) {
        let judge = SchemaJudge()
        for (number, path) in manifest.files.enumerated() where !path.contains("settings.d/") {
            let bytes = number == 0 && text != nil ? text : try? ManifestFile.bytes(path, number: number)
            guard let value = bytes.flatMap(json) else {
                Issue.record("\(path) can't be read again")
                continue
            }
            let complaint = judge.complaint(value, definition: number > 0 ? ManifestSchema.rows : nil)
            #expect(complaint == nil, "the reader takes \(path), and the schema doesn't")
        }
    }

    /// Returns a YAML text's value; nil if it has none.
    static func json(_ text: [UInt8]) -> JSON? {
        var aliased = 0
        guard let tree = try? YAMLComposer.compose(text, file: 0, aliased: &aliased) else { return nil }
        return json(tree)
    }

    private static func json(_ node: YAMLNode) -> JSON {
        switch node.content {
        case .scalar: node.scalar ?? .null
        case .sequence(let nodes): .array(nodes.map(json))
        case .mapping(let pairs): .object(pairs.map { .init($0.key, json($0.value)) })
        }
    }

    private func complaint(_ value: JSON, _ schema: JSON, _ path: String) -> String? {
        guard case .object(let keywords) = schema else { return schema == false ? "\(path): nothing fits" : nil }
        for keyword in keywords {
            if let complaint = complaint(value, keyword.name, keyword.value, schema, path) { return complaint }
        }
        return nil
    }

    private func complaint(
        _ value: JSON, _ keyword: String, _ operand: JSON, _ schema: JSON, _ path: String
    ) -> String? {
        func fails(_ isFit: Bool) -> String? { isFit ? nil : "\(path): \(keyword) \(operand), found \(value)" }
        func fits(_ schema: JSON) -> Bool { complaint(value, schema, path) == nil }
        switch keyword {
        case "$schema", "title", "description", "default", "definitions": return nil
        case "$ref":
            let name = operand.string?.split(separator: "/").last.map(String.init) ?? ""
            guard let target = definitions[name] else { return "\(path): there is no \(operand)" }
            return complaint(value, target, path)
        case "type":
            let types = operand.array ?? [operand]
            return fails(types.contains { $0.string.map { Self.isOf(value, $0) } ?? false })
        case "enum": return fails(operand.array?.contains(value) ?? false)
        case "minimum": return fails(value.double.map { $0 >= operand.double ?? 0 } ?? true)
        case "maximum": return fails(value.double.map { $0 <= operand.double ?? 0 } ?? true)
        case "pattern": return fails(value.string.map { matches($0, operand.string ?? "") } ?? true)
        case "minLength": return fails(value.string.map { $0.unicodeScalars.count >= operand.integer ?? 0 } ?? true)
        case "maxLength": return fails(value.string.map { $0.unicodeScalars.count <= operand.integer ?? 0 } ?? true)
        case "minItems": return fails(value.array.map { $0.count >= operand.integer ?? 0 } ?? true)
        case "maxItems": return fails(value.array.map { $0.count <= operand.integer ?? 0 } ?? true)
        case "uniqueItems":
            guard let values = value.array else { return nil }
            return fails(values.indices.allSatisfy { !values[..<$0].contains(values[$0]) })
        case "items":
            for (place, element) in (value.array ?? []).enumerated() {
                if let complaint = complaint(element, operand, "\(path)[\(place)]") { return complaint }
            }
            return nil
        case "allOf": return operand.array?.lazy.compactMap { self.complaint(value, $0, path) }.first
        case "anyOf": return fails(operand.array?.contains(where: fits) ?? false)
        case "oneOf": return fails(operand.array?.count(where: fits) == 1)
        default: return objectComplaint(value, keyword, operand, schema, path)
        }
    }

    /// The keywords that concern mappings.
    private func objectComplaint(
        _ value: JSON, _ keyword: String, _ operand: JSON, _ schema: JSON, _ path: String
    ) -> String? {
        let members: [JSON.Member] = if case .object(let members) = value { members } else { [] }
        let isObject = if case .object = value { true } else { false }
        guard isObject else { return nil }
        switch keyword {
        case "properties", "additionalProperties":
            for member in members {
                let own = schema["properties"]?[member.name]
                guard let rule = keyword == "properties" ? own : own == nil ? operand : nil else { continue }
                if let complaint = complaint(member.value, rule, "\(path).\(member.name)") { return complaint }
            }
            return nil
        case "propertyNames":
            return members.lazy.compactMap { self.complaint(.string($0.name), operand, "\(path).\($0.name)") }.first
        case "required":
            let missing = operand.array?.first { name in !members.contains { .string($0.name) == name } }
            return missing.map { "\(path): \($0) is missing" }
        case "minProperties": return members.count < operand.integer ?? 0 ? "\(path): too few" : nil
        case "maxProperties": return members.count > operand.integer ?? 0 ? "\(path): too many" : nil
        default:
            Issue.record("the tests don't know the keyword \(keyword)")
            return nil
        }
    }

    private static func isOf(_ value: JSON, _ type: String) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number(let number): type == "number" || type == "integer" && number == number.rounded()
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }

    private func matches(_ text: String, _ pattern: String) -> Bool {
        if let known = patterns[pattern] { return text.contains(known) }
        guard let regex = try? Regex(pattern).matchingSemantics(.unicodeScalar) else {
            Issue.record("\(pattern) is no regular expression")
            return false
        }
        patterns[pattern] = regex
        return text.contains(regex)
    }
}
