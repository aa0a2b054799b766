import StrataCore

/// The last lines that a process wrote, for whoever asks why it ended.
struct LastLines {
    static let most = 20
    /// Of one line, in bytes.
    static let longest = 512
    /// What of them fits into a message: so many lines, of so many characters.
    private static let mostInBrief = 4
    private static let longestInBrief = 200

    private(set) var lines: [String] = []

    /// The very last ones, each cut to what a message may hold.
    var brief: [String] { lines.suffix(Self.mostInBrief).map { String($0.prefix(Self.longestInBrief)) } }

    mutating func add(_ line: [UInt8]) {
        guard line.contains(where: { $0 > 0x20 }) else { return }
        if lines.count == Self.most { lines.removeFirst() }
        lines.append(Self.clean(line.prefix(Self.longest)))
    }

    mutating func clear() { lines = [] }

    /// They are shown on other terminals: nothing in them may steer those. What
    /// only colours is left out, anything else that steers becomes a space.
    private static func clean(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line, as: UTF8.self).withoutColours
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.steersTerminal ? " " : $0 }))
    }
}
