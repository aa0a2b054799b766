internal import StrataContracts

extension Schema.Form {
    /// The schemas in this one.
    var parts: [Schema] {
        switch self {
        case .any, .null, .boolean, .integer, .number, .string, .enumeration, .reference: []
        case .array(let items, _, _): [items]
        case .tuple(let elements): elements
        case .object(let members): members.properties.map(\.schema)
        case .map(let keys, let values): (keys.map { [$0] } ?? []) + [values]
        case .union(let alternatives): alternatives
        }
    }

    /// Returns the form with others in place of the schemas in it, which are visited in the order of
    /// `parts`.
    func mapped(_ change: (Schema) -> Schema) -> Self {
        switch self {
        case .any, .null, .boolean, .integer, .number, .string, .enumeration, .reference: return self
        case .array(let items, let minimum, let maximum):
            return .array(change(items), minimum: minimum, maximum: maximum)
        case .tuple(let elements): return .tuple(elements.map(change))
        case .object(var members):
            for index in members.properties.indices {
                members.properties[index].schema = change(members.properties[index].schema)
            }
            return .object(members)
        case .map(let keys, let values): return .map(keys: keys.map(change), values: change(values))
        case .union(let alternatives): return .union(alternatives.map(change))
        }
    }
}

extension Contract {
    /// Puts others in place of all schemas.
    mutating func mapSchemas(_ change: (Schema) -> Schema) {
        for index in actions.indices {
            actions[index].params = actions[index].params.map(change)
            switch actions[index].result {
            case .reply(let schema): actions[index].result = .reply(schema.map(change))
            case .elements(let schema): actions[index].result = .elements(schema.map(change))
            }
        }
        for index in properties.indices { properties[index].value = properties[index].value.map(change) }
        for list in [\Contract.broadcasts, \.reports, \.observes] {
            for index in self[keyPath: list].indices {
                self[keyPath: list][index].content = self[keyPath: list][index].content.map(change)
            }
        }
        if let members = settings, case .object(let changed) = Schema.Form.object(members).mapped(change) {
            settings = changed
        }
        definitions = definitions.mapValues(change)
    }
}
