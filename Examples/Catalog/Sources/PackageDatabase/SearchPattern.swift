/// What people type, as a pattern of FTS5's language: each word in quotes, so
/// that none of its characters means anything, and the last one open-ended.
enum SearchPattern {
    /// Words of one search; further ones are left out.
    private static let mostWords = 32

    /// Nil where there is no word in it.
    static func make(_ text: String) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace).filter { $0.contains { $0.isLetter || $0.isNumber } }
        guard !words.isEmpty else { return nil }
        return words.prefix(mostWords).map(quoted).joined(separator: " ") + "*"
    }

    private static func quoted(_ word: Substring) -> String {
        var quoted = "\""
        // A NUL would end the pattern.
        for character in word where character != "\0" {
            quoted.append(character)
            if character == "\"" { quoted.append(character) }
        }
        return quoted + "\""
    }
}
