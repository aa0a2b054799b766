/// The steps by which headers are read that are as they nearly always are.
extension JSONCursor {
    /// Passes a word's first `count` bytes, where they come next. Bytes behind
    /// the end may be read, and then the end is not where the cursor stands at
    /// last.
    @inline(__always)
    mutating func pass(_ word: UInt64, _ count: Int = 8) -> Bool {
        guard pointer < end else { return false }
        let next = UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self).littleEndian
        let mask = count == 8 ? UInt64.max : (1 << UInt64(count * 8)) - 1
        guard next & mask == word else { return false }
        pointer += count
        return true
    }

    /// Passes a number of 1 to 15 digits that is 0 or doesn't begin with 0.
    @inline(__always)
    mutating func passPlainNumber() -> UInt64? {
        guard pointer < end else { return nil }
        let digits = UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self).littleEndian ^ 0x3030_3030_3030_3030
        // The high bit of each byte that is no digit.
        let others = ((digits &+ 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080
        let startsWithZero = digits & 0xFF == 0
        guard others != 0 else { return startsWithZero ? nil : passLongNumber(digits) }
        let bits = UInt64(others.trailingZeroBitCount & ~7)
        guard bits > 0, !startsWithZero || bits == 8 else { return nil }
        pointer += Int(bits >> 3)
        return Self.value(digits << (64 - bits))
    }

    /// A number of 8 to 15 digits, of which the first eight are known.
    @inline(__always)
    private mutating func passLongNumber(_ digits: UInt64) -> UInt64? {
        var value = Self.value(digits)
        pointer += 8
        let last = min(end, pointer + 7)
        while pointer < last {
            let digit = pointer.pointee &- 0x30
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            pointer += 1
        }
        return value
    }

    /// The value of eight digits, one a byte, the first in the lowest: pairs,
    /// fours and eights are put together at once (after Johnny Lee and Daniel
    /// Lemire).
    @inline(__always)
    private static func value(_ digits: UInt64) -> UInt64 {
        let pairs = (digits &* 10) &+ (digits >> 8)
        let low = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
        let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
        return (low &+ high) >> 32
    }

    /// Passes a string without anything to unescape or to check, from behind its
    /// first quote to behind its last.
    @inline(__always)
    mutating func passText() -> Header.Text? {
        guard pointer < end else { return nil }
        let first = pointer
        passPlain()
        guard pointer < end, pointer.pointee == UInt8(ascii: "\"") else { return nil }
        let text = Header.Text(start: first, count: pointer - first)
        pointer += 1
        return text
    }
}
