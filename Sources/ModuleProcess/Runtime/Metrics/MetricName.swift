internal import StrataCore

/// Which metric it is: its kind, label and dimensions.
struct MetricName: Hashable, Comparable {
    enum Kind: Int {
        case counter, fractionalCounter, gauge, summary, timer

        /// As `module/metrics` tells it. A timer is a summary of seconds.
        var word: JSON {
            switch self {
            case .counter, .fractionalCounter: "counter"
            case .gauge: "gauge"
            case .summary, .timer: "summary"
            }
        }
    }

    let kind: Kind
    let label: String
    /// Names and values in turn; of a name given twice the last value.
    private let dimensions: [String]

    init(_ kind: Kind, _ label: String, _ dimensions: [(String, String)]) {
        self.kind = kind
        self.label = label
        var flat: [String] = []
        flat.reserveCapacity(dimensions.count * 2)
        for (name, value) in dimensions {
            if let known = stride(from: 0, to: flat.count, by: 2).first(where: { flat[$0] == name }) {
                flat[known + 1] = value
            } else {
                flat += [name, value]
            }
        }
        self.dimensions = flat
    }

    var bytes: Int { dimensions.reduce(label.utf8.count) { $0 + $1.utf8.count } }

    /// What a metric's JSON begins with.
    var members: [JSON.Member] {
        var members = [JSON.Member("name", .string(label)), JSON.Member("type", kind.word)]
        if kind == .timer { members.append(JSON.Member("unit", "seconds")) }
        if !dimensions.isEmpty {
            let labels = stride(from: 0, to: dimensions.count, by: 2).map {
                JSON.Member(dimensions[$0], .string(dimensions[$0 + 1]))
            }
            members.append(JSON.Member("labels", .object(labels)))
        }
        return members
    }

    static func < (left: MetricName, right: MetricName) -> Bool {
        if left.label != right.label { return left.label < right.label }
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        return left.dimensions.lexicographicallyPrecedes(right.dimensions)
    }
}
