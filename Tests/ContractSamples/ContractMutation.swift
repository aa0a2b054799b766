package import StrataContracts
package import StrataCore
internal import StrataTesting

/// Changes contracts and values at random, as their authors might, and as mistakes do.
package struct ContractMutation {
    private var random: RandomContract

    package init(seed: Int) { random = RandomContract(seed: seed) }

    private var generator: SeededGenerator {
        get { random.generator }
        set { random.generator = newValue }
    }

    /// Returns the contract with one to three changes. It follows the rules, too. A change may be one
    /// that doesn't matter, such as another name of a definition.
    package mutating func changed(_ contract: Contract) -> Contract {
        var changed = contract
        for _ in 0...generator.below(3) {
            let next = changedOnce(changed)
            // A change of a definition can break a rule for those that refer to it.
            if let read = try? Contract(json: next.json()) { changed = read }
        }
        return changed
    }

    private mutating func changedOnce(_ contract: Contract) -> Contract {
        var contract = contract
        switch generator.below(14) {
        case 0: changeDocument(&contract)
        case 1: rename(&contract)
        case 2, 3, 4:
            guard let name = contract.definitions.keys.sorted().randomElement(using: &generator) else { break }
            contract.definitions[name] = changed(contract.definitions[name] ?? Schema(.any), contract)
        case 5 where !contract.broadcasts.isEmpty:
            let index = generator.below(contract.broadcasts.count)
            contract.broadcasts[index].content = contract.broadcasts[index].content.map { changed($0, contract) }
        case 6 where !contract.reports.isEmpty:
            let index = generator.below(contract.reports.count)
            contract.reports[index].content = contract.reports[index].content.map { changed($0, contract) }
        case 12, 13: changeProperty(&contract)
        case 7:
            guard let settings = contract.settings else { break }
            if case .object(let members) = changed(Schema(.object(settings)), contract).form {
                contract.settings = members
            }
        default:
            guard !contract.actions.isEmpty else { break }
            let index = generator.below(contract.actions.count)
            change(&contract.actions[index], contract)
        }
        return contract
    }

    // MARK: Parts of a contract

    private mutating func changeDocument(_ contract: inout Contract) {
        switch generator.below(7) {
        case 0: contract.doc = "Another description."
        case 1: contract.hasInstances.toggle()
        case 2: if !contract.actions.isEmpty { contract.actions.remove(at: generator.below(contract.actions.count)) }
        case 3: contract.actions.append(Contract.Action("zz\(generator.below(3))"))
        case 4: if !contract.broadcasts.isEmpty { contract.broadcasts.removeLast() }
        case 5: contract.reports.append(Contract.Notice("zz", content: Schema(.boolean)))
        default: if !contract.observes.isEmpty { contract.observes.removeLast() }
        }
    }

    /// Gives a definition another name, which is no difference.
    private mutating func rename(_ contract: inout Contract) {
        guard let name = contract.definitions.keys.sorted().randomElement(using: &generator) else { return }
        let new = "New_\(name)"
        func renamed(_ schema: Schema) -> Schema {
            var schema = schema
            if schema.form == .reference(name) {
                schema.form = .reference(new)
            } else {
                schema.form = schema.form.mapped(renamed)
            }
            return schema
        }
        contract.definitions[new] = contract.definitions.removeValue(forKey: name)
        contract.mapSchemas(renamed)
    }

    private mutating func changeProperty(_ contract: inout Contract) {
        guard case .interface = contract.subject else { return }
        guard !contract.properties.isEmpty, generator.chance(4, in: 5) else {
            return contract.properties.append(random.property("zz\(generator.below(3))"))
        }
        let index = generator.below(contract.properties.count)
        var property = contract.properties[index]
        switch generator.below(8) {
        case 0:
            contract.properties.remove(at: index)
            return
        case 1:
            property.isSettable.toggle()
            if !property.isSettable { (property.needsAuthorization, property.errors) = (nil, []) }
        case 2: property.isDeprecated.toggle()
        case 3 where property.isSettable: property.needsAuthorization = [nil, true, false][generator.below(3)]
        case 4 where property.isSettable: property.errors.append(Contract.Problem("zz.new"))
        default: property.value = property.value.map { changed($0, contract) } ?? random.schema()
        }
        contract.properties[index] = property
    }

    private mutating func change(_ action: inout Contract.Action, _ contract: Contract) {
        switch generator.below(13) {
        case 12: action.descriptors = random.descriptors()
        case 0: action.isDeprecated.toggle()
        case 1: action.needsAuthorization = [nil, true, false][generator.below(3)]
        case 2: action.errors.append(Contract.Problem("zz.new"))
        case 3:
            switch action.result {
            case .reply(let schema): action.result = .elements(schema)
            case .elements(let schema): action.result = .reply(schema)
            }
        case 4: action.params = action.params == nil ? random.schema() : nil
        case 5, 6, 7:
            switch action.result {
            case .reply(let schema): action.result = .reply(schema.map { changed($0, contract) })
            case .elements(let schema): action.result = .elements(schema.map { changed($0, contract) })
            }
        default: action.params = action.params.map { changed($0, contract) }
        }
    }

    // MARK: Schemas

    /// Returns a schema with a change somewhere in it.
    private mutating func changed(_ schema: Schema, _ contract: Contract) -> Schema {
        var schema = schema
        let parts = schema.form.parts
        if !parts.isEmpty, generator.chance(2, in: 3) {
            let chosen = generator.below(parts.count)
            var index = -1
            schema.form = schema.form.mapped { part in
                index += 1
                return index == chosen ? changed(part, contract) : part
            }
            return schema
        }
        switch generator.below(12) {
        case 0: schema.doc = "Another description."
        case 1: schema.defaultValue = random.value()
        case 2: schema.isDeprecated.toggle()
        case 3: schema.isSecret.toggle()
        case 4: return Schema(.union([schema, Schema(.null)]))
        case 5: schema.form = random.schema().form.parts.first?.form ?? .boolean
        default: schema.form = changed(schema.form, contract)
        }
        return schema
    }

    private mutating func changed(_ form: Schema.Form, _ contract: Contract) -> Schema.Form {
        switch form {
        case .any: return .boolean
        case .null, .boolean: return .any
        case .integer(let minimum, let maximum):
            switch generator.below(4) {
            case 0: return .integer(minimum: minimum.map { $0 / 2 }, maximum: nil)
            case 1: return .integer(minimum: nil, maximum: maximum.map { $0 / 2 })
            case 2: return .integer(minimum: minimum ?? -5, maximum: maximum)
            default: return .number(minimum: minimum.map { Double($0) }, maximum: nil, format: nil)
            }
        case .number(let minimum, _, let format):
            return generator.chance(1, in: 2)
                ? .number(minimum: nil, maximum: nil, format: format == nil ? "decimal" : nil)
                : .integer(minimum: minimum.map { Int64(max(-1e15, min(1e15, $0))) }, maximum: nil)
        case .string(var text):
            switch generator.below(4) {
            case 0: text.format = text.format == nil ? "uuid" : nil
            case 1: text.maximum = text.maximum.map { $0 + 1 } ?? 9
            case 2: text.minimum = text.minimum == nil ? 0 : nil
            default: text.contentEncoding = text.contentEncoding == nil ? "base64" : nil
            }
            return .string(text)
        case .enumeration(let values):
            if generator.chance(1, in: 2), values.count > 1 { return .enumeration(Array(values.dropFirst())) }
            return .enumeration(values + [values[0].string == nil ? 77 : "zz"])
        case .array(let items, let minimum, let maximum):
            switch generator.below(3) {
            case 0: return .array(items, minimum: minimum.map { $0 + 1 } ?? 1, maximum: maximum.map { $0 + 1 })
            case 1: return .array(items, minimum: nil, maximum: maximum)
            default: return .tuple([items, items])
            }
        case .tuple(let elements):
            switch generator.below(3) {
            case 0: return .tuple(elements + [Schema(.boolean)])
            case 1: return .array(Schema(.union(elements)), minimum: nil, maximum: nil)
            default: return .tuple(elements.reversed())
            }
        case .object(let members): return .object(changed(members))
        case .map(let keys, let values):
            return .map(keys: keys == nil ? Schema(.enumeration(["a", "b"])) : nil, values: values)
        case .union(let alternatives):
            switch generator.below(4) {
            case 0: return .union(alternatives + [random.schema()])
            case 1 where alternatives.count > 1: return .union(Array(alternatives.dropFirst()))
            case 2: return .union(alternatives.reversed())
            default: return alternatives[generator.below(alternatives.count)].form
            }
        case .reference(let name): return contract.definitions[name]?.form ?? form
        }
    }

    private mutating func changed(_ members: Schema.Members) -> Schema.Members {
        var members = members
        let new = Schema.Property("new", random.schema(), isRequired: generator.chance(1, in: 2))
        guard !members.properties.isEmpty else { return Schema.Members([new], isClosed: members.isClosed) }
        let index = generator.below(members.properties.count)
        switch generator.below(6) {
        case 0: members.properties.remove(at: index)
        case 1: members.properties[index].isRequired.toggle()
        case 2: members.isClosed.toggle()
        case 3: members.properties.reverse()
        case 4: members.properties[index].name += "x"
        default: if !members.properties.contains(where: { $0.name == "new" }) { members.properties.append(new) }
        }
        return members
    }

    // MARK: Values

    /// Returns a value with a change somewhere in it.
    package mutating func changed(_ value: JSON) -> JSON {
        switch value {
        case .array(var elements):
            guard !elements.isEmpty else { return [.null] }
            let index = generator.below(elements.count)
            switch generator.below(4) {
            case 0: elements.remove(at: index)
            case 1: elements.append(elements[index])
            default: elements[index] = changed(elements[index])
            }
            return .array(elements)
        case .object(var members):
            guard !members.isEmpty else { return ["x": 1] }
            let index = generator.below(members.count)
            switch generator.below(6) {
            case 0: members.remove(at: index)
            case 1: members[index].name += "x"
            case 2: members.append(JSON.Member("unlisted", random.value()))
            default: members[index].value = changed(members[index].value)
            }
            return .object(members)
        case .string(let text): return generator.chance(1, in: 2) ? .string(text + "é") : random.value()
        case .integer(let integer):
            switch generator.below(3) {
            case 0: return .number(Double(integer / 2) + 0.5)
            case 1: return .number(Double(integer / 1_024))
            default: return .integer(integer &* 3)
            }
        case .null, .bool, .number: return random.value()
        }
    }
}
