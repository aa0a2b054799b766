internal import StrataCore

/// A floating-point type that can be read from JSON.
protocol JSONFloat: BinaryFloatingPoint, LosslessStringConvertible {
    /// The powers of ten that the type represents exactly, from 10^0 on.
    static var exactPowers: [Self] { get }
}

extension Double: JSONFloat {
    static let exactPowers: [Double] = (0...22).map { exponent in (0..<exponent).reduce(1) { power, _ in power * 10 } }
}

extension Float: JSONFloat {
    static let exactPowers: [Float] = (0...10).map { exponent in (0..<exponent).reduce(1) { power, _ in power * 10 } }
}

/// Parsing of valid numbers.
extension JSONNumber {
    /// Returns the number as an integer; nil if it isn't one, or doesn't fit.
    static func integer<Integer: FixedWidthInteger>(_ text: UnsafeRawBufferPointer) -> Integer? {
        var value: Integer = 0
        var parts = NumberParts(text)
        /// The number of zeros that count only if another digit or the exponent follows.
        var zeros = 0
        while let digit = parts.nextDigit() {
            if digit == 0 {
                zeros += 1
            } else {
                guard let raised = raise(value, by: zeros + 1) else { return nil }
                let (sum, overflow) =
                    parts.isNegative
                    ? raised.subtractingReportingOverflow(Integer(digit))
                    : raised.addingReportingOverflow(Integer(digit))
                if overflow { return nil }
                value = sum
                zeros = 0
            }
        }
        if value == 0 { return 0 }
        let exponent = zeros + parts.exponent()
        return exponent < 0 ? nil : raise(value, by: exponent)
    }

    private static func raise<Integer: FixedWidthInteger>(_ value: Integer, by exponent: Int) -> Integer? {
        if value == 0 { return 0 }
        var value = value
        for _ in 0..<exponent {
            let (raised, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = raised
        }
        return value
    }

    /// Returns the nearest number; nil if that is infinite, or is zero although the text isn't.
    static func number<Number: JSONFloat>(_ text: UnsafeRawBufferPointer) -> Number? {
        // One operation on two exact numbers rounds correctly (Clinger, 1990).
        var mantissa: UInt64 = 0
        var parts = NumberParts(text)
        if text.count < 20 {
            while let digit = parts.nextDigit() { mantissa = mantissa * 10 + UInt64(digit) }
            let exponent = parts.exponent()
            if mantissa == 0 { return parts.isNegative ? -0.0 : 0 }
            if mantissa >> (Number.significandBitCount + 1) == 0, abs(exponent) < Number.exactPowers.count {
                let power = Number.exactPowers[abs(exponent)]
                let number = exponent < 0 ? Number(mantissa) / power : Number(mantissa) * power
                return parts.isNegative ? -number : number
            }
        }
        guard let number = Number(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number == 0 && !isZero(text) ? nil : number
    }

    private static func isZero(_ text: UnsafeRawBufferPointer) -> Bool {
        var parts = NumberParts(text)
        while let digit = parts.nextDigit() { if digit != 0 { return false } }
        return true
    }
}

/// Splits a number into its digits and its exponent.
private struct NumberParts {
    private let text: UnsafeRawBufferPointer
    private var position: Int
    private var fraction = 0
    private var isFraction = false
    let isNegative: Bool

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        isNegative = text.first == UInt8(ascii: "-")
        position = isNegative ? 1 : 0
    }

    /// Returns the next digit before the exponent.
    mutating func nextDigit() -> UInt8? {
        if position < text.count, text[position] == UInt8(ascii: ".") {
            isFraction = true
            position += 1
        }
        guard position < text.count, case let digit = text[position] &- UInt8(ascii: "0"), digit < 10 else {
            return nil
        }
        position += 1
        if isFraction { fraction += 1 }
        return digit
    }

    /// Returns the power of ten by which to multiply the digits as an integer, after all digits are
    /// read. It is limited so that additions to it can't overflow.
    func exponent() -> Int {
        var position = position + 1
        guard position < text.count else { return -fraction }
        let isNegative = text[position] == UInt8(ascii: "-")
        if isNegative || text[position] == UInt8(ascii: "+") { position += 1 }
        var exponent = 0
        while position < text.count {
            exponent = min(exponent * 10 + Int(text[position] &- UInt8(ascii: "0")), 1 << 40)
            position += 1
        }
        return (isNegative ? -exponent : exponent) - fraction
    }
}
