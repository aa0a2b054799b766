public import StrataContracts

/// Derives schemas from `Decodable` types: each type's `init(from:)` runs with a decoder that records
/// what it asks for, and answers with harmless values.
///
/// Each type runs a few times, with other values each time, and once for each value that it asks for
/// with an error in its place. If it asks for something else then, its code branches, and a contract
/// that was recorded could be wrong. Such a type is refused, unless it says its schema itself
/// (`ContractDescribing`).
///
/// A deriver keeps each type that it has seen. The schemas that it returns refer to definitions by
/// names of its own, until `complete` puts them into a contract. Use it on one thread at a time.
public final class Deriver {
    /// The most types of one deriver.
    static let mostTypes = 4_096
    /// How deep types may be nested in one another.
    static let deepest = 48

    private var types: [ObjectIdentifier: DerivedType] = [:]
    /// The types that are complete: the inner ones first.
    private(set) var completed: [DerivedType] = []
    private var depth = 0

    public init() {}

    // MARK: Schemas

    /// Returns the schema of a type, which is a reference for one that has a name in contracts.
    public func schema(of type: any Decodable.Type, at place: ValuePath) throws -> Schema {
        if let leaf = Leaf.of(type) { return leaf.schema }
        if let type = type as? any HolderType.Type { return try type.schema(by: self, at: place) }
        let derived = try derived(type, at: place)
        if !derived.isComplete { derived.isDefinition = true }
        return derived.isDefinition ? Schema(.reference(derived.name)) : derived.schema
    }

    /// Returns the schema of params or of a notification's content: an object itself, and no
    /// reference, unless the type is recursive.
    public func contents(of type: any Decodable.Type, at place: ValuePath) throws -> Schema {
        let schema = try schema(of: type, at: place)
        guard case .reference(let name) = schema.form, !isRecursive(name) else { return schema }
        return resolved(schema)
    }

    /// Returns a type's definition for a reference to it, else the schema itself.
    func resolved(_ schema: Schema) -> Schema {
        guard case .reference(let name) = schema.form, let derived = completed.first(where: { $0.name == name }) else {
            return schema
        }
        return resolved(derived.schema)
    }

    // MARK: Values

    /// Returns one of the values of a type that was derived before.
    /// - Throws: `NeedsValue` if it has none yet.
    func value<Value: Decodable>(of type: Value.Type, _ variation: Int) throws -> Value {
        let value: Any
        if let leaf = Leaf.of(type) {
            value = leaf.probes[variation % leaf.probes.count]
        } else if let type = type as? any HolderType.Type {
            value = try type.value(by: self, variation)
        } else {
            guard let values = types[ObjectIdentifier(type)]?.values, !values.isEmpty else {
                throw NeedsValue(type: type)
            }
            value = values[variation % values.count]
        }
        return value as! Value  // because each of these makes values of its own type
    }

    /// Returns a value like `value`; nil if there is none yet.
    func valueIfMade<Value: Decodable>(of type: Value.Type, _ variation: Int) throws -> Value? {
        do { return try value(of: type, variation) } catch is NeedsValue { return nil }
    }

    /// Returns all values that are known of a type that is neither a leaf nor a holder.
    func values(of type: any Any.Type) -> [Any] { types[ObjectIdentifier(type)]?.values ?? [] }

    /// Returns the Swift names of a type's members that their names on the wire don't give away.
    func members(of type: any Any.Type) -> [DerivedType.SwiftName] { types[ObjectIdentifier(type)]?.swiftNames ?? [] }

    /// Returns how many different values of a type there are to try.
    func variations(of type: any Decodable.Type) -> Int {
        if let leaf = Leaf.of(type) { return leaf.probes.count }
        if type is any HolderType.Type { return 2 }
        return values(of: type).count
    }

    // MARK: Types

    private func derived(_ type: any Decodable.Type, at place: ValuePath) throws -> DerivedType {
        let id = ObjectIdentifier(type)
        if let known = types[id], known.isComplete || known.isInProgress { return known }
        guard depth < Self.deepest, types.count < Self.mostTypes else {
            throw DerivingError(
                type, at: place,
                "types are nested deeper than \(Self.deepest) here, or there are more than \(Self.mostTypes)")
        }
        // A type that was given up keeps its name: others may refer to it.
        let derived = types[id] ?? DerivedType(type, name: "\(types.count)", at: place)
        types[id] = derived
        derived.begin()
        depth += 1
        defer {
            depth -= 1
            derived.isInProgress = false
        }
        try derive(type, derived, at: place)
        derived.isComplete = true
        completed.append(derived)
        return derived
    }

    private func derive(_ type: any Decodable.Type, _ derived: DerivedType, at place: ValuePath) throws {
        if let describing = type as? any ContractDescribing.Type {
            try derive(type, describedAs: describing.contractSchema, derived, at: place)
            return
        }
        if EnumMetadata(type) != nil {
            if try deriveRaw(type, derived, at: place) { return }
            if try deriveCases(type, derived, at: place) { return }
        }
        try record(type, derived, at: place)
    }

    // MARK: References

    /// Whether a definition refers to itself, if through others.
    private func isRecursive(_ name: String) -> Bool {
        // because each name that a schema has is of a type that was derived
        let byName = Dictionary(uniqueKeysWithValues: completed.map { ($0.name, $0.schema) })
        return Self.reachable(from: byName[name].map { [$0] } ?? [], byName).contains(name)
    }

    /// Returns the names of the definitions that schemas refer to, and those refer to.
    static func reachable(from schemas: [Schema], _ definitions: [String: Schema]) -> Set<String> {
        var found: Set<String> = []
        var left = schemas
        while let schema = left.popLast() {
            for name in schema.references where found.insert(name).inserted {
                if let definition = definitions[name] { left.append(definition) }
            }
        }
        return found
    }
}

/// A type, and what is known of it.
final class DerivedType {
    let type: any Decodable.Type
    /// The name under which schemas refer to it until a contract gives it another one.
    let name: String
    /// Where it was first met.
    let place: ValuePath
    var schema = Schema(.any)
    /// Whether schemas refer to it, instead of having its schema themselves.
    var isDefinition = false
    /// Values of it that its own `init(from:)` made.
    var values: [Any] = []
    /// The Swift names of members that have another name on the wire, or belong to a superclass.
    var swiftNames: [SwiftName] = []
    var isInProgress = false
    var isComplete = false

    /// The name of a member in Swift.
    struct SwiftName: Equatable {
        /// Where the member stands in the type's schema, as a JSON pointer: `/properties/page`.
        var pointer: String
        /// `Shop.Item.page`
        var name: String
    }

    init(_ type: any Decodable.Type, name: String, at place: ValuePath) {
        self.type = type
        self.name = name
        self.place = place
    }

    func begin() {
        isInProgress = true
        values = []
        swiftNames = []
    }
}

extension Schema {
    /// The names of the definitions that the schema refers to.
    var references: [String] {
        if case .reference(let name) = form { return [name] }
        return parts.flatMap(\.references)
    }

    /// The schemas that this one is made of.
    var parts: [Schema] {
        switch form {
        case .any, .null, .boolean, .integer, .number, .string, .enumeration, .reference: []
        case .array(let element, _, _): [element]
        case .tuple(let elements), .union(let elements): elements
        case .object(let members): members.properties.map(\.schema)
        case .map(let keys, let values): (keys.map { [$0] } ?? []) + [values]
        }
    }
}
