/// Helpers for reading and writing JSON's strings.
public enum JSONString {
    /// Returns the offset, from `start` on, of the first byte that a string can't contain
    /// unescaped: a quote, a backslash or a control character. If there is none, it returns the
    /// end.
    @inlinable @inline(__always)
    public static func plainPrefix(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        // because a buffer without an address has no bytes
        guard let base = bytes.baseAddress else { return 0 }
        var position = start
        while position + 8 <= bytes.count {
            let special = special(base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            if special != 0 { return position + special.trailingZeroBitCount / 8 }
            position += 8
        }
        // The last word overlaps the one before it, which has nothing special.
        if position < bytes.count, bytes.count - 8 >= start {
            let special = special(base.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
            return special == 0 ? bytes.count : bytes.count - 8 + special.trailingZeroBitCount / 8
        }
        while position < bytes.count, !isSpecial(base.load(fromByteOffset: position, as: UInt8.self)) { position += 1 }
        return position
    }

    /// Returns a word with the high bit set in each byte that is special or, if requested, not
    /// ASCII. Above the lowest such byte, other bytes may have it set too. (Lamport's and Mycroft's
    /// word tricks.)
    @inlinable @inline(__always)
    public static func special(_ word: UInt64, orBeyondASCII: Bool = false) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let word = UInt64(littleEndian: word)
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let found = ((word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)) & ~word
        return (orBeyondASCII ? found | word : found) & (ones &* 0x80)
    }

    /// Whether a string can't contain the byte unescaped.
    @inlinable @inline(__always)
    public static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Returns one of 64 bits for a name, chosen so that the names of most objects have distinct
    /// bits. It depends on the name's length, its first bytes and its last ones.
    @inlinable @inline(__always)
    public static func nameBit(_ name: UnsafeRawBufferPointer) -> UInt64 {
        // because a buffer without an address has no bytes
        guard let base = name.baseAddress, name.count > 0 else { return 1 }
        var hash = UInt64(truncatingIfNeeded: name.count)
        if name.count >= 8 {
            hash ^= base.loadUnaligned(as: UInt64.self)
            hash = hash &* 0x9E37_79B9_7F4A_7C15
            hash ^= (base + name.count - 8).loadUnaligned(as: UInt64.self)
        } else if name.count >= 4 {
            hash ^= UInt64(base.loadUnaligned(as: UInt32.self)) << 32
            hash ^= UInt64((base + name.count - 4).loadUnaligned(as: UInt32.self)) << 4
        } else {
            hash ^= UInt64(name[0]) << 32 | UInt64(name[name.count / 2]) << 16 | UInt64(name[name.count - 1]) << 8
        }
        return 1 << ((hash &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    /// Whether two texts of the same length are equal. The last word may overlap the one before it.
    @inlinable @inline(__always)
    public static func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        // because a buffer without an address has no bytes
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        let count = one.count
        func differ<Word: FixedWidthInteger>(_ word: Word.Type, at position: Int) -> Bool {
            first.loadUnaligned(fromByteOffset: position, as: word)
                != second.loadUnaligned(fromByteOffset: position, as: word)
        }
        if count >= 8 {
            var position = 0
            while position + 8 < count {
                if differ(UInt64.self, at: position) { return false }
                position += 8
            }
            return !differ(UInt64.self, at: count - 8)
        }
        if count >= 4 { return !differ(UInt32.self, at: 0) && !differ(UInt32.self, at: count - 4) }
        if count >= 2 { return !differ(UInt16.self, at: 0) && !differ(UInt8.self, at: count - 1) }
        return count == 0 || !differ(UInt8.self, at: 0)
    }

    /// Returns a string's text from the valid bytes between its quotes.
    @inlinable @inline(__always)
    public static func string(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) -> String {
        isEscaped ? unescaped(bytes) : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the decoded text of a valid string with escapes.
    @inline(never)
    public static func unescaped(_ bytes: UnsafeRawBufferPointer) -> String {
        withUnescaped(bytes) { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a valid string with escapes decodes to these bytes.
    @inline(never)
    public static func isEqual(escaped bytes: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        withUnescaped(bytes) { $0.elementsEqual(other) }
    }

    /// Calls `use` with the decoded bytes of a valid string with escapes; they are valid during the
    /// call.
    static func withUnescaped<Result>(
        _ bytes: UnsafeRawBufferPointer, _ use: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { room in
            // because there is space for at least one byte
            let result = room.baseAddress!.assumingMemoryBound(to: UInt8.self)
            return use(UnsafeRawBufferPointer(start: result, count: unescape(bytes, into: result)))
        }
    }

    /// Writes the decoded bytes of a valid string with escapes; there are fewer of them than
    /// encoded ones.
    /// - Returns: their number.
    static func unescape(_ bytes: UnsafeRawBufferPointer, into result: UnsafeMutablePointer<UInt8>) -> Int {
        var end = result
        var position = 0
        while position < bytes.count {
            // because there is a byte
            let source = bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
            var byte = source[position]
            position += 1
            if byte == UInt8(ascii: "\\") {
                byte = source[position]
                position += 1
                if byte == UInt8(ascii: "u") {
                    // One or two escapes of six bytes each decode to at most four bytes.
                    let scalar = scalar(in: bytes, at: &position)
                    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                        end.pointee = byte
                        end += 1
                    }
                    continue
                }
                byte = meaning(of: byte)
            }
            end.pointee = byte
            end += 1
        }
        return end - result
    }

    /// The length of the longest escape that is written, in bytes.
    @inlinable public static var longestEscape: Int { 6 }

    /// Writes the escape of a byte that a string can't contain unescaped.
    /// - Returns: the number of bytes written.
    @inline(never)
    public static func escape(_ byte: UInt8, into result: UnsafeMutablePointer<UInt8>) -> Int {
        result[0] = UInt8(ascii: "\\")
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): result[1] = byte
        case 0x08: result[1] = UInt8(ascii: "b")
        case 0x09: result[1] = UInt8(ascii: "t")
        case 0x0A: result[1] = UInt8(ascii: "n")
        case 0x0C: result[1] = UInt8(ascii: "f")
        case 0x0D: result[1] = UInt8(ascii: "r")
        default:
            result[1] = UInt8(ascii: "u")
            result[2] = UInt8(ascii: "0")
            result[3] = UInt8(ascii: "0")
            result[4] = UInt8(ascii: "0") + byte >> 4
            result[5] = byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10
            return longestEscape
        }
        return 2
    }

    private static func meaning(of escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// Returns the scalar after `\u`, which may need a second escape.
    private static func scalar(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar {
        let first = fourDigits(bytes, at: position) ?? 0
        position += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        let second = fourDigits(bytes, at: position + 2) ?? 0
        position += 6
        return pair(first, second) ?? "\u{FFFD}"
    }

    /// Returns the scalar of a surrogate pair; nil if the two aren't a pair.
    static func pair(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
        guard (0xD800..<0xDC00).contains(first), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    /// Returns the value of four hexadecimal digits; nil if there aren't four.
    static func fourDigits(_ bytes: UnsafeRawBufferPointer, at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var result: UInt32 = 0
        for byte in bytes[position..<(position + 4)] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): result = result << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): result = result << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): result = result << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return result
    }
}
