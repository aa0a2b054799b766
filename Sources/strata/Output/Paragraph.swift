/// Text that is broken into lines of a given width.
enum Paragraph {
    /// Returns one line of text; `…` stands for what was cut off.
    static func cut(_ text: String, width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }

    /// Returns the first lines of text; `…` ends the last one if there are more.
    static func lines(_ text: String, width: Int, most: Int) -> [String] {
        let lines = lines(text, width: width)
        guard lines.count > most, let last = lines.prefix(most).last else { return lines }
        return lines.prefix(most - 1) + [cut(last + " …", width: width)]
    }

    /// Breaks text at spaces, and inside a word that is too long for a line.
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
