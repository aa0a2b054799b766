public import StrataCore

/// A metric with all its samples, as OpenMetrics has it.
public struct MetricFamily: Sendable {
    /// OpenMetrics' types, as far as they are used here.
    public enum Kind: String, Sendable { case counter, gauge, info, stateset, summary }

    /// One line of numbers.
    public struct Sample: Sendable {
        /// What is put behind the family's name: `_total`.
        public internal(set) var suffix = ""
        /// By name, in order.
        public internal(set) var labels: [(name: String, value: String)] = []
        /// A number, or NaN.
        public internal(set) var value: MetricValue
    }

    /// Without the suffixes of its samples, and with its unit.
    public let name: String
    /// What its samples are.
    public let kind: Kind
    /// `seconds`, `bytes`; empty for none.
    public let unit: String
    /// What it measures, in a sentence.
    public let help: String
    /// Each with labels that no other has.
    public internal(set) var samples: [Sample] = []

    init(_ name: String, _ kind: Kind, unit: String = "", _ help: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Adds a sample under the suffix that the kind has.
    mutating func add(_ value: MetricValue, _ labels: [(name: String, value: String)] = []) {
        let suffix =
            switch kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .stateset, .summary: ""
            }
        samples.append(Sample(suffix: suffix, labels: labels, value: value))
    }

    /// A gauge or a counter of one number.
    static func of(
        _ name: String, _ kind: Kind, unit: String = "", _ help: String, _ value: MetricValue
    ) -> MetricFamily {
        var family = MetricFamily(name, kind, unit: unit, help)
        family.add(value)
        return family
    }
}

/// A sample's number, written without a detour over binary fractions.
public struct MetricValue: Sendable {
    /// As OpenMetrics has it.
    public let text: String

    init(_ number: Int64) { text = "\(number)" }
    init(_ number: UInt64) { text = "\(number)" }

    private init(text: String) { self.text = text }

    /// What can't be told, because there was nothing.
    static let none = MetricValue(text: "NaN")

    /// In seconds.
    init(microseconds: Int64) { self.init(microseconds, digits: 6) }
    init(milliseconds: Int64) { self.init(milliseconds, digits: 3) }

    private init(_ number: Int64, digits: Int) {
        let all = "\(number.magnitude)"
        let padded = String(repeating: "0", count: max(0, digits + 1 - all.utf8.count)) + all
        text = "\(number < 0 ? "-" : "")\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }

    /// A number of somebody else's; null is what can't be told.
    init?(json: JSON) {
        switch json {
        case .null: self = .none
        case .integer(let number): self.init(number)
        case .number(let number): self.init(text: "\(number)")
        default: return nil
        }
    }

    var isNegative: Bool { text.hasPrefix("-") }

    /// As JSON; what can't be told is null.
    public var json: JSON { (try? JSON(parsing: text)) ?? .null }
}
