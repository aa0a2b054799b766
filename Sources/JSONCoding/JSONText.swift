/// What both directions know of JSON's strings.
enum JSONText {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// The first byte from a position on that can't stand in a string as it is:
    /// a quote, a backslash, a control character. The end where there is none.
    @inline(__always)
    static func plainPrefix(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        // Because a buffer without an address has no bytes.
        guard let base = bytes.baseAddress else { return 0 }
        var position = start
        while position + 8 <= bytes.count {
            let special = special(base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            if special != 0 { return position + special.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count, !isSpecial(base.load(fromByteOffset: position, as: UInt8.self)) { position += 1 }
        return position
    }

    /// The high bit of each byte that is special; above the lowest one it may
    /// also be set for others.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        let word = UInt64(littleEndian: word)
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let found = (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
        return found & ~word & highs
    }

    /// The high bit of each byte that isn't ASCII.
    @inline(__always)
    static func beyondASCII(_ word: UInt64) -> UInt64 { UInt64(littleEndian: word) & highs }

    @inline(__always)
    static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// A bit of 64 for a name, so that most objects' names have one each: by its
    /// length, its first bytes and its last ones.
    @inline(__always)
    static func nameBit(_ name: UnsafeRawBufferPointer) -> UInt64 {
        // Because a buffer without an address has no bytes.
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

    /// Whether two texts of the same length are the same.
    @inline(__always)
    static func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        // Because a buffer without an address has no bytes.
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        let count = one.count
        var position = 0
        while position + 8 <= count {
            if first.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                != second.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            {
                return false
            }
            position += 8
        }
        while position < count {
            if first.load(fromByteOffset: position, as: UInt8.self)
                != second.load(fromByteOffset: position, as: UInt8.self)
            {
                return false
            }
            position += 1
        }
        return true
    }

    /// A string's text, from the valid bytes between its quotes.
    @inline(__always)
    static func string(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) -> String {
        isEscaped ? String(decoding: unescaped(bytes), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes that a valid string with escapes means.
    @inline(never)
    static func unescaped(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count) { result, count in
            var position = 0
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                guard byte == UInt8(ascii: "\\"), position < bytes.count else {
                    result[count] = byte
                    count += 1
                    continue
                }
                let escape = bytes[position]
                position += 1
                if escape == UInt8(ascii: "u") {
                    // An escape of six bytes, or two of them, means four bytes at most.
                    for byte in UTF8.encode(scalar(in: bytes, at: &position)) ?? UTF8.encodedReplacementCharacter {
                        result[count] = byte
                        count += 1
                    }
                } else {
                    result[count] = meaning(of: escape)
                    count += 1
                }
            }
        }
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

    /// The scalar behind `\u`, and behind a second one where it takes two.
    private static func scalar(in bytes: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar {
        let first = fourDigits(bytes, at: position) ?? 0
        position += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        let second = fourDigits(bytes, at: position + 2) ?? 0
        position += 6
        return pair(first, second) ?? "\u{FFFD}"
    }

    /// The scalar that two surrogates mean; nil where they aren't a pair.
    static func pair(_ first: UInt32, _ second: UInt32) -> Unicode.Scalar? {
        guard (0xD800..<0xDC00).contains(first), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    /// The number that four hexadecimal digits mean; nil where they aren't there.
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
