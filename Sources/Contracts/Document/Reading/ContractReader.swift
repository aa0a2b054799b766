internal import StrataCore

/// Reads a contract's document, except its schemas.
struct ContractReader {
    private var schemas = SchemaReader()

    mutating func contract(_ json: JSON, _ path: ValuePath) throws(ContractError) -> Contract {
        let document = try ReadMembers(json, path, "a contract")
        guard let format = document["contract"] else {
            throw ContractError(path, "the member contract is missing: a contract begins with \"contract\": 1")
        }
        guard format.integer == Contract.format else {
            throw ContractError(
                path.member("contract"), "this reads contracts of the format 1; found \(Words.value(format))")
        }
        var known = [
            "contract", "interface", "module", "version", "description", "instances", "actions", "properties",
            "broadcasts", "reports", "$defs",
        ]
        let subject = try subject(document)
        if case .module = subject {
            known = known.filter { $0 != "properties" } + ["observes", "settings"]
        } else if let name = ["observes", "settings"].first(where: { document[$0] != nil }) {
            throw ContractError(path.member(name), "\(name) is of a module's contract only")
        }
        try document.refuse(except: known, of: "a contract")

        var contract = Contract(subject, version: try version(document))
        contract.doc = try document.string("description")
        contract.hasInstances = try hasInstances(document)
        let actions = try named("actions", of: document, Name.isAction, "an action's name")
        for (name, value, place) in actions { contract.actions.append(try action(name, value, place)) }
        let properties = try named("properties", of: document, Name.isProperty, "a property's name")
        for (name, value, place) in properties { contract.properties.append(try property(name, value, place)) }
        contract.broadcasts = try notices("broadcasts", of: document)
        contract.reports = try notices("reports", of: document)
        contract.observes = try notices("observes", of: document)
        if let value = document["settings"] { contract.settings = try settings(value, path.member("settings")) }
        let definitions = try named("$defs", of: document, Self.isDefinition, "a name in $defs")
        for (name, value, place) in definitions { contract.definitions[name] = try schemas.schema(value, place) }
        try schemas.check(contract.definitions, path.member("$defs"))
        try check(contract.properties, of: contract, path)
        return contract
    }

    // MARK: Parts of the document

    private func subject(_ document: ReadMembers) throws(ContractError) -> Contract.Subject {
        switch (try document.string("interface"), try document.string("module")) {
        case (let name?, nil):
            guard Name.isInterface(name) else { throw notAName(name, "an interface's name", document, "interface") }
            return .interface(name)
        case (nil, let name?):
            guard Name.isModule(ReplicaName.row(of: name)) else {
                throw notAName(name, "a module's name", document, "module")
            }
            return .module(name)
        case (nil, nil): throw ContractError(document.path, "the member interface is missing, or module")
        case (_?, _?): throw ContractError(document.path, "a contract is of an interface or of a module, not of both")
        }
    }

    private func notAName(
        _ name: String, _ what: String, _ document: ReadMembers, _ member: String
    ) -> ContractError {
        ContractError(document.path.member(member), "\(Words.quoted(name)) can't be \(what)")
    }

    private func version(_ document: ReadMembers) throws(ContractError) -> ContractVersion? {
        guard let text = try document.string("version") else { return nil }
        guard let version = ContractVersion(text) else {
            throw ContractError(
                document.path.member("version"), "\(Words.quoted(text)) is no version: write major.minor, as in 2.1")
        }
        return version
    }

    private func hasInstances(_ document: ReadMembers) throws(ContractError) -> Bool {
        switch try document.string("instances") {
        case nil, "single"?: return false
        case "multiple"?: return true
        case let other?:
            throw ContractError(
                document.path.member("instances"), "expected single or multiple, found \(Words.quoted(other))")
        }
    }

    private mutating func settings(_ json: JSON, _ path: ValuePath) throws(ContractError) -> Schema.Members {
        let schema = try schemas.schema(json, path)
        guard case .object(let members) = schema.form else {
            throw ContractError(path, "settings are the schema of an object; found \(SchemaWords.words(schema))")
        }
        guard schema == Schema(.object(members)) else {
            throw ContractError(path, "settings have properties only: describe the module, or each setting")
        }
        return members
    }

    private mutating func action(
        _ name: String, _ json: JSON, _ path: ValuePath
    ) throws(ContractError) -> Contract.Action {
        let members = try ReadMembers(json, path, "an action")
        try members.refuse(
            except: ["description", "deprecated", "auth", "params", "reply", "element", "descriptors", "errors"],
            of: "an action")
        var action = Contract.Action(name)
        action.doc = try members.string("description")
        action.isDeprecated = try members.bool("deprecated") ?? false
        action.needsAuthorization = try members.bool("auth")
        action.params = try schema("params", of: members)
        let (reply, element) = (try schema("reply", of: members), try schema("element", of: members))
        if let element {
            guard reply == nil else {
                throw ContractError(path, "an action has a reply or the element of a stream, not both")
            }
            action.result = .elements(element == Schema(.any) ? nil : element)
        } else {
            action.result = .reply(reply)
        }
        action.descriptors = try descriptors(of: members)
        action.errors = try errors(of: members)
        return action
    }

