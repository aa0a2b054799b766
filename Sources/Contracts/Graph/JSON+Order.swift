package import StrataCore

/// Exact comparison of integers with doubles. A conversion would round integers over 2^53.
extension Int64 {
    package func isBelow(_ number: Double) -> Bool {
        guard number < 0x1p63 else { return true }
        guard number >= -0x1p63 else { return false }
        let whole = Int64(number)
        return self < whole || self == whole && Double(whole) < number
    }

    package func isAbove(_ number: Double) -> Bool {
        guard number < 0x1p63 else { return false }
        guard number >= -0x1p63 else { return true }
        let whole = Int64(number)
        return self > whole || self == whole && Double(whole) > number
    }
}

extension JSON {
    /// Whether this is a number without a fraction, of any size.
    package var isWhole: Bool {
        switch self {
        case .integer: true
        // Doubles from 2^53 on have no fraction.
        case .number(let number): number.magnitude >= 0x1p53 || Double(Int64(number)) == number
        case .null, .bool, .string, .array, .object: false
        }
    }

    /// Whether this is a number within bounds, which count as allowed.
    package func isNumber(from minimum: Int64?, to maximum: Int64?) -> Bool {
        switch self {
        case .integer(let value): value >= minimum ?? .min && value <= maximum ?? .max
        case .number(let value): minimum?.isAbove(value) != true && maximum?.isBelow(value) != true
        case .null, .bool, .string, .array, .object: false
        }
    }

    /// Whether this is a number within bounds, which count as allowed.
    package func isNumber(from minimum: Double?, to maximum: Double?) -> Bool {
        switch self {
        case .integer(let value):
            minimum.map { value.isBelow($0) } != true && maximum.map { value.isAbove($0) } != true
        case .number(let value): value >= minimum ?? -.infinity && value <= maximum ?? .infinity
        case .null, .bool, .string, .array, .object: false
        }
    }

    /// Whether two strings or integers are the same. A double counts as the integer that it is.
    package func isSame(as other: JSON) -> Bool {
        if let string, let other = other.string { return string.utf8.elementsEqual(other.utf8) }
        guard let integer, let other = other.integer else { return false }
        return integer == other
    }
}

extension Schema.Text {
    /// Whether a string is one that this allows, as far as that is checked: its length in code
    /// points, and `integerPattern`. Formats, encodings and other patterns are for receivers.
    package func allows(_ string: String) -> Bool {
        if minimum != nil || maximum != nil {
            let count = string.unicodeScalars.count
            guard count >= minimum ?? 0, count <= maximum ?? .max else { return false }
        }
        return pattern != Self.integerPattern || Self.isInteger(string)
    }

    /// Whether a string matches `integerPattern`.
    private static func isInteger(_ string: String) -> Bool {
        var digits = Array(string.utf8)
        if digits == [UInt8(ascii: "0")] { return true }
        if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
        guard let first = digits.first, first != UInt8(ascii: "0"), digits.count <= 18 else { return false }
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
