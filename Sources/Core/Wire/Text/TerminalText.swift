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
