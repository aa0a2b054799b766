/// Reads the bytes of valid numbers.
public enum JSONNumber {
    /// A longer one may not fit.
    @inlinable public static var longestShort: Int { 18 }

    /// An integer that isn't longer than that, without fraction or exponent.
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
