internal import FoundationEssentials
internal import StrataCore

extension WriterState {
    func write(_ value: Bool) {
        if value { append("true") } else { append("false") }
    }

    func writeNull() { append("null") }

    // MARK: Numbers

    @inline(__always)
    func write<Integer: FixedWidthInteger>(integer value: Integer) {
        guard Integer.bitWidth <= 64 else {
            write(plain: String(value))
            return
        }
        write(UInt64(truncatingIfNeeded: value.magnitude), isNegative: value < 0)
    }

    private func write(_ magnitude: UInt64, isNegative: Bool) {
        var out = room(20)
        if isNegative {
            out.pointee = UInt8(ascii: "-")
            out += 1
            count += 1
        }
        if magnitude < 10 {
            out.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude)
            count += 1
            return
        }
        var digits = 1
        var power: UInt64 = 10
        while magnitude >= power {
            digits += 1
            let (next, overflow) = power.multipliedReportingOverflow(by: 10)
            if overflow { break }
            power = next
        }
        var rest = magnitude
        var place = out + digits
        while place > out {
            place -= 1
            let (tenth, digit) = rest.quotientAndRemainder(dividingBy: 10)
            place.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
            rest = tenth
        }
        count += digits
    }

    /// Appends a finite number with the fewest digits that represent it.
    @inline(__always)
    func write<Number: BinaryFloatingPoint & LosslessStringConvertible>(finite value: Number) {
        if value.magnitude < 16_777_216, value != 0 {
            let integer = Int64(value)
            if Number(integer) == value {
                write(integer: integer)
                return
            }
        }
        var text = value.description
        if text.hasSuffix(".0") { text.removeLast(2) }
        write(plain: text)
    }

    /// Appends text that needs no quotes.
    func write(plain text: String) {
        var text = text
        text.withUTF8 { bytes in
            // because a string's buffer has an address unless it is empty
            if let start = bytes.baseAddress {
                room(bytes.count).update(from: start, count: bytes.count)
                count += bytes.count
            }
        }
    }

    // MARK: Texts

    /// Appends a text in quotes, and escapes only what must be escaped.
    @inline(__always)
    func write(_ text: String) {
        var text = text
        text.withUTF8 { write(quoting: $0) }
    }

    func write(quoting bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, bytes.count > 0 else {
            append("\"\"")
            return
        }
        let out = room(bytes.count + 2)
        out.pointee = UInt8(ascii: "\"")
        let plain = JSONString.plainPrefix(of: UnsafeRawBufferPointer(bytes), from: 0)
        (out + 1).update(from: start, count: plain)
        if plain == bytes.count {
            (out + 1 + plain).pointee = UInt8(ascii: "\"")
            count += plain + 2
            return
        }
        count += 1 + plain
        writeEscaped(UnsafeBufferPointer(rebasing: bytes[plain...]))
    }

    @inline(never)
    private func writeEscaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        var position = 0
        // because there is at least one byte to escape
        let start = bytes.baseAddress!
        while position < bytes.count {
            let plain = JSONString.plainPrefix(of: UnsafeRawBufferPointer(bytes), from: position) - position
            room(plain).update(from: start + position, count: plain)
            count += plain
            position += plain
            if position < bytes.count {
                count += JSONString.escape(bytes[position], into: room(JSONString.longestEscape))
                position += 1
            }
        }
        append(UInt8(ascii: "\""))
    }
}

extension WriterState {
    /// Writes a value of a Foundation type whose JSON form differs from its own encoding. Returns
    /// false if the type is another one.
    @inline(__always)
    func writeFoundationValue<Value>(_ value: Value, in id: ScopeID) throws -> Bool {
        if Value.self == Date.self {
            // because the types are the same, here and below
            write(unsafeBitCast(value, to: Date.self))
        } else if Value.self == Data.self {
            write(unsafeBitCast(value, to: Data.self))
        } else if Value.self == URL.self {
            write(unsafeBitCast(value, to: URL.self).absoluteString)
        } else if Value.self == Decimal.self {
            try write(unsafeBitCast(value, to: Decimal.self), in: id)
        } else {
            return false
        }
        scopes[Int(id.index)].kind = .scalar
        return true
    }

    @inline(never)
    private func write(_ value: Date) { write(value.formatted(.iso8601)) }

    @inline(never)
    private func write(_ value: Data) {
        append(UInt8(ascii: "\""))
        write(plain: value.base64EncodedString())
        append(UInt8(ascii: "\""))
    }

    @inline(never)
    private func write(_ value: Decimal, in id: ScopeID) throws {
        guard value.isFinite else { throw notANumber(value, "Decimal.\(value)", path(of: id)) }
        write(plain: value.description)
    }
}
