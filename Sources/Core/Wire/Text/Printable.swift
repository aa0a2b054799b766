/// Text that somebody else wrote, made fit for a terminal: characters that
/// would steer it, or turn its text around, are shown as escapes. What commands
/// and the launcher say passes here, also where it goes to a file: files are read
/// on terminals.
public enum Printable {
    /// Line ends stay.
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

    /// In one line.
    public static func line(_ text: String) -> String {
        self.text(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    }

    /// What a program wrote for a terminal, in one line: without its colours, and with
    /// spaces for tabs.
    public static func output(_ text: String) -> String {
        line(text.withoutColours.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "))
    }

    /// Several lines, of which each but the first is indented: none can be taken for
    /// a line that somebody else said.
    public static func indented(_ text: String) -> String {
        self.text(text).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n    ")
    }

    /// Whatever goes to a terminal, the last look: line ends and the colours that
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

    /// Where a sequence of ECMA-48 ends that is one of the colours in use: `[0m`, `[1m`,
    /// `[2m`, `[31m` to `[36m`, `[92m` to `[96m`.
    private static func colourEnd(_ rest: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView.Index? {
        guard rest.first == "[", let end = rest.prefix(4).firstIndex(of: "m") else { return nil }
        guard let code = UInt8(String(rest[rest.index(after: rest.startIndex)..<end])) else { return nil }
        switch code {
        case 0...2, 31...36, 92...96: return rest.index(after: end)
        default: return nil
        }
    }

    /// As JSON would escape it: `\u001b`.
    public static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension StringProtocol {
    /// The text without what only colours it (ECMA-48's SGR).
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
    /// Whether a terminal would do something else than show it: C0, delete and C1,
    /// and what turns the direction of text.
    public var steersTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
