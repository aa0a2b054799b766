/// Source text that grows line by line, with four spaces for each level of nesting.
struct SourceText {
    private(set) var lines: [String] = []
    private var depth = 0

    /// The lines, each with its newline.
    var text: String { lines.map { $0 + "\n" }.joined() }

    /// Appends a line; an empty one without indentation.
    mutating func line(_ text: String = "") {
        lines.append(text.isEmpty ? "" : String(repeating: "    ", count: depth) + text)
    }

    /// Appends a list on one line, or with a line for each element if it has over 100 columns.
    mutating func list(_ before: String, _ elements: [String], _ after: String, comma: String = ",") {
        let line = before + elements.joined(separator: ", ") + after
        guard depth * 4 + line.count > 100 else { return self.line(line) }
        self.line(before)
        nested { source in
            for (index, element) in elements.enumerated() {
                source.line(element + (index < elements.count - 1 ? "," : comma))
            }
        }
        self.line(after)
    }

    /// Appends text as it is, without indentation.
    mutating func verbatim(_ text: String) {
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Appends lines one level deeper.
    mutating func nested(_ body: (inout SourceText) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }
}

/// Words for names in source text, made from names on the wire.
enum Identifier {
    /// Returns the parts of a name between characters that no identifier has, each with its first
    /// letter in upper case: `track-removed` is `TrackRemoved`. Never empty, and never begins with a
    /// digit.
    static func capitalized(_ name: String) -> String {
        let parts = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let word = parts.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return word.first.map { $0.isNumber } ?? true ? "Value\(word)" : word
    }

    /// Returns the same with the first letter in lower case: `trackRemoved`.
    static func lowercased(_ name: String) -> String {
        let word = capitalized(name)
        return word.prefix(1).lowercased() + word.dropFirst()
    }

    /// Whether a name is an identifier as it is: `[A-Za-z_][A-Za-z0-9_]*`.
    static func isIdentifier(_ name: String) -> Bool {
        let isValid = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        return isValid && !(name.first?.isNumber ?? true)
    }

    /// Returns a name that isn't taken, and takes it: the word, or the word with a suffix.
    static func unique(_ word: String, in taken: inout Set<String>) -> String {
        var name = word
        var number = 2
        while !taken.insert(name).inserted {
            name = "\(word)\(number)"
            number += 1
        }
        return name
    }
}
