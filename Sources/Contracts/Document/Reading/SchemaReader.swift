internal import StrataCore

/// Reads the schemas of a document. What can only be judged when all of them are known is noted,
/// and `check` judges it at the end.
struct SchemaReader {
    var references: [(name: String, path: ValuePath)] = []
    private var unions: [(schema: Schema, path: ValuePath)] = []
    var keys: [(schema: Schema, path: ValuePath)] = []

    private static let annotations = ["description", "default", "examples", "deprecated", "writeOnly"]

    /// Reads a schema.
    /// - Parameter depth: the number of schemas around it.
    mutating func schema(_ json: JSON, _ path: ValuePath, depth: Int = 0) throws(ContractError) -> Schema {
        guard depth < ContractLimits.schemaDepth else {
            throw ContractError(
                path, "schemas are nested over \(ContractLimits.schemaDepth) deep: name an inner one in $defs")
        }
        let keywords = try ReadMembers(json, path, "a schema")
        var schema = Schema(try form(keywords, depth: depth))
        schema.doc = try keywords.string("description")
        schema.defaultValue = keywords["default"]
        schema.examples = try keywords.array("examples") ?? []
        schema.isDeprecated = try keywords.bool("deprecated") ?? false
        schema.isSecret = try keywords.bool("writeOnly") ?? false
        if case .union = schema.form { unions.append((schema, path)) }
        return schema
    }

    /// Judges what the document's schemas refer to.
    func check(_ definitions: [String: Schema], _ path: ValuePath) throws(ContractError) {
        for (name, place) in references where definitions[name] == nil {
            let nearest = nearestNames(to: name, in: definitions.keys.sorted())
            let hint = nearest.isEmpty ? "" : ": did you mean \(Words.list(nearest))?"
            throw ContractError(place, "there is no \(name) in $defs\(hint)")
        }
        var alternatives = AlternativeCount(definitions)
        for (name, definition) in definitions.sorted(by: \.key) {
            _ = try alternatives.count(definition, path.member(name))
        }
        for (schema, place) in unions { _ = try alternatives.count(schema, place) }
        for (schema, place) in keys where !areKeys(schema, definitions) {
            throw ContractError(place, "names of members are strings: a string's schema, or an enum of strings")
        }
    }

    private func areKeys(_ schema: Schema, _ definitions: [String: Schema]) -> Bool {
        var form = schema.form
        // This ends, because no reference leads to itself.
        while case .reference(let name) = form, let target = definitions[name] { form = target.form }
        switch form {
        case .string: return true
        case .enumeration(let values): return values.first?.string != nil
        default: return false
        }
    }

    // MARK: Pieces

    /// Reads a keyword that is an array of at least one schema.
    mutating func schemas(
        _ name: String, of keywords: ReadMembers, most: Int, depth: Int
    ) throws(ContractError) -> [Schema] {
        let path = keywords.path.member(name)
        let values = try keywords.array(name) ?? []
        guard !values.isEmpty else { throw ContractError(path, "\(name) has at least one schema") }
        guard values.count <= most else {
            throw ContractError(path, "\(name) has at most \(most) schemas; found \(values.count)")
        }
        var schemas: [Schema] = []
        for (index, value) in values.enumerated() {
            schemas.append(try schema(value, path.element(index), depth: depth + 1))
        }
        return schemas
    }

    /// Refuses keywords that don't go with a form.
    func refuse(_ keywords: ReadMembers, except allowed: [String], _ form: String) throws(ContractError) {
        let known = allowed + Self.annotations
        guard let wrong = keywords.members.first(where: { !known.contains($0.name) })?.name else { return }
        guard !Self.keywords.contains(wrong) else {
            throw ContractError(keywords.path, "the keyword \(wrong) doesn't go with \(form)")
        }
        let nearest = nearestNames(to: wrong, in: Self.keywords)
        let hint = nearest.isEmpty ? "" : ": did you mean \(Words.list(nearest))?"
        throw ContractError(
            keywords.path, "the keyword \(Words.plain(wrong)) isn't one that contracts have\(hint)")
    }

    /// All keywords that contracts have.
    private static let keywords =
        [
            "$ref", "anyOf", "type", "enum", "format", "contentEncoding", "minLength", "maxLength", "pattern",
            "minimum", "maximum", "items", "prefixItems", "minItems", "maxItems", "properties", "required",
            "propertyNames", "additionalProperties",
        ] + annotations

    func order<Number: Comparable>(
        _ low: Number?, _ high: Number?, _ path: ValuePath, _ lowName: String, _ highName: String
    ) throws(ContractError) {
        guard let low, let high, low > high else { return }
        throw ContractError(path, "\(lowName) \(low) is over \(highName) \(high), so nothing is allowed")
    }
}
