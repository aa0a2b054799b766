import FoundationEssentials
import StrataTesting
import TestSupport

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func oneIn(_ chances: Int) -> Bool { below(chances) == 0 }

    mutating func some<Value>(_ most: Int, _ make: (inout SeededGenerator) -> Value) -> [Value] {
        (0..<below(most + 1)).map { _ in make(&self) }
    }

    mutating func text() -> String {
        let pieces = [
            "a", "plain text", "\"", "\\", "/", "\n", "\u{1}", "é", "e\u{301}", "😀", "\u{2028}", "{", "]", ",", ":",
            "null", "\u{7f}",
        ]
        return some(5) { pieces[$0.below(pieces.count)] }.joined()
    }

    mutating func double() -> Double {
        switch below(4) {
        case 0: return Double(below(2_000_000) - 1_000_000)
        case 1: return Double(below(2_000_000) - 1_000_000) / 1000
        case 2: return Double.random(in: -1...1, using: &self)
        default:
            let double = Double(bitPattern: next())
            return double.isFinite ? double : 0
        }
    }

    /// Returns an integer of any length.
    mutating func integer<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer {
        Integer(truncatingIfNeeded: Int128(truncatingIfNeeded: next()) << 64 | Int128(next()))
            >> Integer(below(Integer.bitWidth))
    }

    mutating func shape(_ depth: Int = 0) -> Shape {
        switch below(depth > 3 ? 3 : 4) {
        case 0: .none
        case 1: .circle(double())
        case 2: .box(width: below(9), height: oneIn(2) ? nil : below(9))
        default: .both(shape(depth + 1), shape(depth + 1))
        }
    }

    mutating func inner(_ depth: Int = 0) -> Inner {
        let deeper: [String: [Inner]]? =
            oneIn(2) || depth > 2
            ? nil : Dictionary(some(3) { ($0.text(), $0.some(2) { $0.inner(depth + 1) }) }) { first, _ in first }
        return Inner(name: text(), deeper: deeper)
    }

    mutating func sample() -> Sample {
        Sample(
            flag: oneIn(2), text: text(), int: integer(), small: integer(), unsigned: integer(), signed: integer(),
            huge: integer(), double: double(), float: Float(below(100_000)) / 7, maybe: oneIn(2) ? nil : below(99),
            words: some(4) { $0.text() },
            counts: Dictionary(some(40) { ($0.text() + "\($0.below(9))", $0.below(9)) }) { first, _ in first },
            numbered: Dictionary(some(4) { ($0.integer(), $0.text()) }) { first, _ in first },
            date: Date(timeIntervalSince1970: Double(below(4_000_000_000))), data: Data(some(20) { $0.integer() }),
            url: oneIn(2) ? nil : URL(string: "http://example.org/\(below(99))?q=a/b"),
            decimal: Decimal(below(1_000_000)) / 100, shape: shape(), suit: Suit.allCases[below(2)],
            inner: some(3) { $0.inner() }, optionals: some(4) { $0.oneIn(2) ? nil : $0.below(9) },
            wrapped: oneIn(2) ? nil : Wrapper(rawValue: some(3) { $0.below(9) }),
            pairs: Dictionary(some(3) { (Pair(one: $0.below(99)), $0.oneIn(2)) }) { first, _ in first })
    }

    // MARK: Texts

    /// Returns JSON as no person writes it, and now and then invalid JSON.
    mutating func json(_ depth: Int = 0) -> String {
        let space = ["", "", "", " ", "\n", "\t "][below(6)]
        switch below(depth > 4 ? 6 : 9) {
        case 0: return space + ["null", "true", "false"][below(3)]
        case 1, 2: return space + number()
        case 3, 4: return space + string()
        case 5: return space + ["[]", "{}", "[ ]", "{\n}"][below(4)]
        case 6, 7:
            let members = some(4) { "\($0.oneIn(3) ? "\"a\"" : $0.string())\(space):\($0.json(depth + 1))" }
            return "{" + members.joined(separator: "\(space),\(space)") + space + "}"
        default: return "[" + some(4) { $0.json(depth + 1) }.joined(separator: ",") + space + "]"
        }
    }

    private mutating func number() -> String {
        let numbers = [
            "0", "-0", "1", "12", "-7", "300", "1.0", "1.5", "0.1", "1e2", "1E+2", "25e-1", "100e-2", "1e-7",
            "123456789012345678",
            "9007199254740993", "18446744073709551616", "1e19", "0.0", "3.14159265358979",
        ]
        return oneIn(3) ? "\(double())" : numbers[below(numbers.count)]
    }

    private mutating func string() -> String {
        let strings = [
            "", "a", "b", "name", "one", "\\u0061", "\\n", "\\ud83d\\ude00", "é", "😀", "\\/",
            "long enough for a word of eight", "7",
            "AQI=", "2024-01-02T03:04:05Z", "\\\"", "\\\\", "clubs", "_0", "circle",
        ]
        return "\"" + strings[below(strings.count)] + (oneIn(4) ? strings[below(strings.count)] : "") + "\""
    }

    /// Changes a few bytes, or moves some.
    mutating func damage(_ bytes: inout [UInt8]) {
        let likely = Array("{}[],:\"\\u0123456789.eE+- \ntrfalsn/\u{e9}".utf8) + [0x80, 0xC3, 0xED, 0xF0, 0xFF, 0]
        for _ in 0...below(3) where !bytes.isEmpty {
            let place = below(bytes.count)
            switch below(5) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(likely[below(likely.count)], at: place)
            case 2: bytes[place] = likely[below(likely.count)]
            case 3: bytes.removeSubrange(place...)
            default:
                let end = min(bytes.count, place + below(20))
                bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count))
            }
        }
    }
}
