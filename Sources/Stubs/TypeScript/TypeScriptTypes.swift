import StrataContracts
import StrataCore

/// The types of a stub in TypeScript: an interface for each object, and an alias for each other type.
struct TypeScriptTypes {
    /// The declarations, with an empty line before each.
    private(set) var source = SourceText()
    /// The name of the client's class.
    let client: String
    private let contract: Contract
    private var names: [String: String] = [:]
    private var taken: Set<String> = [
        "CallOptions", "Client", "Partial", "Promise", "Record", "Stream", "StreamOptions",
    ]

    init(_ contract: Contract) {
        self.contract = contract
        client = Identifier.unique(Identifier.capitalized(contract.subject.name), in: &taken)
        for name in contract.definitions.keys.sorted() {
            names[name] = Identifier.unique(Identifier.capitalized(name), in: &taken)
        }
    }

    /// Writes the contract's definitions.
    mutating func defineAll() {
        for name in contract.definitions.keys.sorted() {
            guard let schema = contract.definitions[name], let type = names[name] else { continue }
            if case .object(let members) = schema.form, !schema.hasNoMembers {
                interface(type, members, doc: schema.doc, isDeprecated: schema.isDeprecated)
            } else {
                let text = self.type(schema, named: type)
                source.line()
                source.docComment(schema.doc, isDeprecated: schema.isDeprecated)
                source.line("export type \(type) = \(text);")
            }
        }
    }

    /// Returns a name for a type that isn't taken, and takes it.
    mutating func name(_ word: String) -> String { Identifier.unique(word, in: &taken) }

    /// Returns a schema's type. Writes the interfaces that it needs.
    /// - Parameter word: The name for an object that is described in place.
    mutating func type(_ schema: Schema, named word: String) -> String {
        switch schema.form {
        case .any: return "unknown"
        case .null: return "null"
        case .boolean: return "boolean"
        case .integer, .number: return "number"
        case .string: return "string"
        case .enumeration(let values):
            return values.map { $0.string.map(TypeScriptName.literal) ?? "\($0)" }.joined(separator: " | ")
        case .array(let element, _, _): return "\(part(element, word))[]"
        case .tuple(let elements):
            return "[\(elements.enumerated().map { type($1, named: "\(word)\($0)") }.joined(separator: ", "))]"
        case .map(let keys, let values):
            let key = keys.map { type($0, named: "\(word)Key") } ?? "string"
            let record = "Record<\(key), \(type(values, named: word))>"
            return key == "string" ? record : "Partial<\(record)>"
        case .reference(let name): return names[name] ?? "unknown"
        case .union(let options):
            return options.enumerated().map { option($1, $0, word) }.joined(separator: " | ")
        case .object(let members):
            if schema.hasNoMembers { return "Record<string, unknown>" }
            let name = name(word)
            interface(name, members, doc: schema.doc, isDeprecated: schema.isDeprecated)
            return name
        }
    }

    /// Returns a type that may stand before `[]`.
    private mutating func part(_ schema: Schema, _ word: String) -> String {
        let type = type(schema, named: word)
        switch schema.form {
        case .union, .enumeration: return "(\(type))"
        default: return type
        }
    }

    /// Returns the type of a union's option. An object with one member, which tells it apart, is
    /// named for that member.
    private mutating func option(_ schema: Schema, _ index: Int, _ word: String) -> String {
        guard case .object(let members) = schema.form, members.properties.count == 1 else {
            return type(schema, named: "\(word)\(index + 1)")
        }
        return type(schema, named: word + Identifier.capitalized(members.properties[0].name))
    }

    private mutating func interface(_ name: String, _ members: Schema.Members, doc: String?, isDeprecated: Bool) {
        // What a member needs is written before the interface.
        let fields = members.properties.map { property in
            (property, type(property.schema, named: name + Identifier.capitalized(property.name)))
        }
        source.line()
        source.docComment(doc, isDeprecated: isDeprecated)
        source.line("export interface \(name) {")
        source.nested { source in
            for (property, type) in fields {
                let schema = property.schema
                source.docComment(schema.doc ?? schema.withoutNull.doc, isDeprecated: schema.isDeprecated)
                source.line("\(TypeScriptName.member(property.name))\(property.isRequired ? "" : "?"): \(type);")
            }
        }
        source.line("}")
    }
}
