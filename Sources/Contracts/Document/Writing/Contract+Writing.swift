public import StrataCore

extension Contract {
    /// Returns the document, with its members in the canonical order.
    public func json() -> JSON {
        var document: [JSON.Member] = []
        document.append("contract", .integer(Self.format))
        switch subject {
        case .interface(let name): document.append("interface", .string(name))
        case .module(let name): document.append("module", .string(name))
        }
        if let version { document.append("version", .string("\(version)")) }
        if let doc { document.append("description", .string(doc)) }
        if hasInstances { document.append("instances", "multiple") }
        document.append("actions", unlessEmpty: actions.sorted(by: \.name).map { JSON.Member($0.name, $0.json()) })
        document.append(
            "properties", unlessEmpty: properties.sorted(by: \.name).map { JSON.Member($0.name, $0.json()) })
        for (kind, notices) in [("broadcasts", broadcasts), ("reports", reports), ("observes", observes)] {
            document.append(kind, unlessEmpty: notices.sorted(by: \.name).map { JSON.Member($0.name, $0.json()) })
        }
        if let settings { document.append("settings", .object(settings.keywords)) }
        document.append(
            "$defs", unlessEmpty: definitions.sorted(by: \.key).map { JSON.Member($0.key, $0.value.json()) })
        return .object(document)
    }

    /// Returns the document's canonical bytes, the same for equal contracts and from each of
    /// Strata's languages.
    public func encoded() -> [UInt8] { CanonicalJSON.encode(json()) }

    /// The format of the documents that this reads and writes.
    static let format: Int64 = 1
}

extension Contract.Action {
    fileprivate func json() -> JSON {
        var members: [JSON.Member] = []
        if let doc { members.append("description", .string(doc)) }
        if isDeprecated { members.append("deprecated", true) }
        if let needsAuthorization { members.append("auth", .bool(needsAuthorization)) }
        if let params { members.append("params", params.json()) }
        switch result {
        case .reply(nil): break
        case .reply(let schema?): members.append("reply", schema.json())
        case .elements(let schema): members.append("element", schema?.json() ?? [:])
        }
        if let descriptors = descriptors.json { members.append("descriptors", descriptors) }
        members.append("errors", unlessEmpty: errors.sorted(by: \.code).map { JSON.Member($0.code, $0.json()) })
        return .object(members)
    }
}

extension Contract.Property {
    fileprivate func json() -> JSON {
        var members: [JSON.Member] = []
        if let doc { members.append("description", .string(doc)) }
        if isDeprecated { members.append("deprecated", true) }
        if isSettable { members.append("settable", true) }
        if let needsAuthorization { members.append("auth", .bool(needsAuthorization)) }
        if let value { members.append("value", value.json()) }
        members.append("errors", unlessEmpty: errors.sorted(by: \.code).map { JSON.Member($0.code, $0.json()) })
        return .object(members)
    }
}

extension Contract.Problem {
    fileprivate func json() -> JSON { doc.map { ["description": .string($0)] } ?? [:] }
}

extension Contract.Notice {
    fileprivate func json() -> JSON {
        var members: [JSON.Member] = []
        if let doc { members.append("description", .string(doc)) }
        if isDeprecated { members.append("deprecated", true) }
        if let content { members.append("content", content.json()) }
        return .object(members)
    }
}

extension Sequence {
    /// Returns the elements in the order of a name's UTF-8 bytes.
    func sorted(by name: KeyPath<Element, String>) -> [Element] {
        sorted { $0[keyPath: name].utf8.lexicographicallyPrecedes($1[keyPath: name].utf8) }
    }
}
