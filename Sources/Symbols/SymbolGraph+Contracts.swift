public import StrataContracts

extension SymbolGraph {
    /// A type in a contract whose `init(from:)` is written by hand. What was recorded of it may be
    /// less than what it takes.
    public struct WrittenType: Sendable, Equatable {
        /// `Shop.Item`
        public var type: String
        /// Where it stands, as a JSON pointer: `/provides/0/$defs/Item`.
        public var pointer: String
    }

    /// Adds doc comments and deprecations to a module's contracts, which are found by their `types`.
    /// What they say already stays.
    public func complete(_ contracts: inout ModuleContracts) {
        let types = contracts.types
        complete(&contracts.module, types, at: "/module")
        for index in contracts.provides.indices {
            complete(&contracts.provides[index], types, at: "/provides/\(index)")
        }
        for index in contracts.requires.indices {
            complete(&contracts.requires[index], types, at: "/requires/\(index)")
        }
    }

    /// Returns the types whose `init(from:)` is written by hand, sorted by their names.
    public func writtenTypes(_ types: [String: String]) -> [WrittenType] {
        var found: [String: WrittenType] = [:]
        for (pointer, type) in types.sorted(by: { $0.key < $1.key }) where isWritten(type) && found[type] == nil {
            found[type] = WrittenType(type: type, pointer: pointer)
        }
        return found.values.sorted { $0.type < $1.type }
    }

    /// Adds doc comments and deprecations to one contract.
    /// - Parameter prefix: What the pointers to the contract's parts begin with.
    public func complete(_ contract: inout Contract, _ types: [String: String], at prefix: String = "") {
        let names = Names(symbols: self, types: types)
        if let symbol = names[prefix], contract.doc == nil { contract.doc = symbol.doc }
        for index in contract.actions.indices {
            let pointer = "\(prefix)/actions/\(JSONPointer.token(contract.actions[index].name))"
            guard let symbol = names[pointer] else { continue }
            if contract.actions[index].doc == nil { contract.actions[index].doc = symbol.doc }
            if symbol.isDeprecated { contract.actions[index].isDeprecated = true }
            names.completeMembers(&contract.actions[index].params, of: pointer, at: "\(pointer)/params")
        }
        for index in contract.properties.indices {
            let property = contract.properties[index]
            guard let symbol = names["\(prefix)/properties/\(JSONPointer.token(property.name))"] else { continue }
            if property.doc == nil { contract.properties[index].doc = symbol.doc }
            if symbol.isDeprecated { contract.properties[index].isDeprecated = true }
        }
        complete(&contract.broadcasts, names, at: "\(prefix)/broadcasts")
        complete(&contract.reports, names, at: "\(prefix)/reports")
        complete(&contract.observes, names, at: "\(prefix)/observes")
        if let settings = contract.settings {
            var schema: Schema? = Schema(.object(settings))
            names.completeMembers(&schema, of: "\(prefix)/settings", at: "\(prefix)/settings")
            if case .object(let members)? = schema?.form { contract.settings = members }
        }
        for name in contract.definitions.keys {
            let pointer = "\(prefix)/$defs/\(JSONPointer.token(name))"
            var definition = contract.definitions[name]
            if let symbol = names[pointer] {
                if definition?.doc == nil { definition?.doc = symbol.doc }
                if symbol.isDeprecated { definition?.isDeprecated = true }
            }
            names.completeMembers(&definition, of: pointer, at: pointer)
            contract.definitions[name] = definition
        }
    }

    private func complete(_ notices: inout [Contract.Notice], _ names: Names, at prefix: String) {
        for index in notices.indices {
            let pointer = "\(prefix)/\(JSONPointer.token(notices[index].name))"
            guard let symbol = names[pointer] else { continue }
            if notices[index].doc == nil { notices[index].doc = symbol.doc }
            if symbol.isDeprecated { notices[index].isDeprecated = true }
            names.completeMembers(&notices[index].content, of: pointer, at: "\(pointer)/content")
        }
    }

    /// The declarations of what stands in a contract.
    private struct Names {
        let symbols: SymbolGraph
        let types: [String: String]

        subscript(_ pointer: String) -> Symbol? { types[pointer].flatMap { symbols[$0] } }

        /// Adds what is said of a type's members, or of an enum's cases.
        /// - Parameters:
        ///   - type: The pointer to the type.
        ///   - pointer: The pointer to its schema.
        func completeMembers(_ schema: inout Schema?, of type: String, at pointer: String) {
            switch schema?.form {
            case .object(var members)?:
                complete(&members, of: type, at: pointer)
                schema?.form = .object(members)
            case .union(var alternatives)?:
                for index in alternatives.indices {
                    guard case .object(var members) = alternatives[index].form, members.isClosed else { continue }
                    complete(&members, of: type, at: "\(pointer)/anyOf/\(index)")
                    alternatives[index].form = .object(members)
                }
                schema?.form = .union(alternatives)
            default: break
            }
        }

        private func complete(_ members: inout Schema.Members, of type: String, at pointer: String) {
            for index in members.properties.indices {
                let name = members.properties[index].name
                let own = types[type].flatMap { symbols["\($0).\(name)"] }
                guard let symbol = self["\(pointer)/properties/\(JSONPointer.token(name))"] ?? own else { continue }
                if members.properties[index].schema.doc == nil { members.properties[index].schema.doc = symbol.doc }
                if symbol.isDeprecated { members.properties[index].schema.isDeprecated = true }
            }
        }
    }
}
