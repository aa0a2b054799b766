public import StrataContracts
import StrataCore

/// Writes schemas as a person reads them, in the notation of TypeScript: `string`, `Package[]`,
/// `{[string]: integer}`, `"a" | "b"`, `{name: string, size?: integer}`.
enum SchemaText {
    /// Returns a schema's type. Named types are only named.
    static func type(_ schema: Schema) -> String {
        switch schema.form {
        case .any: "any"
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number(_, _, let format): format ?? "number"
        case .string(let text): text.contentEncoding ?? text.format ?? "string"
        case .enumeration(let values): values.map(\.description).joined(separator: " | ")
        case .array(let element, _, _): element.isUnion ? "(\(type(element)))[]" : "\(type(element))[]"
        case .tuple(let elements): "[\(elements.map(type).joined(separator: ", "))]"
        case .object(let members): "{\(self.members(members))}"
        case .map(let keys, let values): "{[\(keys.map(type) ?? "string")]: \(type(values))}"
        case .union(let options): options.map(type).joined(separator: " | ")
        case .reference(let name): name
        }
    }

    /// Returns an object's members, as they stand between braces or parentheses.
    static func members(_ members: Schema.Members) -> String {
        members.properties.map(member).joined(separator: ", ")
    }

    /// Returns one member: `limit?: integer = 20`. That an optional member may also be null goes
    /// without saying.
    static func member(_ property: Schema.Property) -> String {
        let isOptional = !property.isRequired
        let type = type(isOptional ? property.schema.withoutNull : property.schema)
        let fallback = property.schema.defaultValue.map { " = \($0)" } ?? ""
        return "\(property.name)\(isOptional ? "?" : ""): \(type)\(fallback)"
    }

    /// Returns the bounds of a value; nil if its type has none.
    static func bounds(_ schema: Schema) -> String? {
        switch schema.form {
        case .integer(let minimum, let maximum):
            range(minimum.map(String.init), maximum.map(String.init))
        case .number(let minimum, let maximum, _):
            range(minimum.map { "\(JSON.number($0))" }, maximum.map { "\(JSON.number($0))" })
        case .string(let text):
            text.pattern.map { "matches \($0)" }
                ?? range(text.minimum.map(String.init), text.maximum.map(String.init)).map { "\($0) characters" }
        case .array(_, let minimum, let maximum):
            range(minimum.map(String.init), maximum.map(String.init)).map { "\($0) elements" }
        case .union: schema.withoutNull.isUnion ? nil : bounds(schema.withoutNull)
        case .any, .null, .boolean, .enumeration, .tuple, .object, .map, .reference: nil
        }
    }

    private static func range(_ minimum: String?, _ maximum: String?) -> String? {
        switch (minimum, maximum) {
        case (nil, nil): nil
        case (let minimum?, nil): "\(minimum) or more"
        case (nil, let maximum?): "up to \(maximum)"
        case (let minimum?, let maximum?): "\(minimum) to \(maximum)"
        }
    }
}

extension Schema {
    /// Whether the type is written with `|`.
    var isUnion: Bool {
        switch form {
        case .union(let options): options.count > 1
        case .enumeration(let values): values.count > 1
        default: false
        }
    }

    /// The schema of the values other than null.
    var withoutNull: Schema {
        guard case .union(let options) = form else { return self }
        let others = options.filter { $0.form != .null }
        guard others.count < options.count, let first = others.first else { return self }
        var schema = others.count == 1 ? first : Schema(.union(others))
        schema.doc = doc ?? schema.doc
        schema.defaultValue = defaultValue ?? schema.defaultValue
        return schema
    }

    /// The values that an enum or a Boolean has, as words; empty for other types.
    public func values(in contract: Contract) -> [String] {
        switch withoutNull.form {
        case .boolean: ["true", "false"]
        case .enumeration(let values): values.map { $0.string ?? $0.description }
        case .reference(let name): contract.definitions[name]?.values(in: contract) ?? []
        default: []
        }
    }

    /// The members of an object, or of the object that a reference leads to; nil for other types.
    public func members(in contract: Contract) -> Schema.Members? {
        switch form {
        case .object(let members): members
        case .reference(let name): contract.definitions[name]?.members(in: contract)
        default: nil
        }
    }
}
