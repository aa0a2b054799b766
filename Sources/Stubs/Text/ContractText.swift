public import StrataContracts
import StrataCore

/// A contract as a person reads it: signatures, with what the author says about them.
///
/// The text comes from a module. Whoever prints it escapes control characters.
public struct ContractText {
    private let contract: Contract

    public init(_ contract: Contract) { self.contract = contract }

    /// The whole contract, one string a line.
    public var lines: [String] {
        var blocks = [heading]
        blocks += contract.actions.map { lines(of: $0) }
        blocks += contract.properties.map { lines(of: $0) }
        blocks += contract.broadcasts.map { lines(of: $0, "broadcast") }
        blocks += contract.reports.map { lines(of: $0, "report") }
        blocks += contract.observes.map { lines(of: $0, "observes") }
        if let settings = contract.settings { blocks.append(["settings"] + details(of: settings)) }
        blocks += contract.definitions.keys.sorted().map(lines(ofDefinition:))
        return Array(blocks.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    /// One action or property, and the types that it refers to; nil if the contract doesn't have it.
    public func lines(ofAction name: String) -> [String]? {
        if let property = contract.property(name) {
            let types = contract.names(usedBy: [property.value].compactMap(\.self))
            return Array(([lines(of: property)] + types.map(lines(ofDefinition:))).joined(separator: [""]))
        }
        guard let action = contract.action(name) else { return nil }
        let types = contract.names(usedBy: action.schemas)
        return Array(([lines(of: action)] + types.map(lines(ofDefinition:))).joined(separator: [""]))
    }

    /// Returns an action's signature: `search(text: string, limit?: integer) → Results`.
    public func signature(of action: Contract.Action) -> String {
        "\(action.name)(\(parameters(of: action))) → \(answer(of: action))"
    }

    /// Returns a property's signature: `volume: integer, settable`.
    public func signature(of property: Contract.Property) -> String {
        "\(property.name): \(property.value.map(SchemaText.type) ?? "…")\(property.isSettable ? ", settable" : "")"
    }

    /// Returns a type alone, with its bounds: `integer (1 to 100)`. That it may be null goes without saying.
    public static func type(_ schema: Schema) -> String {
        SchemaText.type(schema.withoutNull) + (SchemaText.bounds(schema).map { " (\($0))" } ?? "")
    }

    private var heading: [String] {
        let version = contract.version.map { " \($0)" } ?? ""
        let instances = contract.hasInstances ? ", of which each user creates instances" : ""
        return ["\(contract.subject.name)\(version)\(instances)"] + indented(contract.doc)
    }

    private func parameters(of action: Contract.Action) -> String {
        guard let params = action.params else { return "…" }
        return params.members(in: contract).map(SchemaText.members) ?? SchemaText.type(params)
    }

    private func answer(of action: Contract.Action) -> String {
        switch action.result {
        case .reply(nil): "…"
        case .reply(let schema?): SchemaText.type(schema)
        case .elements(let schema): "stream of \(schema.map(SchemaText.type) ?? "…")"
        }
    }

    private func lines(of action: Contract.Action) -> [String] {
        var lines = [signature(of: action)] + indented(action.doc)
        if let params = action.params?.members(in: contract) { lines += details(of: params, onlyOfInterest: true) }
        if action.descriptors != .none { lines.append("    descriptors: \(action.descriptors)") }
        lines += action.errors.map { "    error \($0.code)" + said($0.doc) }
        if action.needsAuthorization == true { lines.append("    asks the app's authorizer") }
        if action.isDeprecated { lines.append("    deprecated") }
        return lines
    }

    private func lines(of property: Contract.Property) -> [String] {
        var lines = ["property \(signature(of: property))"] + indented(property.doc)
        if let bounds = property.value.flatMap(SchemaText.bounds) { lines.append("    \(bounds)") }
        lines += property.errors.map { "    error \($0.code)" + said($0.doc) }
        if property.needsAuthorization == true { lines.append("    asks the app's authorizer before it is set") }
        if property.isDeprecated { lines.append("    deprecated") }
        return lines
    }

    private func lines(of notice: Contract.Notice, _ kind: String) -> [String] {
        let members = notice.content?.members(in: contract)
        let content = members.map { " {\(SchemaText.members($0))}" } ?? notice.content.map { " \(SchemaText.type($0))" }
        var lines = ["\(kind) \(notice.name)\(content ?? "")"] + indented(notice.doc)
        if let members { lines += details(of: members, onlyOfInterest: true) }
        if notice.isDeprecated { lines.append("    deprecated") }
        return lines
    }

    private func lines(ofDefinition name: String) -> [String] {
        guard let schema = contract.definitions[name] else { return [] }
        guard case .object(let members) = schema.form else {
            return ["\(name) = \(SchemaText.type(schema))"] + indented(schema.doc)
        }
        return [name] + indented(schema.doc) + details(of: members)
    }

    /// Returns a line for each member.
    /// - Parameter onlyOfInterest: Whether members are left out of which nothing more is to be said
    ///   than that they are there.
    private func details(of members: Schema.Members, onlyOfInterest: Bool = false) -> [String] {
        members.properties.compactMap { property in
            let notes = [
                SchemaText.bounds(property.schema), property.schema.isSecret ? "secret" : nil,
                property.schema.isDeprecated ? "deprecated" : nil,
            ].compactMap { $0 }
            let doc = property.schema.doc ?? property.schema.withoutNull.doc
            if onlyOfInterest, notes.isEmpty, doc == nil { return nil }
            let remark = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
            return "    \(SchemaText.member(property))\(remark)\(said(doc))"
        }
    }

    private func said(_ doc: String?) -> String {
        doc.map { ": " + $0.split(separator: "\n").joined(separator: " ") } ?? ""
    }

    private func indented(_ doc: String?) -> [String] {
        (doc ?? "").split(separator: "\n").map { "    \($0)" }
    }
}

extension Contract {
    /// The errors of all actions and properties.
    var problems: [Problem] { actions.flatMap(\.errors) + properties.flatMap(\.errors) }

    /// The names of the definitions that the actions, properties and notifications lead to, sorted.
    public var usedDefinitions: [String] {
        names(
            usedBy: actions.flatMap(\.schemas) + properties.compactMap(\.value)
                + (broadcasts + reports + observes).compactMap(\.content))
    }

    /// Returns the names of the definitions that schemas lead to, sorted.
    func names(usedBy schemas: [Schema]) -> [String] {
        var found: Set<String> = []
        var open = schemas
        while let schema = open.popLast() {
            switch schema.form {
            case .reference(let name):
                if found.insert(name).inserted, let definition = definitions[name] { open.append(definition) }
            case .array(let element, _, _): open.append(element)
            case .tuple(let elements), .union(let elements): open += elements
            case .object(let members): open += members.properties.map(\.schema)
            case .map(let keys, let values): open += [keys, values].compactMap { $0 }
            case .any, .null, .boolean, .integer, .number, .string, .enumeration: break
            }
        }
        return found.sorted()
    }
}

extension Contract.Action {
    /// The schemas of the params and of the answer, as far as they are known.
    var schemas: [Schema] {
        switch result {
        case .reply(let schema), .elements(let schema): [params, schema].compactMap { $0 }
        }
    }
}
