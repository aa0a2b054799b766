import Testing

/// A strict reader of OpenMetrics 1.0, with its grammar and its rules for each type. It refuses
/// what isn't used here.
struct OpenMetricsText {
    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Family {
        var type = ""
        var unit: String?
        var help: String?
        var samples: [Sample] = []
    }

    struct Fault: Error, CustomStringConvertible {
        let line: Int
        let what: String
        var description: String { "line \(line): \(what)" }
    }

    private(set) var families: [String: Family] = [:]
    private var present = ""

    init(_ text: String) throws {
        guard text.hasSuffix("\n# EOF\n") else { throw Fault(line: 0, what: "the end is not # EOF") }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(2)
        for (number, line) in lines.enumerated() {
            do throws(Wrong) { try read(String(line)) } catch {
                throw Fault(line: number + 1, what: "\(error.what): \(line)")
            }
        }
        for (name, family) in families {
            do throws(Wrong) { try Self.judge(name, family) } catch {
                throw Fault(line: 0, what: "\(name): \(error.what)")
            }
        }
    }

    /// Returns the only sample with these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        let all = families.values.flatMap(\.samples).filter { $0.name == name && $0.labels == labels }
        return all.count == 1 ? all[0].value : nil
    }

    private struct Wrong: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    private mutating func read(_ line: String) throws(Wrong) {
        if line.hasPrefix("# ") { return try metadata(line) }
        let sample = try Self.sample(line)
        let suffixes = ["", "_total", "_info", "_count", "_sum"]
        guard suffixes.contains(where: { present + $0 == sample.name }) else {
            throw Wrong("a sample of no family, or of another than the present one")
        }
        let isDouble = families[present]?.samples.contains { $0.name == sample.name && $0.labels == sample.labels }
        guard isDouble == false else { throw Wrong("the same sample again") }
        families[present]?.samples.append(sample)
    }

    private mutating func metadata(_ line: String) throws(Wrong) {
        guard let match = line.wholeMatch(of: /# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)/) else {
            throw Wrong("no metadata")
        }
        let (name, text) = (String(match.2), String(match.3))
        if name != present {
            guard families[name] == nil else { throw Wrong("a family in two places") }
            families[name] = Family()
            present = name
        }
        guard families[name]?.samples.isEmpty == true else { throw Wrong("metadata behind samples") }
        switch match.1 {
        case "TYPE":
            guard families[name]?.type == "" else { throw Wrong("a type twice") }
            guard ["counter", "gauge", "info", "stateset", "summary"].contains(text) else { throw Wrong("a type") }
            families[name]?.type = text
        case "UNIT":
            guard families[name]?.unit == nil, name.hasSuffix("_\(text)"), !text.isEmpty else { throw Wrong("a unit") }
            families[name]?.unit = text
        default:
            guard families[name]?.help == nil else { throw Wrong("a help twice") }
            families[name]?.help = try Self.unescaped(text[...])
        }
    }

    private static func sample(_ line: String) throws(Wrong) -> Sample {
        let name = line.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        guard let first = name.first, !first.isNumber else { throw Wrong("no name") }
        var rest = line[name.endIndex...]
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while true {
                guard let match = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/) else {
                    throw Wrong("no label")
                }
                guard labels.updateValue(try unescaped(match.2), forKey: String(match.1)) == nil else {
                    throw Wrong("a label twice")
                }
                rest = rest[match.range.upperBound...]
                let next = rest.popFirst()
                if next == "}" { break }
                guard next == "," else { throw Wrong("labels without an end") }
            }
        }
        guard let match = rest.wholeMatch(of: /\ (NaN|[+-]?Inf|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/),
            let value = Double(match.1)
        else { throw Wrong("no number") }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private static func unescaped(_ text: Substring) throws(Wrong) -> String {
        var result = ""
        var rest = text
        while let character = rest.popFirst() {
            guard character == "\\" else {
                guard character != "\"" else { throw Wrong("a bare quote") }
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result += "\\"
            case "n": result += "\n"
            case "\"": result += "\""
            default: throw Wrong("an escape")
            }
        }
        return result
    }

    /// Checks the rules of each type for its samples.
    private static func judge(_ name: String, _ family: Family) throws(Wrong) {
        guard !family.samples.isEmpty else { throw Wrong("no samples") }
        guard family.help?.isEmpty == false else { throw Wrong("no help") }
        for sample in family.samples {
            let suffix = sample.name.dropFirst(name.count)
            let isWhole = sample.value >= 0 && sample.value.rounded() == sample.value
            let isRight =
                switch family.type {
                case "counter": suffix == "_total" && sample.value >= 0
                case "gauge": suffix == ""
                case "info": suffix == "_info" && sample.value == 1 && family.unit == nil
                case "stateset":
                    suffix == "" && sample.labels[name] != nil && [0, 1].contains(sample.value) && family.unit == nil
                case "summary":
                    suffix == "_count" && isWhole || suffix == "_sum"
                        || suffix == ""
                            && (Double(sample.labels["quantile"] ?? "").map { (0...1).contains($0) } ?? false)
                            && !(sample.value < 0)
                default: false
                }
            guard isRight else { throw Wrong("\(sample) is none of a \(family.type)") }
        }
    }
}
