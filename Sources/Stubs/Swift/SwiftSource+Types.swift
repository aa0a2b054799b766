import StrataContracts
import StrataCore

extension SwiftSource {
    /// The types that a type nests because a schema describes them in place.
    struct InlineTypes {
        var types: [(name: String, schema: Schema)] = []
        var taken: Set<String> = []

        /// Adds a type, and returns its name.
        mutating func add(_ word: String, _ schema: Schema) -> String {
            let name = Identifier.unique(word, in: &taken)
            types.append((name, schema))
            return name
        }
    }

    /// Returns the Swift type of a schema.
    /// - Parameters:
    ///   - word: The name for a type that is described in place.
    ///   - inline: Gets the types that are described in place.
    func type(_ schema: Schema, named word: String, _ inline: inout InlineTypes) -> String {
        if let type = Self.foundationType(schema) { return type }
        switch schema.form {
        case .any, .null: return "JSON"
        case .boolean: return "Bool"
        case .integer(let minimum, let maximum): return Self.integer(minimum, maximum)
        case .number: return "Double"
        case .string: return "String"
        case .array(let element, _, _): return "[\(type(element, named: word, &inline))]"
        case .map(let keys, let values):
            let key = keys.map { type($0, named: "\(word)Key", &inline) } ?? "String"
            let isNumber = keys.map { if case .string(let text) = $0.form { text.pattern != nil } else { false } }
            return "[\(isNumber == true ? "Int" : key): \(type(values, named: word, &inline))]"
        case .reference(let name): return types[name] ?? "JSON"
        case .object(let members):
            return members.properties.isEmpty && !members.isClosed ? "Nothing" : inline.add(word, schema)
        case .enumeration, .tuple: return inline.add(word, schema)
        case .union(let options):
            let other = schema.withoutNull
            if other != schema {
                return "\(type(other, named: word, &inline))?"
            }
            return Self.cases(of: options) == nil ? "JSON" : inline.add(word, schema)
        }
    }

    /// The type of a value that FoundationEssentials has; nil for other values.
    static func foundationType(_ schema: Schema) -> String? {
        switch schema.form {
        case .number(_, _, "decimal"): "Decimal"
        case .string(let text):
            text.contentEncoding != nil
                ? "Data" : text.format.flatMap { ["date-time": "Date", "uri-reference": "URL", "uuid": "UUID"][$0] }
        default: nil
        }
    }

    private static func integer(_ minimum: Int64?, _ maximum: Int64?) -> String {
        switch (minimum, maximum) {
        case (-128, 127): "Int8"
        case (-32_768, 32_767): "Int16"
        case (-2_147_483_648, 2_147_483_647): "Int32"
        case (0, 255): "UInt8"
        case (0, 65_535): "UInt16"
        case (0, 4_294_967_295): "UInt32"
        case (0, nil): "UInt"
        default: "Int"
        }
    }

    /// Returns the cases of a union that the compiler's own coding of an enum writes: each option
    /// is an object with one member, the case, which holds the values. Nil for another union.
    static func cases(of options: [Schema]) -> [(name: String, values: Schema.Members)]? {
        var cases: [(name: String, values: Schema.Members)] = []
        for option in options {
            guard case .object(let members) = option.form, members.isClosed, members.properties.count == 1,
                members.properties[0].isRequired, case .object(let values) = members.properties[0].schema.form,
                // A label can't be renamed, as a property can.
                values.properties.allSatisfy({ Identifier.isIdentifier($0.name) })
            else { return nil }
            cases.append((members.properties[0].name, values))
        }
        return cases
    }

    // MARK: Declarations

    /// Writes the declaration of a type.
    func define(
        _ schema: Schema, _ name: String, isReference: Bool = false, isEquatable: Bool = false,
        to source: inout SourceText
    ) {
        // A class isn't equatable by itself, and so is nothing that has one.
        let conformances = isEquatable && !holdsReferences ? "Codable, Equatable" : "Codable"
        source.comment(schema.doc)
        if schema.isDeprecated { source.line("/// Deprecated.") }
        var inline = InlineTypes()
        switch schema.form {
        case .object(let members):
            structure(name, conformances, members, isReference: isReference, to: &source)
        case .enumeration(let values): enumeration(name, values, to: &source)
        case .tuple(let elements): tuple(name, conformances, elements, to: &source)
        case .union(let options) where Self.cases(of: options) != nil:
            union(name, conformances, Self.cases(of: options) ?? [], isReference: isReference, to: &source)
        default:
            if case .union = schema.form, schema.withoutNull == schema {
                source.line("/// One of: \(SchemaText.type(schema)).")
            }
            let type = type(schema, named: name, &inline)
            source.line("public typealias \(name) = \(type)")
            for (name, schema) in inline.types { define(schema, name, isEquatable: isEquatable, to: &source) }
        }
    }

    /// Whether a type that properties hold is a class, because it holds itself.
    private var holdsReferences: Bool { valueDefinitions.contains(where: isRecursive) }

