public import StrataContracts
internal import StrataCore

/// Derives a module's contracts from its outline.
public struct ContractBuilder {
    /// The contracts, with the Swift names of what stands in them.
    public private(set) var contracts: ModuleContracts
    private let deriver = Deriver()

    /// - Parameter checks: Whether each type must decode values that its contract allows, and write
    ///   such values.
    /// - Throws: `ContractFailure` for the first part that has no contract.
    public init(_ outline: ModuleOutline, checks: Bool = false) throws(ContractFailure) {
        contracts = ModuleContracts(module: Contract(.module(outline.name)))
        for (index, interface) in Self.sorted(outline.provides, by: \.name).enumerated() {
            contracts.provides.append(try contract(interface, at: "/provides/\(index)"))
        }
        for (index, interface) in Self.sorted(outline.requires, by: \.name).enumerated() {
            contracts.requires.append(try contract(interface, at: "/requires/\(index)"))
        }
        var contract = contracts.module
        contracts.types["/module"] = TypeName(outline.type).symbol
        contract.broadcasts = try notices(outline.broadcasts, "broadcasts", of: outline.name, at: "/module")
        contract.reports = try notices(outline.reports, "reports", of: outline.name, at: "/module")
        contract.observes = try notices(outline.observes, "observes", of: outline.name, at: "/module")
        if let settings = outline.settings {
            contract.settings = try Self.naming(outline.name) { try deriver.settings(settings) }
            note(deriver.swiftNames(of: settings.type, at: "/module/settings", schema: "/module/settings"))
        }
        contracts.module = try complete(contract, at: "/module")
        guard checks else { return }
        try Self.naming(outline.name) { try deriver.check() }
    }

    // MARK: Parts

    private mutating func contract(
        _ interface: ModuleOutline.Interface, at pointer: String
    ) throws(ContractFailure) -> Contract {
        try Self.check(interface)
        var contract = Contract(.interface(interface.name), version: interface.version)
        contract.hasInstances = interface.hasInstances
        if let type = interface.type { contracts.types[pointer] = TypeName(type).symbol }
        for action in interface.actions {
            contract.actions.append(try self.action(action, of: interface.name, at: pointer))
        }
        for property in interface.properties {
            contract.properties.append(try self.property(property, of: interface.name, at: pointer))
        }
        contract.broadcasts = try notices(interface.broadcasts, "broadcasts", of: interface.name, at: pointer)
        contract.reports = try notices(interface.reports, "reports", of: interface.name, at: pointer)
        return try complete(contract, at: pointer)
    }

    /// Compares what a provider exports with what the interface lists.
    private static func check(_ interface: ModuleOutline.Interface) throws(ContractFailure) {
        guard let listed = interface.listed else { return }
        let name = interface.name
        // An action without a type can't be listed.
        let typed = interface.actions.filter { $0.params != nil }.map(\.name)
        let properties = interface.properties.map(\.name)
        for (kind, listed, exported) in [
            ("action", listed, interface.actions.map(\.name)), ("property", interface.listedProperties, properties),
        ] {
            guard let missing = listed.first(where: { !exported.contains($0) }) else { continue }
            throw ContractFailure(
                "\(name) lists the \(kind) \(missing) in its members, and \(name)/\(missing) isn't exported: export it, or "
                    + "take it from the list")
        }
        let others =
            typed.filter { !listed.contains($0) } + properties.filter { !interface.listedProperties.contains($0) }
        if let other = others.first {
            throw ContractFailure(
                "\(name)/\(other) is exported, and \(name) doesn't list it in its members: list it, or don't export it")
        }
    }

    private mutating func action(
        _ outline: ModuleOutline.Action, of interface: String, at pointer: String
    ) throws(ContractFailure) -> Contract.Action {
        var action = Contract.Action(outline.name)
        action.needsAuthorization = outline.needsAuthorization
        action.descriptors = outline.descriptors
        action.errors = Self.problems(outline.errors)
        guard let params = outline.params, let result = outline.result else { return action }
        let place = ValuePath.root.member("actions").member(outline.name)
        let own = "\(pointer)/actions/\(outline.name)"
        action.params = try Self.naming(interface) { try deriver.contents(of: params, at: place.member("params")) }
        note(deriver.swiftNames(of: params, at: own, schema: "\(own)/params"))
        let member = outline.isStream ? "element" : "reply"
        let schema = try Self.naming(interface) { try deriver.schema(of: result, at: place.member(member)) }
        action.result = outline.isStream ? .elements(schema) : .reply(schema)
        return action
    }

    private mutating func property(
        _ outline: ModuleOutline.Property, of interface: String, at pointer: String
    ) throws(ContractFailure) -> Contract.Property {
        var property = Contract.Property(outline.name, isSettable: outline.isSettable)
        let place = ValuePath.root.member("properties").member(outline.name).member("value")
        property.value = try Self.naming(interface) { try deriver.schema(of: outline.value, at: place) }
        property.needsAuthorization = outline.isSettable ? outline.needsAuthorization : nil
        property.errors = outline.isSettable ? Self.problems(outline.errors) : []
        if let type = outline.type {
            note(["\(pointer)/properties/\(JSONPointer.token(outline.name))": TypeName(type).symbol])
        }
        return property
    }

    private static func problems(_ errors: [(code: String, doc: String)]) -> [Contract.Problem] {
        sorted(errors.map { .init($0.code, doc: $0.doc.isEmpty ? nil : $0.doc) }, by: \.code)
    }

    private mutating func notices(
        _ outlines: [ModuleOutline.Notice], _ list: String, of subject: String, at pointer: String
    ) throws(ContractFailure) -> [Contract.Notice] {
        var notices: [Contract.Notice] = []
        for outline in Self.sorted(outlines, by: \.name) {
            var notice = Contract.Notice(outline.name)
            if let content = outline.content {
                let place = ValuePath.root.member(list).member(outline.name).member("content")
                let own = "\(pointer)/\(list)/\(JSONPointer.token(outline.name))"
                notice.content = try Self.naming(subject) { try deriver.contents(of: content, at: place) }
                if let type = outline.type { note([own: TypeName(type).symbol]) }
                note(deriver.swiftNames(of: content, at: own, schema: "\(own)/content"))
            }
            notices.append(notice)
        }
        return notices
    }

    /// Names the definitions, and reads the document again, so that it breaks no rule of contracts.
    private mutating func complete(_ contract: Contract, at pointer: String) throws(ContractFailure) -> Contract {
        var contract = contract
        for (own, name) in deriver.complete(&contract) { contracts.types[pointer + own] = name }
        do { return try Contract(json: contract.json()) } catch {
            throw ContractFailure("\(contract.subject.name): \(error)")
        }
    }

    private mutating func note(_ names: [String: String]) { contracts.types.merge(names) { first, _ in first } }

    private static func sorted<Element>(_ elements: [Element], by name: (Element) -> String) -> [Element] {
        elements.sorted { name($0).utf8.lexicographicallyPrecedes(name($1).utf8) }
    }

    private static func naming<Result>(
        _ subject: String, _ work: () throws -> Result
    ) throws(ContractFailure) -> Result {
        do { return try work() } catch { throw ContractFailure("\(subject): \(error)") }
    }
}

/// The reason why a module has no contracts.
public struct ContractFailure: Error, Sendable, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
