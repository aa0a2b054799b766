package import StrataCore

/// Words for values and names in messages.
package enum Words {
    /// Texts of more code points are cut.
    private static let longest = 40

    /// Returns a text that is cut if it is long.
    package static func cut(_ text: String, longest: Int = longest) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: longest, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    /// Returns a text in quotes, with JSON's escapes, cut if it is long.
    package static func quoted(_ text: String, longest: Int = longest) -> String {
        JSON.string(cut(text, longest: longest)).description
    }

    /// Returns a name as it is if it is a short plain word, else in quotes.
    package static func plain(_ name: String) -> String {
        name.utf8.count <= longest && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? name : quoted(name)
    }

    /// Returns a list: `a, b or c`.
    package static func list(_ words: [String], last: String = "or") -> String {
        guard let end = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(last) \(end)"
    }

    /// Returns a number of things: `an array of 2 elements`.
    package static func count(_ count: Int, _ what: String, _ one: String, _ many: String) -> String {
        "\(what) of \(count) \(count == 1 ? one : many)"
    }

    /// Returns a property, or that it is missing: `not deprecated`.
    package static func isIt(_ isIt: Bool, _ property: String) -> String { isIt ? property : "not \(property)" }

    /// Returns a string or a number as JSON writes it, cut if it is long.
    package static func short(_ value: JSON) -> String { value.string.map { quoted($0) } ?? "\(value)" }

    /// Returns what a value is: `the string "abc"`, `an object`.
    package static func value(_ value: JSON) -> String {
        switch value {
        case .null, .bool: "\(value)"
        case .integer, .number: "the number \(value)"
        case .string: "the string \(short(value))"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