    /// Writes a struct, or a class, with the members of an object.
    /// - Parameters:
    ///   - first: Lines that stand before the members.
    ///   - rawValue: The type of the only value, if the type isn't an object.
    func structure(
        _ name: String, _ conformances: String, _ members: Schema.Members, isReference: Bool = false,
        first: [String] = [], rawValue: String? = nil, inline: InlineTypes = InlineTypes(), to source: inout SourceText
    ) {
        var inline = inline
        var taken: Set<String> = []
        var properties = members.properties.map { property in
            let schema = property.isRequired ? property.schema : property.schema.withoutNull
            let type = self.type(schema, named: Identifier.capitalized(property.name), &inline)
            let word = Identifier.isIdentifier(property.name) ? property.name : Identifier.lowercased(property.name)
            return (
                name: Identifier.unique(word, in: &taken), key: property.name, schema: schema,
                type: property.isRequired ? type : "\(type)?", isOptional: !property.isRequired
            )
        }
        if let rawValue {
            properties = [("rawValue", "rawValue", Schema(.any), rawValue, false)]
        }
        let sendable = conformances.hasPrefix("Codable") ? ", Sendable" : ""
        let kind = isReference ? "final class" : "struct"
        source.line("public \(kind) \(name): \(conformances)\(sendable) {")
        source.nested { source in
            for line in first { source.line(line) }
            for property in properties {
                source.comment(property.schema.doc)
                if property.schema.isDeprecated { source.line("/// Deprecated.") }
                source.line("public \(isReference ? "let" : "var") \(Self.escaped(property.name)): \(property.type)")
            }
            let parameters = properties.map { "\($0.name): \($0.type)\($0.isOptional ? " = nil" : "")" }
            source.list("public init(", parameters, ") {", comma: "")
            source.nested { source in
                for property in properties {
                    source.line("self.\(Self.escaped(property.name)) = \(Self.escaped(property.name))")
                }
            }
            source.line("}")
            if properties.contains(where: { $0.name != $0.key }) {
                source.line("private enum CodingKeys: String, CodingKey {")
                source.nested { source in
                    for property in properties {
                        let value = property.name == property.key ? "" : " = \(Self.literal(property.key))"
                        source.line("case \(Self.escaped(property.name))\(value)")
                    }
                }
                source.line("}")
            }
            let isEquatable = conformances.contains("Equatable")
            for (name, schema) in inline.types { define(schema, name, isEquatable: isEquatable, to: &source) }
        }
        source.line("}")
    }

    private func enumeration(_ name: String, _ values: [JSON], to source: inout SourceText) {
        var taken: Set<String> = []
        let isText = values.allSatisfy { $0.string != nil }
        source.line("public enum \(name): \(isText ? "String" : "Int"), Codable, Sendable, CaseIterable {")
        source.nested { source in
            for value in values {
                let number = value.integer ?? 0
                let text = value.string ?? "value\(number < 0 ? "Minus" : "")\(number.magnitude)"
                let word = Identifier.isIdentifier(text) ? text : Identifier.lowercased(text)
                let name = Identifier.unique(word, in: &taken)
                let raw = value.string.map(Self.literal) ?? "\(number)"
                source.line("case \(Self.escaped(name))\(name == value.string ? "" : " = \(raw)")")
            }
        }
        source.line("}")
    }

    private func union(
        _ name: String, _ conformances: String, _ cases: [(name: String, values: Schema.Members)], isReference: Bool,
        to source: inout SourceText
    ) {
        var inline = InlineTypes()
        var taken: Set<String> = []
        source.line("public \(isReference ? "indirect " : "")enum \(name): \(conformances), Sendable {")
        source.nested { source in
            var keys: [(name: String, key: String)] = []
            for one in cases {
                let word = Identifier.isIdentifier(one.name) ? one.name : Identifier.lowercased(one.name)
                let name = Identifier.unique(word, in: &taken)
                keys.append((name, one.name))
                let values = one.values.properties.map { value in
                    let schema = value.isRequired ? value.schema : value.schema.withoutNull
                    let type = self.type(schema, named: Identifier.capitalized(one.name), &inline)
                    let label = value.name.first == "_" && Int(value.name.dropFirst()) != nil ? "" : "\(value.name): "
                    return "\(label)\(type)\(value.isRequired ? "" : "?")"
                }
                let list = values.isEmpty ? "" : "(\(values.joined(separator: ", ")))"
                source.line("case \(Self.escaped(name))\(list)")
            }
            if keys.contains(where: { $0.name != $0.key }) {
                source.line("private enum CodingKeys: String, CodingKey {")
                source.nested { source in
                    for key in keys { source.line("case \(Self.escaped(key.name)) = \(Self.literal(key.key))") }
                }
                source.line("}")
            }
            let isEquatable = conformances.contains("Equatable")
            for (name, schema) in inline.types { define(schema, name, isEquatable: isEquatable, to: &source) }
        }
        source.line("}")
    }

    /// Writes a struct that travels as an array.
    private func tuple(
        _ name: String, _ conformances: String, _ elements: [Schema], to source: inout SourceText
    ) {
        var inline = InlineTypes()
        let types = elements.enumerated().map { type($1, named: "Element\($0)", &inline) }
        source.line("public struct \(name): \(conformances), Sendable {")
        source.nested { source in
            for (index, type) in types.enumerated() { source.line("public var element\(index): \(type)") }
            let parameters = types.enumerated().map { "_ element\($0): \($1)" }.joined(separator: ", ")
            source.line("public init(\(parameters)) {")
            source.nested { source in
                for index in types.indices { source.line("self.element\(index) = element\(index)") }
            }
            source.line("}")
            source.line("public init(from decoder: any Decoder) throws {")
            source.nested { source in
                source.line("var elements = try decoder.unkeyedContainer()")
                for (index, type) in types.enumerated() {
                    source.line("element\(index) = try elements.decode(\(type).self)")
                }
            }
            source.line("}")
            source.line("public func encode(to encoder: any Encoder) throws {")
            source.nested { source in
                source.line("var elements = encoder.unkeyedContainer()")
                for index in types.indices { source.line("try elements.encode(element\(index))") }
            }
            source.line("}")
            let isEquatable = conformances.contains("Equatable")
            for (name, schema) in inline.types { define(schema, name, isEquatable: isEquatable, to: &source) }
        }
        source.line("}")
    }

    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Returns a text as a literal of Swift.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.properties.isWhitespace && scalar != " ":
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }
}
