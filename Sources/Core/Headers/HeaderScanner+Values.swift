extension HeaderScanner {
    /// A string member's value.
    @inline(__always)
    func string(_ cursor: inout JSONCursor, _ name: StaticString) throws(HeaderError) -> Header.Text {
        guard cursor.peek() == UInt8(ascii: "\"") else {
            throw cursor.error("has a \"\(name)\" that is no string")
        }
        return try string(&cursor)
    }

    /// A string, from its quote on.
    @inline(__always)
    func string(_ cursor: inout JSONCursor) throws(HeaderError) -> Header.Text {
        guard cursor.take(UInt8(ascii: "\"")) else { throw cursor.error("lacks a string where one must be") }
        let start = cursor.pointer
        cursor.passPlain()
        if cursor.peek() == UInt8(ascii: "\"") {
            let text = Header.Text(start: start, count: cursor.pointer - start)
            cursor.pointer += 1
            return text
        }
        return try stringWithSpecials(&cursor, from: start)
    }

    /// A string in which something needs a look: an escape, or UTF-8 of more
    /// than one byte. Without escapes it stays where it is.
    @inline(never)
    private func stringWithSpecials(_ cursor: inout JSONCursor, from start: UnsafePointer<UInt8>)
        throws(HeaderError) -> Header.Text
    {
        var copied: UnsafeMutablePointer<UInt8>?
        var plain = start
        let first = scratchUsed
        /// Moves what was passed without escapes to the scratch.
        func copy(upTo pointer: UnsafePointer<UInt8>) {
            let count = pointer - plain
            (scratch + scratchUsed).update(from: plain, count: count)
            scratchUsed += count
            copied = scratch + first
        }
        while true {
            cursor.passPlain()
            guard !cursor.isAtEnd else { throw cursor.error("ends within a string") }
            let byte = cursor.pointer.pointee
            switch byte {
            case UInt8(ascii: "\""):
                defer { cursor.pointer += 1 }
                guard copied != nil else {
                    return Header.Text(start: start, count: cursor.pointer - start)
                }
                copy(upTo: cursor.pointer)
                let text = Header.Text(start: scratch + first, count: scratchUsed - first)
                return text
            case UInt8(ascii: "\\"):
                copy(upTo: cursor.pointer)
                try escape(&cursor)
                plain = cursor.pointer
            case 0x80...:
                guard let length = UTF8Sequence.length(at: cursor.pointer, before: cursor.end) else {
                    throw cursor.error("is not valid UTF-8")
                }
                cursor.pointer += length
            default:
                throw cursor.error("has a control character in a string")
            }
        }
    }

    /// An escape, from its backslash on; its character goes to the scratch.
    private func escape(_ cursor: inout JSONCursor) throws(HeaderError) {
        cursor.pointer += 1
        let byte = cursor.peek()
        cursor.pointer += cursor.isAtEnd ? 0 : 1
        let character: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): character = byte
        case UInt8(ascii: "b"): character = 0x08
        case UInt8(ascii: "f"): character = 0x0C
        case UInt8(ascii: "n"): character = 0x0A
        case UInt8(ascii: "r"): character = 0x0D
        case UInt8(ascii: "t"): character = 0x09
        case UInt8(ascii: "u"):
            try unicodeEscape(&cursor)
            return
        default: throw cursor.error("has a bad escape in a string")
        }
        scratch[scratchUsed] = character
        scratchUsed += 1
    }

    private func unicodeEscape(_ cursor: inout JSONCursor) throws(HeaderError) {
        var value = try fourDigits(&cursor)
        if value & 0xFC00 == 0xD800 {
            guard cursor.take(UInt8(ascii: "\\")), cursor.take(UInt8(ascii: "u")) else {
                throw cursor.error("has half of a surrogate pair in a string")
            }
            let low = try fourDigits(&cursor)
            guard low & 0xFC00 == 0xDC00 else {
                throw cursor.error("has half of a surrogate pair in a string")
            }
            value = 0x10000 + ((value & 0x3FF) << 10) + (low & 0x3FF)
        } else if value & 0xFC00 == 0xDC00 {
            throw cursor.error("has half of a surrogate pair in a string")
        }
        let scalar = Unicode.Scalar(value)!  // because surrogates are taken care of above
        for unit in UTF8.encode(scalar)! {  // because every scalar has a UTF-8 form
            scratch[scratchUsed] = unit
            scratchUsed += 1
        }
    }

    private func fourDigits(_ cursor: inout JSONCursor) throws(HeaderError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch cursor.peek() {
            case let byte where (0x30...0x39).contains(byte): digit = byte - 0x30
            case let byte where (0x41...0x46).contains(byte): digit = byte - 0x41 + 10
            case let byte where (0x61...0x66).contains(byte): digit = byte - 0x61 + 10
            default: throw cursor.error("has a bad escape in a string")
            }
            value = value << 4 | UInt32(digit)
            cursor.pointer += 1
        }
        return value
    }

    /// An integer without fraction or exponent, within ±(2^53 - 1).
    /// - Parameter tooLarge: what one beyond is taken as; nil refuses it.
    @inline(__always)
    func integer(_ cursor: inout JSONCursor, _ name: StaticString, tooLarge: Int64? = nil)
        throws(HeaderError) -> Int64
    {
        let start = cursor.position
        let negative = cursor.take(UInt8(ascii: "-"))
        let digits = cursor.pointer
        var value: Int64 = 0
        var fits = true
        while true {
            let digit = cursor.peek() &- 0x30
            guard digit < 10 else { break }
            if value > Self.largestInteger / 10 { fits = false } else { value = value * 10 + Int64(digit) }
            cursor.pointer += 1
        }
        let count = cursor.pointer - digits
        switch cursor.peek() {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            fits = false
            throw HeaderError("has a \"\(name)\" that is no integer without fraction or exponent", at: start)
        default: break
        }
        guard count > 0, count == 1 || digits.pointee != 0x30 else {
            throw HeaderError("has a \"\(name)\" that is no integer", at: start)
        }
        guard fits, value <= Self.largestInteger else {
            if let tooLarge { return tooLarge }
            throw HeaderError("has a \"\(name)\" beyond 2^53-1", at: start)
        }
        return negative ? -value : value
    }

    func boolean(_ cursor: inout JSONCursor, _ name: StaticString) throws(HeaderError) -> Bool {
        if literal(&cursor, "true") { return true }
        if literal(&cursor, "false") { return false }
        throw cursor.error("has a \"\(name)\" that is neither true nor false")
    }

    private func literal(_ cursor: inout JSONCursor, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard cursor.end - cursor.pointer >= count,
            Header.Text(start: cursor.pointer, count: count).equals(word)
        else { return false }
        cursor.pointer += count
        return true
    }

    /// Passes a value of any type. `depth` is that of what it stands in.
    func skipValue(_ cursor: inout JSONCursor, depth: Int) throws(HeaderError) {
        switch cursor.peek() {
        case UInt8(ascii: "\""):
            _ = try string(&cursor)
        case UInt8(ascii: "{"):
            guard depth < Self.maximumDepth else { throw cursor.error("is more than 32 deep") }
            try skipObject(&cursor, depth: depth + 1)
        case UInt8(ascii: "["):
            guard depth < Self.maximumDepth else { throw cursor.error("is more than 32 deep") }
            cursor.pointer += 1
            cursor.skipSpace()
            if cursor.take(UInt8(ascii: "]")) { return }
            repeat {
                cursor.skipSpace()
                try skipValue(&cursor, depth: depth + 1)
                cursor.skipSpace()
            } while cursor.take(UInt8(ascii: ","))
            guard cursor.take(UInt8(ascii: "]")) else { throw cursor.error("has an array without end") }
        case UInt8(ascii: "-"), 0x30...0x39:
            try skipNumber(&cursor)
        default:
            if literal(&cursor, "true") || literal(&cursor, "false") || literal(&cursor, "null") { return }
            throw cursor.error("has something that is no JSON value")
        }
    }

    private func skipObject(_ cursor: inout JSONCursor, depth: Int) throws(HeaderError) {
        cursor.pointer += 1
        cursor.skipSpace()
        if cursor.take(UInt8(ascii: "}")) { return }
        let object = keys.newObject()
        repeat {
            cursor.skipSpace()
            let start = cursor.position
            let key = try string(&cursor)
            guard keys.insert(key, object: object) else {
                throw HeaderError("has the key \"\(key.text)\" twice", at: start)
            }
            cursor.skipSpace()
            guard cursor.take(UInt8(ascii: ":")) else { throw cursor.error("lacks a colon after a key") }
            cursor.skipSpace()
            try skipValue(&cursor, depth: depth)
            cursor.skipSpace()
        } while cursor.take(UInt8(ascii: ","))
        guard cursor.take(UInt8(ascii: "}")) else { throw cursor.error("has an object without end") }
    }

    private func skipNumber(_ cursor: inout JSONCursor) throws(HeaderError) {
        func digits(_ cursor: inout JSONCursor) -> Int {
            let start = cursor.pointer
            while cursor.peek() &- 0x30 < 10 { cursor.pointer += 1 }
            return cursor.pointer - start
        }
        _ = cursor.take(UInt8(ascii: "-"))
        let zero = cursor.peek() == 0x30
        let whole = digits(&cursor)
        guard whole > 0, !zero || whole == 1 else { throw cursor.error("has a malformed number") }
        if cursor.take(UInt8(ascii: ".")), digits(&cursor) == 0 {
            throw cursor.error("has a malformed number")
        }
        if cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) {
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            guard digits(&cursor) > 0 else { throw cursor.error("has a malformed number") }
        }
    }
}
