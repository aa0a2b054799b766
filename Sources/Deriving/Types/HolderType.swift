internal import StrataContracts

/// A type of the standard library that holds others. Its own `init(from:)` asks how many there are,
/// so it is known instead of recorded.
protocol HolderType: Decodable {
    static func schema(by deriver: Deriver, at place: ValuePath) throws -> Schema
    /// Returns an empty value as the first variation, and one that holds something as each other.
    static func value(by deriver: Deriver, _ variation: Int) throws -> Self
}

extension Optional: HolderType where Wrapped: Decodable {
    static func schema(by deriver: Deriver, at place: ValuePath) throws -> Schema {
        try deriver.schema(of: Wrapped.self, at: place).orNull
    }

    static func value(by deriver: Deriver, _ variation: Int) throws -> Wrapped? {
        variation == 0 ? nil : try deriver.valueIfMade(of: Wrapped.self, variation)
    }
}

extension Secret: HolderType where Value: Decodable {
    static func schema(by deriver: Deriver, at place: ValuePath) throws -> Schema {
        var schema = try deriver.schema(of: Value.self, at: place)
        schema.isSecret = true
        return schema
    }

    static func value(by deriver: Deriver, _ variation: Int) throws -> Secret {
        Secret(try deriver.value(of: Value.self, variation))
    }
}

/// An array, or what is written as one.
protocol ElementsType: HolderType {
    associatedtype Element: Decodable
    init(_ elements: [Element])
}

extension ElementsType {
    static func schema(by deriver: Deriver, at place: ValuePath) throws -> Schema {
        Schema(.array(try deriver.schema(of: Element.self, at: .elements(of: place)), minimum: nil, maximum: nil))
    }

    static func value(by deriver: Deriver, _ variation: Int) throws -> Self {
        let element = variation == 0 ? nil : try deriver.valueIfMade(of: Element.self, variation)
        return Self(element.map { [$0] } ?? [])
    }
}

extension Array: HolderType, ElementsType where Element: Decodable {}
extension ContiguousArray: HolderType, ElementsType where Element: Decodable {}
extension Set: HolderType, ElementsType where Element: Decodable {}

extension Dictionary: HolderType where Key: Decodable, Value: Decodable {
    static func schema(by deriver: Deriver, at place: ValuePath) throws -> Schema {
        guard Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type else {
            let key = TypeName(Key.self).shown
            throw DerivingError(
                Self.self, at: place,
                "it is written as an array of keys and values in turn, because \(key) isn't a key",
                advice: "conform \(key) to CodingKeyRepresentable")
        }
        let keys = try deriver.keys(of: Key.self, at: place)
        return Schema(.map(keys: keys, values: try deriver.schema(of: Value.self, at: .members(of: place))))
    }

    static func value(by deriver: Deriver, _ variation: Int) throws -> [Key: Value] {
        guard variation > 0, let value = try deriver.valueIfMade(of: Value.self, variation) else { return [:] }
        return [try deriver.value(of: Key.self, variation): value]
    }
}

extension Deriver {
    /// Returns the schema of the names that a dictionary's keys are written as; nil if any name will
    /// do.
    fileprivate func keys<Key: Decodable>(of type: Key.Type, at place: ValuePath) throws -> Schema? {
        let schema = resolved(try schema(of: type, at: place))
        switch schema.form {
        case .enumeration:
            let names = values(of: type).compactMap { ($0 as? any CodingKeyRepresentable)?.codingKey.stringValue }
            return Schema(.enumeration(names.map { .string($0) }))
        case .string(let text): return text == .init() ? nil : schema
        case .integer: return Schema(.string(.init(pattern: Schema.Text.integerPattern)), examples: ["1"])
        case .any, .null, .boolean, .number, .array, .tuple, .object, .map, .union, .reference:
            throw DerivingError(type, at: place, "it is a dictionary's key, and isn't a string or an integer")
        }
    }
}

extension Schema {
    /// The schema of this or null: null comes last, once, beside what a union lists already.
    var orNull: Schema {
        switch form {
        case .any, .null: return self
        case .union(let schemas) where doc == nil && examples.isEmpty:
            return Schema(.union(schemas.filter { $0.form != .null } + [Schema(.null)]))
        default: return Schema(.union([self, Schema(.null)]))
        }
    }
}
