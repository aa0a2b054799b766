public import StrataCore

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
