internal import StrataCore

/// Random values without parts.
extension RandomNumberGenerator {
    /// Returns a number from 0 up to, but not including, `bound`.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Returns true once in so many cases, on average.
    mutating func chance(_ cases: Int) -> Bool { below(cases) == 0 }

    /// Returns a small JSON value of any kind.
    mutating func anyValue(_ most: Int) -> JSON {
        switch below(most > 1 ? 7 : 5) {
        case 0: .null
        case 1: .bool(chance(2))
        case 2: .integer(integer(nil, nil))
        case 3: number(nil, nil)
        case 4: .string(text(nil, nil))
        case 5: .array((0..<below(most)).map { _ in anyValue(most / 2) })
        default: .object((0..<below(most)).map { JSON.Member("m\($0)", anyValue(most / 2)) })
        }
    }

    /// Returns an integer, often at the end of its range or near zero.
    mutating func integer(_ minimum: Int64?, _ maximum: Int64?) -> Int64 {
        let range = (minimum ?? .min)...max(minimum ?? .min, maximum ?? .max)
        switch below(6) {
        case 0: return range.lowerBound
        case 1: return range.upperBound
        case 2: return Int64.random(in: range, using: &self)
        default: return Swift.min(Swift.max(Int64(below(2_001) - 1_000), range.lowerBound), range.upperBound)
        }
    }

    /// Returns a number of moderate size, if the range has one, so that every type of numbers can
    /// hold it.
    mutating func number(_ minimum: Double?, _ maximum: Double?) -> JSON {
        if chance(6), let minimum { return .number(minimum) }
        if chance(6), let maximum { return .number(maximum) }
        let number = Double(below(2_000_001) - 1_000_000) / 8
        let (low, high) = (minimum ?? -.infinity, maximum ?? .infinity)
        guard (low...high).contains(number) else {
            return .number(low.isFinite && high.isFinite ? low / 2 + high / 2 : low.isFinite ? low : high)
        }
        let whole = Int64(number)
        return chance(4) && (low...high).contains(Double(whole)) ? .integer(whole) : .number(number)
    }

    /// Returns a string; nil if it must be an example and there is none.
    mutating func string(_ text: Schema.Text, _ examples: [JSON]) -> String? {
        let examples = examples.compactMap(\.string).filter { text.allows($0) }
        if text.pattern == Schema.Text.integerPattern { return "\(integer(-999_999_999, 999_999_999))" }
        if !examples.isEmpty, text.needsExamples || chance(4) { return examples[below(examples.count)] }
        guard !text.needsExamples else { return nil }
        if let made = text.format.flatMap({ formatted($0) }), text.allows(made) { return made }
        guard text.contentEncoding == nil else { return base64(text) }
        return self.text(text.minimum, text.maximum)
    }

    /// Returns a text of a format that Strata knows.
    private mutating func formatted(_ format: String) -> String? {
        func padded(_ number: Int, _ digits: Int) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
        }
        switch format {
        case "date-time":
            let date = "\(padded(1_970 + below(130), 4))-\(padded(1 + below(12), 2))-\(padded(1 + below(28), 2))"
            return "\(date)T\(padded(below(24), 2)):\(padded(below(60), 2)):\(padded(below(60), 2))Z"
        case "uri-reference":
            return ["http://example.org/\(below(100))?q=a%20b", "/a/b\(below(100))", "mailto:a@example.org"][below(3)]
        case "uuid":
            let digits = Array("0123456789ABCDEF")
            return String(
                [8, 4, 4, 4, 12].map { count in String((0..<count).map { _ in digits[below(16)] }) }
                    .joined(separator: "-"))
        default: return nil
        }
    }

    private mutating func base64(_ text: Schema.Text) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let groups = Swift.max(((text.minimum ?? 0) + 3) / 4, below(4))
        let most = (text.maximum ?? .max) / 4
        return String((0..<Swift.min(groups, most) * 4).map { _ in digits[below(64)] })
    }

    private mutating func text(_ minimum: Int?, _ maximum: Int?) -> String {
        let pieces = Array("abcXYZ 0189-_./:\"\\\n\t{}[],é😀\u{2028}\u{7F}".unicodeScalars)
        let least = minimum ?? 0
        let count = Swift.min(maximum ?? .max, least + below(8))
        var text = String.UnicodeScalarView()
        for _ in 0..<count { text.append(pieces[below(pieces.count)]) }
        return String(text)
    }
}

extension Schema.Text {
    /// Whether a value can only be one of the examples.
    fileprivate var needsExamples: Bool {
        if let pattern { return pattern != Self.integerPattern }
        guard let format else { return false }
        return !["date-time", "uri-reference", "uuid"].contains(format)
    }

    /// Whether a value can be made.
    func canBeMade(from examples: [JSON]) -> Bool {
        guard !needsExamples else { return examples.contains { $0.string.map(allows) ?? false } }
        // Base64 comes in groups of four characters.
        let groups = (minimum ?? 0) / 4 + ((minimum ?? 0) % 4 > 0 ? 1 : 0)
        return contentEncoding == nil || groups <= (maximum ?? .max) / 4
    }
}
