/// Text for roff, in which a backslash, a hyphen and a line's first character mean
/// something.
enum Roff {
    /// Inside a line.
    static func text(_ text: String) -> String {
        var shown = ""
        for character in text {
            switch character {
            case "\\": shown += "\\e"
            case "-": shown += "\\-"
            case "~": shown += "\\(ti"
            case "^": shown += "\\(ha"
            case "`": shown += "\\(ga"
            case "'": shown += "\\(aq"
            case "\n": shown += " "
            default: shown.append(character)
            }
        }
        return shown
    }

    /// A whole line: a dot at its beginning would be a request.
    static func line(_ text: String) -> String {
        let shown = self.text(text)
        return shown.hasPrefix(".") ? "\\&\(shown)" : shown
    }

    /// A command's discussion: paragraphs, and examples, whose lines are indented.
    static func discussion(_ discussion: String) -> [String] {
        var lines: [String] = []
        for paragraph in paragraphs(discussion) {
            if paragraph.allSatisfy({ $0.hasPrefix("  ") }) {
                lines += [".PP", ".RS 4", ".nf"] + paragraph.map { line(String($0.dropFirst(2))) } + [".fi", ".RE"]
            } else if paragraph == ["EXAMPLE"] {
                lines += [".PP", "Example:"]
            } else {
                lines += [".PP"] + paragraph.map { line(String($0)) }
            }
        }
        return lines
    }

    /// Lines that belong together: between empty ones, and where indentation changes.
    private static func paragraphs(_ text: String) -> [[Substring]] {
        var all: [[Substring]] = []
        var current: [Substring] = []
        func isIndented(_ line: Substring) -> Bool { line.hasPrefix("  ") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let ends = line.isEmpty || (current.last.map { isIndented($0) != isIndented(line) } ?? false)
            if ends, !current.isEmpty {
                all.append(current)
                current = []
            }
            if !line.isEmpty { current.append(line) }
        }
        if !current.isEmpty { all.append(current) }
        return all
    }
}
