internal import StrataContracts
internal import StrataCore
internal import StrataDeriving

/// Derives a module's contracts from its outline.
struct ContractBuilder {
    /// The contracts.
    private(set) var contracts: ModuleContracts
    private let deriver = Deriver()

    /// - Parameter checks: Whether each type must decode values that its contract allows, and write
    ///   values that it allows.
    /// - Throws: `ContractFailure` for the first part that has no contract.
    init(_ outline: ContractOutline, checks: Bool = false) throws(ContractFailure) {
        contracts = ModuleContracts(module: Contract(.module(outline.module)))
        for (index, provided) in outline.provided.sorted(by: { $0.name < $1.name }).enumerated() {
            let contract = try contract(provided, at: "/provides/\(index)")
            contracts.provides.append(contract)
        }
        for (index, required) in outline.required.enumerated() {
            let contract = try contract(required, at: "/requires/\(index)")
            contracts.requires.append(contract)
        }
        try describe(outline)
        guard checks else { return }
        try Self.naming(outline.module) { try deriver.check() }
    }

    // MARK: Interfaces

    private mutating func contract(
        _ provided: ContractOutline.Provided, at pointer: String
    ) throws(ContractFailure) -> Contract {
        var contract = Contract(.interface(provided.name), version: provided.type?.version)
        contract.hasInstances = provided.hasInstances
        for action in provided.actions {
            var described = try self.action(action.name, action.member, of: contract, at: pointer)
            described.needsAuthorization = action.auth
            contract.actions.append(described)
        }
        if let type = provided.type { try add(type, to: &contract, ofProvider: provided, at: pointer) }
        return try complete(contract, at: pointer)
    }

    private mutating func contract(
        _ required: any Interface.Type, at pointer: String
    ) throws(ContractFailure) -> Contract {
        var contract = Contract(.interface(Name.withoutRouterSuffix(required.name)), version: required.version)
        try add(required, to: &contract, ofProvider: nil, at: pointer)
        return try complete(contract, at: pointer)
    }

    /// Adds the members of an interface. Those of a provider's that are actions are compared with what
    /// it exports.
    private mutating func add(
        _ type: any Interface.Type, to contract: inout Contract, ofProvider provided: ContractOutline.Provided?,
        at pointer: String
    ) throws(ContractFailure) {
        contracts.types[pointer] = swiftName(of: type)
        let name = contract.subject.name
        var listed: Set<String> = []
        for member in type.members {
            if let action = ActionType(member) {
                guard Name.withoutRouterSuffix(action.name.interface) == name else {
                    throw ContractFailure(
                        "\(name) lists \(member) in its members, an action of \(action.name.interface)")
                }
                guard listed.insert(action.name.action).inserted else {
                    throw ContractFailure("\(name) lists two actions in its members that are named \(action.name)")
                }
                if let provided {
                    guard provided.actions.contains(where: { $0.name == action.name.action }) else {
                        throw ContractFailure(
                            "\(name) lists \(member) in its members, and \(action.name) isn't exported: export it, or take "
                                + "it from the list")
                    }
                } else {
                    contract.actions.append(
                        try self.action(action.name.action, member, of: contract, at: pointer))
                }
            }
            if member is any Broadcast.Type {
                try add(member, to: &contract.broadcasts, "broadcasts", contract, at: pointer)
            }
            if member is any Report.Type { try add(member, to: &contract.reports, "reports", contract, at: pointer) }
        }
        guard let provided, !type.members.isEmpty,
            let unlisted = provided.actions.first(where: { !listed.contains($0.name) })
        else { return }
        throw ContractFailure(
            "\(name)/\(unlisted.name) is exported, and \(name) doesn't list it in its members: list it, or don't export it"
        )
    }

