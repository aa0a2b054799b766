public import StrataCore

/// The modules' own metrics, as families beside those of the bus. Each sample has its module's name
/// as a label. Each family has a name that OpenMetrics allows and that no other family has.
struct MeasuredFamilies {
    private struct Key: Hashable {
        let label: String
        let kind: MetricFamily.Kind
        let unit: String
    }

    private struct Told: Hashable {
        let key: Key
        let labels: [String]
    }

    private(set) var families: [MetricFamily] = []
    private var places: [Key: Int] = [:]
    /// The names of all families and of their samples.
    private var taken: Set<String> = []
    /// The metrics already added, so that each appears only once.
    private var told: Set<Told> = []

    /// - Parameter present: the families that exist already, whose names are taken.
    init(beside present: [MetricFamily]) {
        for family in present { taken.formUnion(Self.names(family.name, family.kind)) }
    }

    /// Adds the metrics from a module's answer. A metric that doesn't match `module/metrics` is
    /// left out and counts as dropped.
    /// - Returns: the number of its metrics that are left out or were never kept.
    mutating func add(_ module: String, _ answer: JSON) -> Int64 {
        var dropped = answer["dropped"]?.integer ?? 0
        for metric in answer["metrics"]?.array ?? [] where !add(metric, of: module) { dropped += 1 }
        return dropped
    }

    private mutating func add(_ metric: JSON, of module: String) -> Bool {
        let unit = metric["unit"]?.string ?? ""
        guard let label = metric["name"]?.string, !label.isEmpty,
            let kind = metric["type"]?.string.flatMap(MetricFamily.Kind.init),
            let samples = Self.samples(metric, kind), unit.unicodeScalars.allSatisfy(Self.isAllowed)
        else { return false }
        let key = Key(label: label, kind: kind, unit: unit)
        let labels = [("module", module)] + Self.labels(metric["labels"])
        guard told.insert(Told(key: key, labels: labels.map { "\($0.0)=\($0.1)" })).inserted else { return false }
        let place = places[key] ?? make(key)
        places[key] = place
        for sample in samples {
            families[place].samples.append(
                .init(suffix: sample.suffix, labels: labels + sample.labels, value: sample.value))
        }
        return true
    }

    /// Returns the samples of a metric; nil if something is missing.
    private static func samples(_ metric: JSON, _ kind: MetricFamily.Kind) -> [MetricFamily.Sample]? {
        switch kind {
        case .counter:
            guard let value = metric["value"], value != .null, let number = MetricValue(json: value),
                !number.isNegative
            else { return nil }
            return [.init(suffix: "_total", value: number)]
        case .gauge:
            guard let number = metric["value"].flatMap(MetricValue.init(json:)) else { return nil }
            return [.init(value: number)]
        case .summary:
            guard let count = metric["count"]?.integer, count >= 0,
                let sum = metric["sum"].flatMap(MetricValue.init(json:))
            else { return nil }
            var samples: [MetricFamily.Sample] = []
            for member in metric["quantiles"]?.object ?? [] {
                guard let share = Double(member.name), (0...1).contains(share),
                    let value = MetricValue(json: member.value)
                else { return nil }
                samples.append(.init(labels: [("quantile", member.name)], value: value))
            }
            return samples + [.init(suffix: "_count", value: MetricValue(count)), .init(suffix: "_sum", value: sum)]
        case .info, .stateset: return nil
        }
    }

    /// Makes a family for a label and a kind. If its name is taken, the kind is appended to it, and
    /// then a number.
    private mutating func make(_ key: Key) -> Int {
        var base = Self.name(key.label)
        if key.kind == .counter, base.hasSuffix("_total"), base.utf8.count > 6 { base.removeLast(6) }
        if !key.unit.isEmpty, base.hasSuffix("_\(key.unit)") { base.removeLast(key.unit.utf8.count + 1) }
        let end = key.unit.isEmpty ? "" : "_\(key.unit)"
        var name = base + end
        var number = 1
        while !taken.isDisjoint(with: Self.names(name, key.kind)) {
            name = "\(base)_\(key.kind.rawValue)\(number == 1 ? "" : "_\(number)")\(end)"
            number += 1
        }
        taken.formUnion(Self.names(name, key.kind))
        families.append(
            MetricFamily(
                name, key.kind, unit: key.unit, RuntimeMetrics.help[key.label] ?? "\(key.label), as modules measure it."
            ))
        return families.count - 1
    }

