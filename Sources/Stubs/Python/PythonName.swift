import StrataCore

/// Names and literals of Python.
enum PythonName {
    /// Returns `not_after` for `not-after`, `notAfter` and `NotAfter`.
    static func snake(_ name: String) -> String {
        var words = ""
        var wasLower = false
        for character in name {
            guard character.isASCII, character.isLetter || character.isNumber else {
                if !words.isEmpty, words.last != "_" { words += "_" }
                wasLower = false
                continue
            }
            if character.isUppercase, wasLower { words += "_" }
            words += character.lowercased()
            wasLower = !character.isUppercase
        }
        if words.last == "_" { words.removeLast() }
        return words.first.map { $0.isNumber } ?? true ? "value_\(words)" : words
    }

    /// Returns the name of a field or a method: the name itself if it can be one.
    static func attribute(_ name: String) -> String {
        let word = Identifier.isIdentifier(name) && !name.hasPrefix("__") ? name : snake(name)
        return keywords.contains(word) ? "\(word)_" : word
    }

    /// Returns the name of a constant: `NOT_AFTER`.
    static func constant(_ name: String) -> String { snake(name).uppercased() }

    /// Returns a text as a literal of Python.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.isUnprintable: literal += "\\U" + hex(scalar)
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// Returns a value as a literal; nil for arrays and objects, which no field may share.
    static func literal(_ value: JSON) -> String? {
        switch value {
        case .null: "None"
        case .bool(let bool): bool ? "True" : "False"
        case .integer, .number: "\(value)"
        case .string(let text): literal(text)
        case .array, .object: nil
        }
    }

    fileprivate static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static let keywords: Set = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
        // What the client's class and its methods need.
        "self", "params", "deadline", "credit", "reply", "interface", "contract",
    ]
}

extension Unicode.Scalar {
    /// Whether it ends a line, or isn't seen.
    fileprivate var isUnprintable: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x2028 || value == 0x2029
    }
}

extension SourceText {
    /// Appends a docstring of Python, with an empty line for each of the text's.
    mutating func docstring(_ text: String?) {
        guard let text else { return }
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": safe += "\\\\"
            case "\n": safe += "\n"
            case _ where scalar.isUnprintable: safe += "\\U" + PythonName.hex(scalar)
            default: safe.unicodeScalars.append(scalar)
            }
        }
        safe = safe.replacing("\"\"\"", with: "\\\"\\\"\\\"")
        if safe.hasSuffix("\"") { safe = safe.dropLast() + "\\\"" }
        let lines = safe.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count > 1 else { return line("\"\"\"\(safe)\"\"\"") }
        line("\"\"\"\(lines[0])")
        for text in lines.dropFirst() { line(text) }
        line("\"\"\"")
    }
}