    private mutating func action(
        _ name: String, _ member: (any InterfaceMember.Type)?, of contract: Contract, at pointer: String
    ) throws(ContractFailure) -> Contract.Action {
        var action = Contract.Action(name)
        guard let member, let type = ActionType(member) else { return action }
        let place = ValuePath.root.member("actions").member(name)
        let own = "\(pointer)/actions/\(name)"
        let subject = contract.subject.name
        action.params = try Self.naming(subject) { try deriver.contents(of: member, at: place.member("params")) }
        note(deriver.swiftNames(of: member, at: own, schema: "\(own)/params"))
        let result = place.member(type.isStream ? "element" : "reply")
        let schema = try Self.naming(subject) { try deriver.schema(of: type.result, at: result) }
        action.result = type.isStream ? .elements(schema) : .reply(schema)
        action.errors = type.errors.map { .init($0.key, doc: $0.value.isEmpty ? nil : $0.value) }
            .sorted { $0.code.utf8.lexicographicallyPrecedes($1.code.utf8) }
        return action
    }

    private mutating func add(
        _ member: any InterfaceMember.Type, to notices: inout [Contract.Notice], _ list: String, _ contract: Contract,
        at pointer: String
    ) throws(ContractFailure) {
        guard let type = member as? any Notice.Type else { return }
        notices.append(try notice(type.name, type, list, of: contract.subject.name, at: pointer))
    }

    private mutating func notice(
        _ name: String, _ type: (any Notice.Type)?, _ list: String, of subject: String, at pointer: String
    ) throws(ContractFailure) -> Contract.Notice {
        guard let type else { return Contract.Notice(name) }
        let place = ValuePath.root.member(list).member(name).member("content")
        let own = "\(pointer)/\(list)/\(JSONPointer.token(name))"
        let content = try Self.naming(subject) { try deriver.contents(of: type, at: place) }
        note(deriver.swiftNames(of: type, at: own, schema: "\(own)/content"))
        return Contract.Notice(name, content: content)
    }

    // MARK: The module

    private mutating func describe(_ outline: ContractOutline) throws(ContractFailure) {
        var contract = contracts.module
        contracts.types["/module"] = swiftName(of: outline.type)
        for (notices, list, path) in [
            (outline.broadcasts, "broadcasts", \Contract.broadcasts), (outline.reports, "reports", \.reports),
            (outline.observes, "observes", \.observes),
        ] {
            for entry in notices {
                contract[keyPath: path].append(
                    try notice(entry.name, entry.type, list, of: outline.module, at: "/module"))
            }
        }
        contracts.module = try complete(contract, at: "/module")
    }

    // MARK: Completion

    /// Names the definitions, sorts, and reads the document, so that it breaks no rule of contracts.
    private mutating func complete(_ contract: Contract, at pointer: String) throws(ContractFailure) -> Contract {
        var contract = contract
        for (own, name) in deriver.complete(&contract) { contracts.types[pointer + own] = name }
        do { return try Contract(json: contract.json()) } catch {
            throw ContractFailure("\(contract.subject.name): \(error)")
        }
    }

    private mutating func note(_ names: [String: String]) { contracts.types.merge(names) { first, _ in first } }

    private func swiftName(of type: any Any.Type) -> String {
        deriver.swiftNames(of: type, at: "", schema: "")[""] ?? ""
    }

    private static func naming<Result>(
        _ subject: String, _ work: () throws -> Result
    ) throws(ContractFailure) -> Result {
        do { return try work() } catch { throw ContractFailure("\(subject): \(error)") }
    }
}

/// The reason why a module can't be described.
struct ContractFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// An action or a stream, and the types that its contract has.
private struct ActionType {
    let name: ActionName
    let isStream: Bool
    /// The type of its reply, or of an element.
    let result: any Decodable.Type
    let errors: KeyValuePairs<String, String>

    /// Nil if the member is neither.
    init?(_ member: any InterfaceMember.Type) {
        if let type = member as? any Action.Type {
            self.init(action: type)
        } else if let type = member as? any StreamingAction.Type {
            self.init(stream: type)
        } else {
            return nil
        }
    }

    private init<Type: Action>(action type: Type.Type) {
        (name, isStream, result, errors) = (type.name, false, Type.Reply.self, type.errors)
    }

    private init<Type: StreamingAction>(stream type: Type.Type) {
        (name, isStream, result, errors) = (type.name, true, Type.Element.self, type.errors)
    }
}
