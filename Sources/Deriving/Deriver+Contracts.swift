public import StrataContracts

extension Deriver {
    /// Gives the definitions that a contract refers to their names, and adds them to it.
    /// - Returns: The Swift names of what stands in the definitions, by JSON pointers into the
    ///   document: `/$defs/Item` is `Shop.Item`.
    public func complete(_ contract: inout Contract) -> [String: String] {
        let byName = Dictionary(uniqueKeysWithValues: completed.map { ($0.name, $0) })
        let reached = Self.reachable(from: contract.schemas, byName.mapValues(\.schema))
        let names = Self.names(completed.filter { reached.contains($0.name) })
        contract.mapSchemas { $0.renamed(names) }
        var types: [String: String] = [:]
        for (own, name) in names {
            guard let derived = byName[own] else { continue }
            contract.definitions[name] = derived.schema.renamed(names)
            types["/$defs/\(name)"] = TypeName(derived.type).symbol
            for member in derived.swiftNames { types["/$defs/\(name)\(member.pointer)"] = member.name }
        }
        return types
    }

    /// Returns the Swift names of a type whose schema stands in a contract itself.
    /// - Parameters:
    ///   - pointer: Where the type's own description stands, as a JSON pointer.
    ///   - schema: Where its schema stands.
    public func swiftNames(of type: any Any.Type, at pointer: String, schema: String) -> [String: String] {
        var names = [pointer: TypeName(type).symbol]
        for member in members(of: type) { names[schema + member.pointer] = member.name }
        return names
    }

    /// A type and its names that are left to choose from.
    private struct Named {
        let type: DerivedType
        var names: ArraySlice<String>
    }

    /// Returns the shortest names that differ, by the names that schemas have. Of types with one name,
    /// the one without an outer type keeps it.
    private static func names(_ types: [DerivedType]) -> [String: String] {
        var names: [String: String] = [:]
        var taken: Set<String> = []
        var left = types.map { Named(type: $0, names: TypeName($0.type).definitions[...]) }
        while !left.isEmpty {
            var longer: [Named] = []
            // In an order that is the same in each run of the program.
            for (name, group) in Dictionary(grouping: left, by: { $0.names.first ?? "_" }).sorted(by: {
                $0.key < $1.key
            }) {
                let outermost = group.filter { $0.names.count <= 2 }
                let keeper = group.count == 1 ? group.first : outermost.count == 1 ? outermost.first : nil
                for named in group {
                    if named.type === keeper?.type || named.names.count <= 1 {
                        names[named.type.name] = free(String(name.prefix(120)), &taken)
                    } else {
                        longer.append(Named(type: named.type, names: named.names.dropFirst()))
                    }
                }
            }
            left = longer
        }
        return names
    }

    /// Returns a name that isn't taken, with a number if Swift itself names two types alike.
    private static func free(_ name: String, _ taken: inout Set<String>) -> String {
        var free = name
        var number = 2
        while !taken.insert(free).inserted {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }
}

extension Contract {
    /// All schemas outside of the definitions.
    fileprivate var schemas: [Schema] {
        var schemas: [Schema] = []
        var copy = self
        copy.mapSchemas {
            schemas.append($0)
            return $0
        }
        return schemas
    }

    /// Replaces each schema outside of the definitions.
    fileprivate mutating func mapSchemas(_ map: (Schema) -> Schema) {
        for index in actions.indices {
            actions[index].params = actions[index].params.map(map)
            switch actions[index].result {
            case .reply(let schema): actions[index].result = .reply(schema.map(map))
            case .elements(let schema): actions[index].result = .elements(schema.map(map))
            }
        }
        for index in properties.indices { properties[index].value = properties[index].value.map(map) }
        for list in [\Contract.broadcasts, \.reports, \.observes] {
            for index in self[keyPath: list].indices {
                self[keyPath: list][index].content = self[keyPath: list][index].content.map(map)
            }
        }
        if let properties = settings?.properties {
            for index in properties.indices { settings?.properties[index].schema = map(properties[index].schema) }
        }
    }
}

extension Schema {
    /// Returns the schema with other names of the definitions that it refers to.
    fileprivate func renamed(_ names: [String: String]) -> Schema {
        var schema = self
        schema.form =
            switch form {
            case .any, .null, .boolean, .integer, .number, .string, .enumeration: form
            case .array(let element, let minimum, let maximum):
                .array(element.renamed(names), minimum: minimum, maximum: maximum)
            case .tuple(let elements): .tuple(elements.map { $0.renamed(names) })
            case .union(let schemas): .union(schemas.map { $0.renamed(names) })
            case .map(let keys, let values): .map(keys: keys?.renamed(names), values: values.renamed(names))
            case .object(let members):
                .object(
                    .init(
                        members.properties.map { .init($0.name, $0.schema.renamed(names), isRequired: $0.isRequired) },
                        isClosed: members.isClosed))
            case .reference(let name): .reference(names[name] ?? name)
            }
        return schema
    }
}
