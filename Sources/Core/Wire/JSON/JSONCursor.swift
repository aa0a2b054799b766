/// A position in JSON's bytes, and the steps that move it. The grammar of JSON is here alone:
/// headers, `JSON` and `Codable` are all read by these steps.
struct JSONCursor {
    let base: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// A whole word can be loaded at any position before this.
    let wordsEnd: UnsafePointer<UInt8>
    var pointer: UnsafePointer<UInt8>

    /// - Parameter hasSlack: whether a whole word can be loaded past the end of the bytes.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, hasSlack: Bool) {
        // A buffer without an address has no bytes.
        base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? ("" as StaticString).utf8Start
        end = base + bytes.count
        wordsEnd = hasSlack ? end : end - 7
        pointer = base
    }

    @inline(__always) var position: Int { pointer - base }
    @inline(__always) var isAtEnd: Bool { pointer == end }

    /// Returns the next byte; at the end 0, which never occurs in JSON.
    @inline(__always)
    func peek() -> UInt8 { pointer < end ? pointer.pointee : 0 }

    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard pointer < end, pointer.pointee == byte else { return false }
        pointer += 1
        return true
    }

    @inline(__always)
    mutating func skipSpace() {
        while pointer < end, pointer.pointee <= 0x20 {
            switch pointer.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: pointer += 1
            default: return
            }
        }
    }

    @inline(never)
    func error(_ message: String, at place: UnsafePointer<UInt8>? = nil) -> JSONError {
        JSONError(offset: (place ?? pointer) - base, message: message)
    }

    // MARK: Tokens

    /// Passes `true`, `false` or `null`.
    @inline(__always)
    mutating func passWord(_ word: StaticString) throws(JSONError) {
        let count = word.utf8CodeUnitCount
        guard end - pointer >= count, UnsafeRawBufferPointer(start: pointer, count: count).equals(word) else {
            throw error("no value begins like this")
        }
        pointer += count
    }

    /// Passes the colon after a name.
    @inline(__always)
    mutating func passColon() throws(JSONError) {
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw error("a colon is missing behind the name") }
        skipSpace()
    }

    /// Passes the comma or bracket after an element or a member; returns whether another one
    /// follows.
    @inline(__always)
    mutating func passComma(inObject isObject: Bool) throws(JSONError) -> Bool {
        skipSpace()
        if take(UInt8(ascii: ",")) {
            skipSpace()
            return true
        }
        guard take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw error(isObject ? "a comma or } is missing" : "a comma or ] is missing")
        }
        return false
    }

    /// Passes the white space after the value, and throws if anything else follows.
    @inline(__always)
    mutating func passEnd() throws(JSONError) {
        skipSpace()
        guard isAtEnd else { throw error("nothing may follow the value") }
    }

    // MARK: Numbers

    /// Passes a number.
    /// - Returns: whether it has a fraction or an exponent.
    @inline(__always)
    mutating func passNumber() throws(JSONError) -> Bool {
        let start = pointer
        _ = take(UInt8(ascii: "-"))
        let isZero = peek() == UInt8(ascii: "0")
        guard try passDigits() == 1 || !isZero else { throw error("a number has no leading zero", at: start) }
        var isFraction = false
        if take(UInt8(ascii: ".")) {
            isFraction = true
            _ = try passDigits()
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            isFraction = true
            pointer += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            _ = try passDigits()
        }
        return isFraction
    }

    @inline(__always)
    private mutating func passDigits() throws(JSONError) -> Int {
        let start = pointer
        while peek() &- UInt8(ascii: "0") < 10 { pointer += 1 }
        guard pointer > start else { throw error("a digit is missing") }
        return pointer - start
    }
}

/// Reads the bytes of valid numbers.
public enum JSONNumber {
    /// The most bytes of an integer that fits for certain.
    @inlinable public static var longestShort: Int { 18 }

    /// Returns the value of an integer of at most that length, without fraction or exponent.
    @inlinable @inline(__always)
    public static func short(_ text: UnsafeRawBufferPointer) -> Int64 {
        var value: Int64 = 0
        let isNegative = text.first == UInt8(ascii: "-")
        for offset in (isNegative ? 1 : 0)..<text.count {
            value = value &* 10 &+ Int64(text[offset] &- UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }
}
