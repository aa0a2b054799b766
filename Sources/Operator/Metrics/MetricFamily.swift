public import StrataCore

/// A metric with all its samples, as OpenMetrics defines it.
public struct MetricFamily: Sendable {
    /// The OpenMetrics types that are used here.
    public enum Kind: String, Sendable { case counter, gauge, info, stateset, summary }

    /// One line with a number.
    public struct Sample: Sendable {
        /// The suffix after the family's name: `_total`.
        public internal(set) var suffix = ""
        /// The labels by name, in order.
        public internal(set) var labels: [(name: String, value: String)] = []
        /// A number, or NaN.
        public internal(set) var value: MetricValue
    }

    /// The name with its unit, without the suffixes of its samples.
    public let name: String
    /// The type of its samples.
    public let kind: Kind
    /// The unit: `seconds`, `bytes`; empty for none.
    public let unit: String
    /// A sentence on what it measures.
    public let help: String
    /// The samples; no two have the same labels.
    public internal(set) var samples: [Sample] = []

    init(_ name: String, _ kind: Kind, unit: String = "", _ help: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
    }

    /// Adds a sample with the suffix of the kind.
    mutating func add(_ value: MetricValue, _ labels: [(name: String, value: String)] = []) {
        let suffix =
            switch kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .stateset, .summary: ""
            }
        samples.append(Sample(suffix: suffix, labels: labels, value: value))
    }

    /// Returns a gauge or a counter with a single number.
    static func of(
        _ name: String, _ kind: Kind, unit: String = "", _ help: String, _ value: MetricValue
    ) -> MetricFamily {
        var family = MetricFamily(name, kind, unit: unit, help)
        family.add(value)
        return family
    }
}

/// The number of a sample. It is kept as decimal text, which binary fractions would round.
public struct MetricValue: Sendable {
    /// The number as OpenMetrics writes it.
    public let text: String

    init(_ number: Int64) { text = "\(number)" }
    init(_ number: UInt64) { text = "\(number)" }

    private init(text: String) { self.text = text }

    /// The value NaN, for when there is nothing to report.
    static let none = MetricValue(text: "NaN")

    /// Makes a value in seconds from microseconds.
    init(microseconds: Int64) { self.init(microseconds, digits: 6) }
    init(milliseconds: Int64) { self.init(milliseconds, digits: 3) }

    private init(_ number: Int64, digits: Int) {
        let all = "\(number.magnitude)"
        let padded = String(repeating: "0", count: max(0, digits + 1 - all.utf8.count)) + all
        text = "\(number < 0 ? "-" : "")\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }

    /// Reads a number from a module's JSON; null becomes NaN.
    init?(json: JSON) {
        switch json {
        case .null: self = .none
        case .integer(let number): self.init(number)
        case .number(let number): self.init(text: "\(number)")
        default: return nil
        }
    }

    var isNegative: Bool { text.hasPrefix("-") }

    /// The number as JSON; NaN becomes null.
    public var json: JSON { (try? JSON(parsing: text)) ?? .null }
}

/// The text format OpenMetrics 1.0, which Prometheus and other tools read.
public enum OpenMetrics {
    /// The HTTP content type.
    public static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Returns the families as text that ends with `# EOF`.
    public static func text(_ families: [MetricFamily]) -> String {
        families.map(text).joined() + "# EOF\n"
    }

    private static func text(_ family: MetricFamily) -> String {
        var text = "# TYPE \(family.name) \(family.kind.rawValue)\n"
        if !family.unit.isEmpty { text += "# UNIT \(family.name) \(family.unit)\n" }
        text += "# HELP \(family.name) \(escaped(family.help))\n"
        for sample in family.samples {
            text += family.name + sample.suffix
            if !sample.labels.isEmpty {
                let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }
                text += "{\(labels.joined(separator: ","))}"
            }
            text += " \(sample.value.text)\n"
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"": escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns each sample as a separate value.
    public static func json(_ families: [MetricFamily]) -> [JSON] {
        families.flatMap { family in
            family.samples.map { sample -> JSON in
                var members: [JSON.Member] = [
                    .init("name", .string(family.name + sample.suffix)), .init("type", .string(family.kind.rawValue)),
                ]
                if !family.unit.isEmpty { members.append(.init("unit", .string(family.unit))) }
                members.append(.init("labels", .object(sample.labels.map { .init($0.name, .string($0.value)) })))
                members.append(.init("value", sample.value.json))
                return .object(members)
            }
        }
    }
}
