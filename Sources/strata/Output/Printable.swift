import StrataCore

/// Text that somebody else wrote, made fit for a terminal: characters that
/// would steer it, or turn its text around, are shown as escapes.
enum Printable {
    /// Line ends stay.
    static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && $0.steersTerminal }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if scalar != "\n", scalar.steersTerminal {
                shown += escape(scalar)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// In one line.
    static func line(_ text: String) -> String {
        self.text(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    }

    /// What a program wrote for a terminal, in one line: without its colours, and with
    /// spaces for tabs.
    static func output(_ text: String) -> String {
        line(text.withoutColours.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "))
    }

    /// As JSON would escape it: `\u001b`.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
