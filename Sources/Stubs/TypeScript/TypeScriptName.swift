import StrataCore

/// Names, literals and comments of TypeScript.
enum TypeScriptName {
    /// Returns the name of a method: the action's own if it can be one.
    static func method(_ name: String) -> String {
        let word = Identifier.isIdentifier(name) ? name : Identifier.lowercased(name)
        return reserved.contains(word) ? "\(word)_" : word
    }

    /// Returns the name of an object's member, in quotes unless it is an identifier.
    static func member(_ name: String) -> String {
        // As a literal it would be the object's prototype.
        Identifier.isIdentifier(name) && name != "__proto__" ? name : literal(name)
    }

    /// Returns the name of a constant: `NOT_AFTER`.
    static func constant(_ name: String) -> String { PythonName.constant(name) }

    /// Returns a text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.endsOrHides: literal += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// Returns a text as a literal that goes over lines.
    static func template(_ text: String) -> String {
        let safe = text.replacing("\\", with: "\\\\").replacing("`", with: "\\`").replacing("${", with: "\\${")
        return "`\(safe)`"
    }

    /// What a client's class and its object have by themselves, and what would make a client a promise.
    private static let reserved: Set = [
        "__proto__", "callAction", "constructor", "hasOwnProperty", "interfaceName", "isPrototypeOf",
        "propertyIsEnumerable", "streamAction", "then", "through", "toLocaleString", "toString", "valueOf",
    ]
}

extension Unicode.Scalar {
    /// Whether it ends a line, or isn't seen.
    fileprivate var endsOrHides: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
    }
}

extension SourceText {
    /// Appends a comment for the declaration that follows, which no text can end.
    mutating func docComment(_ text: String?, isDeprecated: Bool = false) {
        let notes = [text, isDeprecated ? "@deprecated" : nil].compactMap { $0 }
        guard !notes.isEmpty else { return }
        var safe = ""
        for scalar in notes.joined(separator: "\n\n").unicodeScalars {
            if scalar == "\n" || !scalar.endsOrHides { safe.unicodeScalars.append(scalar) } else { safe += " " }
        }
        safe = safe.replacing("*/", with: "*\\/")
        let lines = safe.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1 else { return line("/** \(safe) */") }
        line("/**")
        for text in lines { line(text.isEmpty ? " *" : " * \(text)") }
        line(" */")
    }
}
