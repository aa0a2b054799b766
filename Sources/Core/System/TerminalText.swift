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