    private func descriptors(of members: ReadMembers) throws(ContractError) -> DescriptorCounts {
        guard let value = members["descriptors"] else { return .none }
        let counts = try ReadMembers(value, members.path.member("descriptors"), "descriptors")
        try counts.refuse(except: ["params", "reply"], of: "descriptors")
        func most(_ name: String) throws(ContractError) -> Int {
            guard let value = try counts.integer(name) else { return 0 }
            guard (0...Int64(DescriptorCounts.most)).contains(value) else {
                throw counts.wrong(name, "0 to \(DescriptorCounts.most)", .integer(value))
            }
            return Int(value)
        }
        return DescriptorCounts(params: try most("params"), reply: try most("reply"))
    }

    private func errors(of members: ReadMembers) throws(ContractError) -> [Contract.Problem] {
        var errors: [Contract.Problem] = []
        for (code, value, place) in try named("errors", of: members, Self.isErrorCode, "an error code with a dot") {
            let problem = try ReadMembers(value, place, "an error")
            try problem.refuse(except: ["description"], of: "an error")
            errors.append(Contract.Problem(code, doc: try problem.string("description")))
        }
        return errors
    }

    private mutating func property(
        _ name: String, _ json: JSON, _ path: ValuePath
    ) throws(ContractError) -> Contract.Property {
        let members = try ReadMembers(json, path, "a property")
        try members.refuse(
            except: ["description", "deprecated", "settable", "auth", "value", "errors"], of: "a property")
        var property = Contract.Property(name, value: try schema("value", of: members))
        property.doc = try members.string("description")
        property.isDeprecated = try members.bool("deprecated") ?? false
        property.isSettable = try members.bool("settable") ?? false
        property.needsAuthorization = try members.bool("auth")
        property.errors = try errors(of: members)
        if !property.isSettable, let name = ["auth", "errors"].first(where: { members[$0] != nil }) {
            throw ContractError(path.member(name), "\(name) is of a property that is settable only")
        }
        return property
    }

    /// Refuses a property whose actions or broadcast are listed as such, too.
    private func check(
        _ properties: [Contract.Property], of contract: Contract, _ path: ValuePath
    ) throws(ContractError) {
        let actions = Set(contract.actions.map(\.name))
        let broadcasts = Set(contract.broadcasts.map(\.name))
        for property in properties {
            let names = contract.names(of: property)
            let own = property.isSettable ? [names.property, names.setter] : [names.property]
            if let action = own.first(where: { actions.contains($0) }) {
                throw ContractError(
                    path.member("actions").member(action), "this is an action of the property \(property.name)")
            }
            guard broadcasts.contains(names.notice) else { continue }
            throw ContractError(
                path.member("broadcasts").member(names.notice), "this is the broadcast of the property \(property.name)"
            )
        }
    }

    private mutating func notices(
        _ kind: String, of document: ReadMembers
    ) throws(ContractError) -> [Contract.Notice] {
        var notices: [Contract.Notice] = []
        for (name, value, place) in try named(kind, of: document, Self.isNotice, "a notification's name") {
            let members = try ReadMembers(value, place, "a notification")
            try members.refuse(except: ["description", "deprecated", "content"], of: "a notification")
            var notice = Contract.Notice(name, content: try schema("content", of: members))
            notice.doc = try members.string("description")
            notice.isDeprecated = try members.bool("deprecated") ?? false
            notices.append(notice)
        }
        return notices
    }

    // MARK: Pieces

    private mutating func schema(_ name: String, of members: ReadMembers) throws(ContractError) -> Schema? {
        guard let value = members[name] else { return nil }
        return try schemas.schema(value, members.path.member(name))
    }

    /// Returns the members of an object whose names are free, sorted by name.
    /// - Parameters:
    ///   - isName: whether a name is one that is allowed there.
    ///   - what: what such a name is, for the error.
    private func named(
        _ name: String, of outer: ReadMembers, _ isName: (String) -> Bool, _ what: String
    ) throws(ContractError) -> [(name: String, value: JSON, path: ValuePath)] {
        guard let value = outer[name] else { return [] }
        let members = try ReadMembers(value, outer.path.member(name), name)
        if let wrong = members.members.first(where: { !isName($0.name) }) {
            throw ContractError(members.path, "\(Words.quoted(wrong.name)) isn't \(what)")
        }
        return members.members.sorted(by: \.name).map { ($0.name, $0.value, members.path.member($0.name)) }
    }

    private static func isNotice(_ name: String) -> Bool {
        (1...ContractLimits.noticeName).contains(name.utf8.count)
    }

    private static func isErrorCode(_ code: String) -> Bool {
        code.utf8.count <= ContractLimits.errorCode && code.utf8.contains(UInt8(ascii: "."))
    }

    /// Whether this is `[A-Za-z_][A-Za-z0-9_.-]{0,127}`.
    private static func isDefinition(_ name: String) -> Bool {
        guard name.utf8.count <= ContractLimits.definitionName else { return false }
        return name.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): index > 0
            default: false
            }
        } && !name.isEmpty
    }
}
