internal import StrataCore

/// What a schema allows: each form with its keywords, and what may not stand beside them.
extension SchemaReader {
    mutating func form(_ keywords: ReadMembers, depth: Int) throws(ContractError) -> Schema.Form {
        if keywords["$ref"] != nil { return try reference(keywords) }
        if keywords["anyOf"] != nil {
            try refuse(keywords, except: ["anyOf"], "anyOf")
            return .union(try schemas("anyOf", of: keywords, most: ContractLimits.alternatives, depth: depth))
        }
        if keywords["enum"] != nil { return try enumeration(keywords) }
        guard let type = keywords["type"] else {
            try refuse(keywords, except: [], "a schema without type, enum, anyOf or $ref")
            return .any
        }
        switch type.string {
        case "null"?:
            try refuse(keywords, except: ["type"], "the type null")
            return .null
        case "boolean"?:
            try refuse(keywords, except: ["type"], "the type boolean")
            return .boolean
        case "integer"?: return try integer(keywords)
        case "number"?: return try number(keywords)
        case "string"?: return try string(keywords)
        case "array"?: return try array(keywords, depth: depth)
        case "object"?: return try object(keywords, depth: depth)
        case nil where type.array != nil:
            throw ContractError(keywords.path.member("type"), "a type is one word: write anyOf for several types")
        default:
            throw ContractError(
                keywords.path.member("type"),
                "expected null, boolean, integer, number, string, array or object, found \(Words.value(type))")
        }
    }

    private mutating func reference(_ keywords: ReadMembers) throws(ContractError) -> Schema.Form {
        try refuse(keywords, except: ["$ref"], "$ref")
        let text = try keywords.string("$ref") ?? ""
        guard text.hasPrefix(Schema.referencePrefix) else {
            throw ContractError(
                keywords.path.member("$ref"), "expected #/$defs/NAME, found \(Words.quoted(text))")
        }
        let name = String(text.dropFirst(Schema.referencePrefix.count))
        references.append((name, keywords.path))
        return .reference(name)
    }

    private func enumeration(_ keywords: ReadMembers) throws(ContractError) -> Schema.Form {
        try refuse(keywords, except: ["type", "enum"], "enum")
        let path = keywords.path.member("enum")
        let type = try keywords.string("type")
        guard let type, type == "string" || type == "integer" else {
            throw ContractError(keywords.path, "an enum needs \"type\": \"string\" or \"type\": \"integer\" beside it")
        }
        let given = try keywords.array("enum") ?? []
        guard (1...ContractLimits.enumeration).contains(given.count) else {
            throw ContractError(path, "an enum has 1 to \(ContractLimits.enumeration) values; found \(given.count)")
        }
        var values: [JSON] = []
        var seen: Set<ExactName> = []
        for (index, value) in given.enumerated() {
            let taken: JSON? = type == "string" ? value.string.map { .string($0) } : value.integer.map { .integer($0) }
            guard let taken else {
                throw ContractError(path.element(index), "expected \(type), found \(Words.value(value))")
            }
            guard seen.insert(ExactName(taken.description)).inserted else {
                throw ContractError(path.element(index), "\(Words.value(taken)) is there twice")
            }
            values.append(taken)
        }
        return .enumeration(values)
    }

    private func integer(_ keywords: ReadMembers) throws(ContractError) -> Schema.Form {
        try refuse(keywords, except: ["type", "minimum", "maximum"], "the type integer")
        let (minimum, maximum) = (try keywords.integer("minimum"), try keywords.integer("maximum"))
        try order(minimum, maximum, keywords.path, "minimum", "maximum")
        return .integer(minimum: minimum, maximum: maximum)
    }

    private func number(_ keywords: ReadMembers) throws(ContractError) -> Schema.Form {
        try refuse(keywords, except: ["type", "format", "minimum", "maximum"], "the type number")
        let (minimum, maximum) = (try keywords.number("minimum"), try keywords.number("maximum"))
        try order(minimum, maximum, keywords.path, "minimum", "maximum")
        return .number(minimum: minimum, maximum: maximum, format: try keywords.string("format"))
    }