    /// Returns the names that a family takes.
    private static func names(_ name: String, _ kind: MetricFamily.Kind) -> Set<String> {
        switch kind {
        case .counter: [name, "\(name)_total", "\(name)_created"]
        case .summary: [name, "\(name)_count", "\(name)_sum", "\(name)_created"]
        case .info: [name, "\(name)_info"]
        case .gauge, .stateset: [name]
        }
    }

    /// Returns a valid name: `notes_saved` for `notes.saved`.
    private static func name(_ text: String) -> String {
        let name = String(text.unicodeScalars.map { isAllowed($0) || $0 == ":" ? Character($0) : "_" })
        return name.first?.isNumber == true ? "_\(name)" : name
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
    }

    /// Returns labels with valid names. If a label's name is taken, by the module's label or by
    /// another one, it gets a prefix, as in Prometheus.
    private static func labels(_ labels: JSON?) -> [(name: String, value: String)] {
        var taken: Set = ["module", "quantile"]
        return (labels?.object ?? []).map { member in
            var name = self.name(member.name).replacing(":", with: "_")
            while !taken.insert(name).inserted { name = "exported_\(name)" }
            return (name, member.value.string ?? member.value.description)
        }
    }
}

/// A module's answer to a request for its metrics.
public struct MeasuredModule: Sendable {
    /// The module's name.
    public let name: String
    /// The metrics, as `module/metrics` of the protocol defines them; nil if the module has metrics
    /// but did not report them.
    public let answer: JSON?

    /// - Returns: nil for a module that keeps no metrics, and for one that has stopped since.
    init?(_ name: String, _ answer: BusClient.Answer) {
        self.name = name
        switch answer {
        case .success(let body):
            let told = try? JSON(parsing: body)
            self.answer = told?["metrics"]?.array == nil ? Optional.none : told
        case .failure(let error):
            guard error.code != .unknownAction, error.code != .unavailable, error.code != .unknownModule else {
                return nil
            }
            self.answer = nil
        }
    }

    /// Returns the request for a module's metrics, which has 1 s to answer.
    static func request(_ name: String) -> Request {
        Request(to: "bus/metrics", ["module": .string(name)], deadline: 1_000)
    }
}

/// The metrics that the Swift runtime keeps in each module: docs/observability.md.
enum RuntimeMetrics {
    /// The help texts by the runtime's names.
    static let help = [
        "strata_requests_total": "Requests that a module made.",
        "strata_request_duration_seconds": "From a module's request to its final answer.",
        "strata_open_requests": "Requests and reports that a module made and that aren't answered yet.",
        "strata_handled_requests_total": "Calls, streams, events and lifecycle steps that a module handled.",
        "strata_handled_request_duration_seconds": "From a request's arrival at a module to its answer.",
        "strata_open_handled_requests": "Requests that a module is handling.",
        "strata_sent_notices_total": "Broadcasts and reports that a module sent.",
        "strata_handled_notices_total": "Notices that a module handled.",
        "strata_handled_notice_duration_seconds": "From a notice's arrival at a module to the end of its observer.",
        "strata_open_handled_notices": "Notices that a module is handling, or that wait for it.",
        "strata_waiting_notices": "Notices that wait because a module handles as many as it can.",
        "strata_missed_notices_total": "Notices that an observation did not get, because a newer one took their place.",
        "strata_credit_wait_seconds": "How long elements of streams waited for their reader.",
        "strata_connections_total": "Hellos of a module that the bus answered.",
    ]
}
