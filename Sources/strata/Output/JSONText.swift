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

/// The tokens of bytes that are known to be one JSON value.
struct JSONTokens: Sequence, IteratorProtocol {
    enum Kind { case open, close, comma, colon, key, string, number, word }

    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ valid: [UInt8]) { bytes = valid }

    mutating func next() -> Token? {
        skipWhiteSpace()
        guard position < bytes.count else { return nil }
        let start = position
        position += 1
        let kind: Kind
        switch bytes[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): kind = .open
        case UInt8(ascii: "}"), UInt8(ascii: "]"): kind = .close
        case UInt8(ascii: ","): kind = .comma
        case UInt8(ascii: ":"): kind = .colon
        case UInt8(ascii: "\""):
            while bytes[position] != UInt8(ascii: "\"") {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            position += 1
            kind = isFollowedByColon ? .key : .string
        case let first:
            while position < bytes.count, isWordOrNumber(bytes[position]) { position += 1 }
            kind = first | 0x20 >= UInt8(ascii: "a") ? .word : .number
        }
        return Token(kind: kind, range: start..<position)
    }

    private func isWordOrNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "E"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private var isFollowedByColon: Bool {
        var rest = self
        rest.skipWhiteSpace()
        return rest.position < bytes.count && bytes[rest.position] == UInt8(ascii: ":")
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }
}
