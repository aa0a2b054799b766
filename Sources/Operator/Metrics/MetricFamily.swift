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

/// OpenMetrics 1.0, as Prometheus and others read it.
public enum OpenMetrics {
    /// What HTTP calls it.
    public static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Ends with `# EOF`.
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

    /// Each sample as a value of its own.
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