    private func string(_ keywords: ReadMembers) throws(ContractError) -> Schema.Form {
        try refuse(
            keywords, except: ["type", "format", "contentEncoding", "minLength", "maxLength", "pattern"],
            "the type string")
        let encoding = try keywords.string("contentEncoding")
        guard encoding == nil || encoding == "base64" else {
            throw keywords.wrong("contentEncoding", "base64", .string(encoding ?? ""))
        }
        let (minimum, maximum) = (try keywords.count("minLength"), try keywords.count("maxLength"))
        try order(minimum, maximum, keywords.path, "minLength", "maxLength")
        return .string(
            Schema.Text(
                format: try keywords.string("format"), contentEncoding: encoding, minimum: minimum, maximum: maximum,
                pattern: try keywords.string("pattern")))
    }

    private mutating func array(_ keywords: ReadMembers, depth: Int) throws(ContractError) -> Schema.Form {
        guard keywords["prefixItems"] == nil else { return try tuple(keywords, depth: depth) }
        try refuse(keywords, except: ["type", "items", "minItems", "maxItems"], "the type array")
        guard let items = keywords["items"] else {
            throw ContractError(keywords.path, "items is missing: write {} for any value")
        }
        let (minimum, maximum) = (try keywords.count("minItems"), try keywords.count("maxItems"))
        try order(minimum, maximum, keywords.path, "minItems", "maxItems")
        return .array(
            try schema(items, keywords.path.member("items"), depth: depth + 1), minimum: minimum, maximum: maximum)
    }

    private mutating func tuple(_ keywords: ReadMembers, depth: Int) throws(ContractError) -> Schema.Form {
        try refuse(keywords, except: ["type", "prefixItems", "items", "minItems"], "prefixItems")
        let elements = try schemas("prefixItems", of: keywords, most: .max, depth: depth)
        guard keywords["items"] == false, try keywords.count("minItems") == elements.count else {
            throw ContractError(
                keywords.path, "prefixItems needs \"items\": false and \"minItems\": \(elements.count) beside it")
        }
        return .tuple(elements)
    }

    private mutating func object(_ keywords: ReadMembers, depth: Int) throws(ContractError) -> Schema.Form {
        let additional = keywords["additionalProperties"]
        if let additional, additional.bool == nil { return try map(additional, keywords, depth: depth) }
        guard additional != true else {
            throw ContractError(
                keywords.path.member("additionalProperties"), "other members are allowed without it: leave it out")
        }
        guard keywords["propertyNames"] == nil else {
            throw ContractError(keywords.path, "propertyNames needs the schema additionalProperties beside it")
        }
        try refuse(
            keywords, except: ["type", "properties", "required", "additionalProperties"], "the type object")
        var required: Set<ExactName> = []
        for (index, name) in (try keywords.array("required") ?? []).enumerated() {
            let path = keywords.path.member("required").element(index)
            guard let name = name.string else {
                throw ContractError(path, "expected a name, found \(Words.value(name))")
            }
            guard required.insert(ExactName(name)).inserted else {
                throw ContractError(path, "\(Words.quoted(name)) is there twice")
            }
        }
        var properties: [Schema.Property] = []
        if let value = keywords["properties"] {
            let members = try ReadMembers(value, keywords.path.member("properties"), "properties")
            for member in members.members {
                let schema = try schema(member.value, members.path.member(member.name), depth: depth + 1)
                let isRequired = required.remove(ExactName(member.name)) != nil
                properties.append(Schema.Property(member.name, schema, isRequired: isRequired))
            }
        }
        if let name = required.map(\.text).sorted().first {
            throw ContractError(
                keywords.path.member("required"), "\(Words.quoted(name)) isn't one of the properties")
        }
        return .object(Schema.Members(properties, isClosed: additional == false))
    }

    private mutating func map(
        _ values: JSON, _ keywords: ReadMembers, depth: Int
    ) throws(ContractError) -> Schema.Form {
        try refuse(
            keywords, except: ["type", "propertyNames", "additionalProperties"],
            "an object whose additionalProperties is a schema")
        var names: Schema?
        if let value = keywords["propertyNames"] {
            let path = keywords.path.member("propertyNames")
            let schema = try schema(value, path, depth: depth + 1)
            keys.append((schema, path))
            names = schema
        }
        let schema = try schema(values, keywords.path.member("additionalProperties"), depth: depth + 1)
        return .map(keys: names, values: schema)
    }
}
