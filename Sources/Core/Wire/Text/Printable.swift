/// Makes text from other programs safe for a terminal. Characters that control the terminal or
/// reverse the text become escapes.
///
/// All output of the commands and of the launcher passes through here. That includes output to
/// files, since people read files in terminals.
public enum Printable {
    /// Returns safe text; line ends stay.
    public static func text(_ text: String) -> String {
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

    /// Returns safe text as one line.
    public static func line(_ text: String) -> String {
        self.text(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    }

    /// Returns a program's terminal output as one line, without colours and with spaces in place of
    /// tabs.
    public static func output(_ text: String) -> String {
        line(text.withoutColours.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "))
    }

    /// Returns several lines, with all but the first indented. So no line looks like one from
    /// another source.
    public static func indented(_ text: String) -> String {
        self.text(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n    ")
    }

    /// The last check of everything that goes to a terminal. Line ends and the colours that
    /// commands use stay.
    public static func terminal(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 && $0 != 0x0A || $0 >= 0x7F }) else { return text }
        var shown = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar.value == 0x1B, let end = colourEnd(rest) {
                shown.unicodeScalars.append(scalar)
                shown.unicodeScalars.append(contentsOf: rest[..<end])
                rest = rest[end...]
            } else if scalar != "\n", scalar.steersTerminal {
                shown += escape(scalar)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// Returns the end of an ECMA-48 sequence for one of the colours in use: `[0m`, `[1m`, `[2m`,
    /// `[31m` to `[36m`, `[92m` to `[96m`.
    private static func colourEnd(_ rest: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView.Index? {
        guard rest.first == "[", let end = rest.prefix(4).firstIndex(of: "m") else { return nil }
        guard let code = UInt8(String(rest[rest.index(after: rest.startIndex)..<end])) else { return nil }
        switch code {
        case 0...2, 31...36, 92...96: return rest.index(after: end)
        default: return nil
        }
    }

    /// Returns the scalar as JSON would escape it: `\u001b`.
    public static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension StringProtocol {
    /// The text without its colour sequences (ECMA-48's SGR).
    public var withoutColours: String {
        guard utf8.contains(0x1B) else { return String(self) }
        var shown = String.UnicodeScalarView()
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar.value == 0x1B, rest.first == "[" {
                let end = rest.dropFirst().firstIndex { !(0x20...0x3F).contains($0.value) }
                if let end, rest[end] == "m" {
                    rest = rest[rest.index(after: end)...]
                    continue
                }
            }
            shown.append(scalar)
        }
        return String(shown)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would act on it instead of showing it: C0, delete, C1, and the characters
    /// that change the direction of text.
    public var steersTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
