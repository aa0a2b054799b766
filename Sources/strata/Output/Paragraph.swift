/// Text that is broken into lines of a width.
enum Paragraph {
    /// Breaks at spaces, and inside a word that is too long by itself.
    static func lines(_ text: String, width: Int) -> [String] {
        guard text.count > width else { return [text] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            var word = word
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            if !line.isEmpty { line += " " }
            while word.count > width {
                lines.append(String(word.prefix(width)))
                word = word.dropFirst(width)
            }
            line += word
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}
