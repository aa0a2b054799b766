/// The text of a Package.swift, to which targets are added.
///
/// It finds the list `targets: [ … ]` among the arguments of `Package( … )`. Comments and strings are
/// skipped; raw strings aren't known.
struct PackageTargets {
    private let text: [UInt8]
    /// The place of the list's brackets.
    private let list: ClosedRange<Int>
    /// The place behind the last token in the list; behind the opening bracket if it is empty.
    private let contentEnd: Int

    /// Nil if there is no such list.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        var scanner = Scanner(text: bytes)
        guard let found = scanner.targets() else { return nil }
        (self.text, list, contentEnd) = (bytes, found.list, found.contentEnd)
    }

    /// How the package writes its dependency on the product Strata, and the name of strata's package;
    /// nil if it doesn't depend on it.
    static func strata(in text: String) -> (dependency: String, identity: String)? {
        let mark = ".product(name: \"Strata\", package: \""
        guard let rest = text.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first,
            let end = rest.firstIndex(of: "\"")
        else { return nil }
        let identity = String(rest[..<end])
        let isNamed = text.contains("let strata = Target.Dependency.product(name: \"Strata\"")
        return (isNamed ? "strata" : "\(mark)\(identity)\")", identity)
    }

    /// Returns the text with further targets at the list's end, behind a blank line.
    func adding(_ lines: [String]) -> String {
        let indent = String(repeating: " ", count: 8)
        let added = lines.map { indent + $0 }.joined(separator: "\n")
        let isEmpty = contentEnd == list.lowerBound + 1
        let hasComma = isEmpty || text[contentEnd - 1] == UInt8(ascii: ",")
        var lineEnd = contentEnd
        while lineEnd < list.upperBound, text[lineEnd] != UInt8(ascii: "\n") { lineEnd += 1 }
        let before = String(decoding: text[..<contentEnd], as: UTF8.self) + (hasComma ? "" : ",")
        let comment = String(decoding: text[contentEnd..<lineEnd], as: UTF8.self)
        let after = String(decoding: text[lineEnd...], as: UTF8.self)
        // The bracket moves to a line of its own.
        let end = lineEnd == list.upperBound ? "\n    " : ""
        return before + comment + (isEmpty ? "\n" : "\n\n") + added + end + after
    }

    /// Reads Swift's brackets, and skips comments and strings.
    private struct Scanner {
        let text: [UInt8]
        var index = 0

        mutating func targets() -> (list: ClosedRange<Int>, contentEnd: Int)? {
            guard enterPackage() else { return nil }
            while let token = next() {
                switch token {
                case UInt8(ascii: ")"): return nil
                case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): guard skip() != nil else { return nil }
                case UInt8(ascii: "t"):
                    let isLabel = word(endingAt: index) == "targets"
                    guard isLabel, next() == UInt8(ascii: ":") else { continue }
                    guard next() == UInt8(ascii: "[") else { return nil }
                    let start = index - 1
                    guard let contentEnd = skip() else { return nil }
                    return (start...(index - 1), contentEnd)
                default: break
                }
            }
            return nil
        }

        /// Goes behind `Package(`.
        private mutating func enterPackage() -> Bool {
            while let token = next() {
                guard token == UInt8(ascii: "P"), word(endingAt: index) == "Package" else { continue }
                if next() == UInt8(ascii: "(") { return true }
            }
            return false
        }

        /// Goes behind the bracket that closes the one that was read last.
        /// - Returns: The place behind the last token before it; nil at the text's end.
        private mutating func skip() -> Int? {
            var depth = 1
            var end = index
            while let token = next() {
                switch token {
                case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
                if depth == 0 { return end }
                end = index
            }
            return nil
        }

        /// Reads a word, a string, or another character, and returns its first byte.
        private mutating func next() -> UInt8? {
            while index < text.count {
                let byte = text[index]
                if text[index...].starts(with: Array("//".utf8)) {
                    while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
                } else if text[index...].starts(with: Array("/*".utf8)) {
                    while index < text.count, !text[index...].starts(with: Array("*/".utf8)) { index += 1 }
                    index = min(text.count, index + 2)
                } else if byte == UInt8(ascii: "\"") {
                    skipString()
                    return byte
                } else if Self.isInWord(byte) {
                    while index < text.count, Self.isInWord(text[index]) { index += 1 }
                    return byte
                } else {
                    index += 1
                    if byte > UInt8(ascii: " ") { return byte }
                }
            }
            return nil
        }

        private mutating func skipString() {
            let quote = UInt8(ascii: "\"")
            let end = text[index...].starts(with: [quote, quote, quote]) ? [quote, quote, quote] : [quote]
            index += end.count
            while index < text.count, !text[index...].starts(with: end) {
                index += text[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index = min(text.count, index + end.count)
        }

        private func word(endingAt end: Int) -> String {
            var start = end
            while start > 0, Self.isInWord(text[start - 1]) { start -= 1 }
            return String(decoding: text[start..<end], as: UTF8.self)
        }

        private static func isInWord(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
                || byte > 0x7F
        }
    }
}
