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
