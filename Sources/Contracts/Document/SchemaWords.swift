internal import StrataCore

/// Schemas in words, for messages: `an integer from 0 to 255`, `a string or null`.
package enum SchemaWords {
    /// More values of an enum, and more alternatives, are cut.
    private static let most = 6

    package static func words(_ schema: Schema) -> String {
        switch schema.form {
        case .any: "any value"
        case .null: "null"
        case .boolean: "true or false"
        case .integer(let minimum, let maximum):
            "an integer" + range(minimum.map { "\($0)" }, maximum.map { "\($0)" })
        case .number(let minimum, let maximum, let format):
            (format == "decimal" ? "a decimal number" : "a number")
                + range(minimum.map { JSON.number($0).description }, maximum.map { JSON.number($0).description })
        case .string(let text): words(text)
        case .enumeration(let values): Words.list(cut(values.map { Words.short($0) }))
        case .array(_, let minimum, let maximum):
            "an array" + count(minimum, maximum, "element", "elements")
        case .tuple(let elements): "an array" + count(elements.count, elements.count, "element", "elements")
        case .object(let members): words(members)
        case .map: "an object with members of one type"
        case .union(let alternatives): Words.list(cut(alternatives.map(words)))
        case .reference(let name): name
        }
    }

    /// Returns the words for an object; a member that tells it from others is named.
    private static func words(_ members: Schema.Members) -> String {
        if members.isClosed, members.properties.count == 1, let only = members.properties.first {
            return "an object with \(Words.quoted(only.name)) alone"
        }
        for property in members.properties where property.isRequired {
            if case .enumeration(let values) = property.schema.form, values.count == 1, let value = values.first {
                return "an object whose \(Words.quoted(property.name)) is \(Words.short(value))"
            }
        }
        return members.properties.isEmpty && members.isClosed ? "an object without members" : "an object"
    }

    private static func words(_ text: Schema.Text) -> String {
        var words = text.contentEncoding == nil ? "a string" : "a string in base64"
        if let format = text.format { words += " (\(Words.cut(format)))" }
        words += count(text.minimum, text.maximum, "character", "characters")
        if let pattern = text.pattern { words += " that matches \(Words.cut(pattern))" }
        return words
    }

    private static func range(_ minimum: String?, _ maximum: String?) -> String {
        switch (minimum, maximum) {
        case (nil, nil): ""
        case (let minimum?, nil): " of \(minimum) or more"
        case (nil, let maximum?): " of at most \(maximum)"
        case (let minimum?, let maximum?): " from \(minimum) to \(maximum)"
        }
    }

    private static func count(_ minimum: Int?, _ maximum: Int?, _ one: String, _ many: String) -> String {
        switch (minimum ?? 0, maximum) {
        case (0, nil): ""
        case (let minimum, nil): " of at least \(minimum) \(minimum == 1 ? one : many)"
        case (let minimum, let maximum?) where minimum == maximum: " of \(maximum) \(maximum == 1 ? one : many)"
        case (0, let maximum?): " of at most \(maximum) \(maximum == 1 ? one : many)"
        case (let minimum, let maximum?): " of \(minimum) to \(maximum) \(many)"
        }
    }

    /// Returns a list without its last words, if it is long.
    package static func cut(_ words: [String]) -> [String] {
        words.count <= most ? words : Array(words.prefix(most - 1)) + ["another of \(words.count)"]
    }
}
