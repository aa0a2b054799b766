extension JSONCursor {
    /// Passes a string, from after its first quote to after its last.
    /// - Returns: whether it has escapes.
    @inline(__always)
    mutating func passString() throws(JSONError) -> Bool {
        let start = pointer
        passPlain()
        if peek() == UInt8(ascii: "\"") {
            pointer += 1
            return false
        }
        let rest = try special(from: start)
        pointer = rest.end
        return rest.isEscaped
    }

    /// Passes the bytes of a string that need no check: up to a quote, a backslash, a control
    /// character, a byte over 0x7F, or the end.
    @inline(__always)
    mutating func passPlain() {
        while pointer < wordsEnd {
            let special = JSONString.special(
                UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self), orBeyondASCII: true)
            if special == 0 {
                pointer += 8
                continue
            }
            pointer += special.trailingZeroBitCount >> 3
            if pointer > end { pointer = end }
            return
        }
        if pointer > end { pointer = end }
        while pointer < end, pointer.pointee < 0x80, !JSONString.isSpecial(pointer.pointee) { pointer += 1 }
    }

    /// Returns the end of a string that has an escape or UTF-8 of more than one byte. It changes no
    /// cursor, so the caller's cursor can stay in registers.
    @inline(never)
    private func special(
        from start: UnsafePointer<UInt8>
    ) throws(JSONError) -> (end: UnsafePointer<UInt8>, isEscaped: Bool) {
        var cursor = self
        var isEscaped = false
        while true {
            switch cursor.peek() {
            case UInt8(ascii: "\""): return (cursor.pointer + 1, isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try cursor.passEscape()
            case 0x80...:
                guard let length = UTF8Sequence.length(at: cursor.pointer, before: end) else {
                    throw cursor.error("not valid UTF-8")
                }
                cursor.pointer += length
            case _ where cursor.isAtEnd: throw cursor.error("the string does not end", at: start - 1)
            default: throw cursor.error("a control character must be escaped")
            }
            cursor.passPlain()
        }
    }

    private mutating func passEscape() throws(JSONError) {
        let start = pointer
        pointer += 1
        switch peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            pointer += 1
        case UInt8(ascii: "u"):
            let first = try passUnit(from: start)
            if Unicode.Scalar(first) != nil { return }
            guard take(UInt8(ascii: "\\")), peek() == UInt8(ascii: "u"),
                JSONString.pair(first, try passUnit(from: start)) != nil
            else { throw error("a surrogate stands alone", at: start) }
        default: throw error("there is no such escape", at: start)
        }
    }

    /// Passes a `u` and its four digits.
    private mutating func passUnit(from start: UnsafePointer<UInt8>) throws(JSONError) -> UInt32 {
        pointer += 1
        let rest = UnsafeRawBufferPointer(start: pointer, count: end - pointer)
        guard let unit = JSONString.fourDigits(rest, at: 0) else {
            throw error("four hexadecimal digits are missing", at: start)
        }
        pointer += 4
        return unit
    }
}

/// Validates UTF-8 byte by byte, by the Unicode standard's table 3-7.
enum UTF8Sequence {
    /// Returns the length of the well-formed sequence of two or more bytes at a position; nil if
    /// there is none.
    static func length(at pointer: UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>) -> Int? {
        let left = end - pointer
        func continues(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index < left && range.contains(pointer[index])
        }
        switch pointer.pointee {
        case 0xC2...0xDF: return continues(1) ? 2 : nil
        case 0xE0: return continues(1, 0xA0...0xBF) && continues(2) ? 3 : nil
        case 0xE1...0xEC, 0xEE...0xEF: return continues(1) && continues(2) ? 3 : nil
        case 0xED: return continues(1, 0x80...0x9F) && continues(2) ? 3 : nil
        case 0xF0: return continues(1, 0x90...0xBF) && continues(2) && continues(3) ? 4 : nil
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : nil
        case 0xF4: return continues(1, 0x80...0x8F) && continues(2) && continues(3) ? 4 : nil
        default: return nil
        }
    }
}
