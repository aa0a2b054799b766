/// A line of a page, as a pattern for a line that a program writes.
///
/// `…` matches any text, also none. A *placeholder*, such as `‹pid›`, matches any text except
/// none. If its name has an apostrophe, as in `‹Storage's pid›`, it stands for the same text
/// everywhere. White space of any length counts as one space. So in a table, a placeholder may be
/// longer than the text that it stands for.
struct LinePattern {
    private enum Piece {
        case text(Substring)
        case any
        case placeholder(Substring)
    }

    private let pieces: [Piece]

    init(_ line: String) {
        var pieces: [Piece] = []
        var rest = Self.squeezed(line)[...]
        while let mark = rest.firstIndex(where: { $0 == "…" || $0 == "‹" }) {
            if mark > rest.startIndex { pieces.append(.text(rest[..<mark])) }
            if rest[mark] == "…" {
                pieces.append(.any)
                rest = rest[rest.index(after: mark)...]
            } else if let end = rest[mark...].firstIndex(of: "›") {
                pieces.append(.placeholder(rest[rest.index(after: mark)..<end]))
                rest = rest[rest.index(after: end)...]
            } else {
                break
            }
        }
        if !rest.isEmpty { pieces.append(.text(rest)) }
        self.pieces = pieces
    }

    /// Matches a line.
    /// - Returns: the known placeholders, with those from this line; nil if the line doesn't
    ///   match.
    func matches(_ line: String, _ known: [String: String]) -> [String: String]? {
        Self.match(pieces[...], Self.squeezed(line)[...], known)
    }

    private static func match(
        _ pieces: ArraySlice<Piece>, _ text: Substring, _ known: [String: String]
    ) -> [String: String]? {
        guard let piece = pieces.first else { return text.isEmpty ? known : nil }
        let others = pieces.dropFirst()
        switch piece {
        case .text(let wanted):
            return text.hasPrefix(wanted) ? match(others, text.dropFirst(wanted.count), known) : nil
        case .placeholder(let name):
            if let value = known[String(name)] {
                return text.hasPrefix(value) ? match(others, text.dropFirst(value.count), known) : nil
            }
            guard let first = text.indices.first else { return nil }
            return shortest(name, others, text, text.index(after: first), known)
        case .any:
            return shortest(nil, others, text, text.startIndex, known)
        }
    }

    /// Takes the shortest text that lets the other pieces match.
    private static func shortest(
        _ name: Substring?, _ others: ArraySlice<Piece>, _ text: Substring, _ from: String.Index,
        _ known: [String: String]
    ) -> [String: String]? {
        var end = from
        while true {
            var known = known
            if let name, name.contains(where: { $0 == "'" || $0 == "’" }) { known[String(name)] = String(text[..<end]) }
            if let found = match(others, text[end...], known) { return found }
            guard end < text.endIndex else { return nil }
            end = text.index(after: end)
        }
    }

    /// Replaces the placeholders of a command with their known values.
    /// - Throws: ``TestFailure`` if one isn't known.
    static func filled(_ command: String, _ known: [String: String]) throws -> String {
        var text = ""
        var rest = command[...]
        while let mark = rest.firstIndex(of: "‹"), let end = rest[mark...].firstIndex(of: "›") {
            let name = String(rest[rest.index(after: mark)..<end])
            guard let value = known[name] else { throw TestFailure("‹\(name)› has no value yet") }
            text += rest[..<mark] + value
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }

    /// Whether a line of a page stands for any number of lines.
    static func isAnyLines(_ line: String) -> Bool { squeezed(line) == "…" }

    private static func squeezed(_ line: String) -> String {
        line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
