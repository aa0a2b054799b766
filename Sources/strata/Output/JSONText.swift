import StrataCore

/// JSON laid out anew without making values of it, so that each number and
/// each string stays as its writer wrote it.
enum JSONText {
    /// How deep a body may be nested.
    static let maximumDepth = 512

    /// Without white space; nil where the bytes are no JSON value. No bytes at
    /// all are null.
    static func compact(_ bytes: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty else { return Array("null".utf8) }
        guard (try? JSON(parsing: bytes, maximumDepth: maximumDepth)) != nil else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for token in JSONTokens(bytes) { result.append(contentsOf: bytes[token.range]) }
        return result
    }

    /// The bytes of an object's member; nil where there is none. The object is
    /// known to be JSON.
    static func member(_ name: StaticString, of object: [UInt8]) -> [UInt8]? {
        var depth = 0
        var isNamed = false
        var start: Int?
        for token in JSONTokens(object) {
            if let start, depth == 1, token.kind == .comma || token.kind == .close {
                return Array(object[start..<token.range.lowerBound])
            }
            if isNamed, start == nil, token.kind != .colon { start = token.range.lowerBound }
            switch token.kind {
            case .open: depth += 1
            case .close: depth -= 1
            case .key where depth == 1 && start == nil:
                isNamed = object[token.range.dropFirst().dropLast()].elementsEqual("\(name)".utf8)
            case .key, .comma, .colon, .string, .number, .word: break
            }
        }
        return nil
    }

    /// Indented and coloured, for a terminal; nil where the bytes are no JSON
    /// value.
    static func pretty(_ bytes: [UInt8], _ painter: Painter, indent: Int = 0) -> String? {
        guard let bytes = compact(bytes) else { return nil }
        var text = ""
        var depth = indent
        var previous = JSONTokens.Kind.comma
        func newLine() { text += "\n" + String(repeating: "  ", count: depth) }
        for token in JSONTokens(bytes) {
            let piece = Printable.text(String(decoding: bytes[token.range], as: UTF8.self))
            switch token.kind {
            case .close:
                depth -= 1
                if previous != .open { newLine() }
                text += piece
            case .open:
                if previous == .open { newLine() }
                text += piece
                depth += 1
            case .comma:
                text += piece
                newLine()
            case .colon: text += ": "
            case .key, .string, .number, .word:
                if previous == .open { newLine() }
                text += painter.paint(piece, token.kind.colour)
            }
            previous = token.kind
        }
        return text
    }
}

extension JSONTokens.Kind {
    fileprivate var colour: Colour {
        switch self {
        case .key: .blue
        case .string: .green
        case .number: .cyan
        case .word: .magenta
        case .open, .close, .comma, .colon: .plain
        }
    }
}
