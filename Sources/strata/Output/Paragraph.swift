/// Text that is broken into lines of a width.
enum Paragraph {
    /// One line of it; `…` stands for what was cut.
    static func cut(_ text: String, width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }

    /// Its first lines; `…` ends the last one where there are more.
    static func lines(_ text: String, width: Int, most: Int) -> [String] {
        let lines = lines(text, width: width)
        guard lines.count > most, let last = lines.prefix(most).last else { return lines }
        return lines.prefix(most - 1) + [cut(last + " …", width: width)]
    }

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
