extension JSONParser {
    /// A string from its opening quote; the position ends behind the closing one.
    mutating func string() throws(JSONError) -> String {
        let opening = position
        position += 1
        var start = position
        var unescaped: [UInt8] = []
        while true {
            passPlainWords()
            guard let byte = current else { break }
            switch byte {
            case UInt8(ascii: "\""):
                let run = bytes[start..<position]
                position += 1
                if unescaped.isEmpty { return String(decoding: run, as: UTF8.self) }
                unescaped.append(contentsOf: run)
                return String(decoding: unescaped, as: UTF8.self)
            case UInt8(ascii: "\\"):
                unescaped.append(contentsOf: bytes[start..<position])
                try escape(into: &unescaped)
                start = position
            case 0..<0x20:
                throw error("a control character must be escaped")
            case 0x20..<0x80:
                position += 1
            default:
                try sequence(from: byte)
            }
        }
        throw error("the string does not end", at: opening)
    }

    /// Passes bytes that need no look, eight at a time.
    private mutating func passPlainWords() {
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            guard JSONCursor.specialBytes(word) == 0 else { return }
            position += 8
        }
    }

    /// Passes one well-formed sequence of several bytes (Unicode, table 3-7).
    private mutating func sequence(from first: UInt8) throws(JSONError) {
        let second: ClosedRange<UInt8>
        let length: Int
        switch first {
        case 0xC2...0xDF: (second, length) = (0x80...0xBF, 2)
        case 0xE0: (second, length) = (0xA0...0xBF, 3)
        case 0xED: (second, length) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, length) = (0x80...0xBF, 3)
        case 0xF0: (second, length) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, length) = (0x80...0xBF, 4)
        case 0xF4: (second, length) = (0x80...0x8F, 4)
        default: throw error("not valid UTF-8")
        }
        guard bytes.count - position >= length, second.contains(bytes[position + 1]),
            bytes[(position + 2)..<(position + length)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { throw error("not valid UTF-8") }
        position += length
    }

    private mutating func escape(into result: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        guard let byte = current else { throw error("the escape does not end", at: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try scalar(escapedAt: start)
            result.append(contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
        default: throw error("no such escape", at: start)
        }
    }

    /// The scalar of `\uXXXX`, or of two of them that are a pair of surrogates.
    private mutating func scalar(escapedAt start: Int) throws(JSONError) -> Unicode.Scalar {
        let unit = try fourDigits(start)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw error("a lone surrogate", at: start) }
        position += 2
        let second = try fourDigits(start)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("a lone surrogate", at: start) }
        return scalar
    }

    private mutating func fourDigits(_ start: Int) throws(JSONError) -> UInt32 {
        var result: UInt32 = 0
        for _ in 0..<4 {
            switch current {
            case let byte? where Self.digits.contains(byte):
                result = result << 4 | UInt32(byte - UInt8(ascii: "0"))
            case let byte? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20):
                result = result << 4 | UInt32((byte | 0x20) - UInt8(ascii: "a") + 10)
            default:
                throw error("\\u wants four hexadecimal digits", at: start)
            }
            position += 1
        }
        return result
    }
}
