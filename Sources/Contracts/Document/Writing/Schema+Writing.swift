public import StrataCore

extension Schema {
    /// Returns the schema as JSON Schema, with its keywords in the canonical order.
    public func json() -> JSON {
        var keywords = form.keywords
        if let doc { keywords.append("description", .string(doc)) }
        if let defaultValue { keywords.append("default", defaultValue) }
        if !examples.isEmpty { keywords.append("examples", .array(examples)) }
        if isDeprecated { keywords.append("deprecated", true) }
        if isSecret { keywords.append("writeOnly", true) }
        return .object(keywords)
    }
}

extension Schema.Form {
    fileprivate var keywords: [JSON.Member] {
        var keywords: [JSON.Member] = []
        switch self {
        case .any: break
        case .null: keywords.append("type", "null")
        case .boolean: keywords.append("type", "boolean")
        case .integer(let minimum, let maximum):
            keywords.append("type", "integer")
            if let minimum { keywords.append("minimum", .integer(minimum)) }
            if let maximum { keywords.append("maximum", .integer(maximum)) }
        case .number(let minimum, let maximum, let format):
            keywords.append("type", "number")
            if let format { keywords.append("format", .string(format)) }
            if let minimum { keywords.append("minimum", .number(minimum)) }
            if let maximum { keywords.append("maximum", .number(maximum)) }
        case .string(let text):
            keywords.append("type", "string")
            if let format = text.format { keywords.append("format", .string(format)) }
            if let encoding = text.contentEncoding { keywords.append("contentEncoding", .string(encoding)) }
            if let minimum = text.minimum { keywords.append("minLength", .integer(Int64(minimum))) }
            if let maximum = text.maximum { keywords.append("maxLength", .integer(Int64(maximum))) }
            if let pattern = text.pattern { keywords.append("pattern", .string(pattern)) }
        case .enumeration(let values):
            keywords.append("type", values.first?.string == nil ? "integer" : "string")
            keywords.append("enum", .array(values))
        case .array(let items, let minimum, let maximum):
            keywords.append("type", "array")
            keywords.append("items", items.json())
            if let minimum { keywords.append("minItems", .integer(Int64(minimum))) }
            if let maximum { keywords.append("maxItems", .integer(Int64(maximum))) }
        case .tuple(let elements):
            keywords.append("type", "array")
            keywords.append("prefixItems", .array(elements.map { $0.json() }))
            keywords.append("items", false)
            keywords.append("minItems", .integer(Int64(elements.count)))
        case .object(let members): keywords = members.keywords
        case .map(let keys, let values):
            keywords.append("type", "object")
            if let keys { keywords.append("propertyNames", keys.json()) }
            keywords.append("additionalProperties", values.json())
        case .union(let alternatives): keywords.append("anyOf", .array(alternatives.map { $0.json() }))
        case .reference(let name): keywords.append("$ref", .string(Schema.referencePrefix + name))
        }
        return keywords
    }
}

extension Schema {
    /// What a `$ref` begins with, before the name.
    static let referencePrefix = "#/$defs/"
}

extension Schema.Members {
    /// The members as the keywords of an object's schema.
    var keywords: [JSON.Member] {
        var keywords: [JSON.Member] = []
        keywords.append("type", "object")
        if !properties.isEmpty {
            keywords.append("properties", .object(properties.map { JSON.Member($0.name, $0.schema.json()) }))
        }
        let required = properties.filter(\.isRequired)
        if !required.isEmpty { keywords.append("required", .array(required.map { .string($0.name) })) }
        if isClosed { keywords.append("additionalProperties", false) }
        return keywords
    }
}

extension [JSON.Member] {
    mutating func append(_ name: String, _ value: JSON) { append(JSON.Member(name, value)) }

    /// Appends a member unless its value is an empty object.
    mutating func append(_ name: String, unlessEmpty members: [JSON.Member]) {
        if !members.isEmpty { append(name, .object(members)) }
    }
}
