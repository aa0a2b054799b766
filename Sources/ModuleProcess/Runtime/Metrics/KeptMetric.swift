internal import CoreMetrics
internal import Glibc
internal import StrataCore
internal import Synchronization

/// A metric of `BusMetrics`. Any thread may change it.
protocol KeptMetric: AnyObject, Sendable {
    /// Returns the metric's value or values in the form of `module/metrics`.
    func members(of kind: MetricName.Kind) -> [JSON.Member]
}

/// A whole number that only grows.
final class KeptCounter: KeptMetric, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func members(of kind: MetricName.Kind) -> [JSON.Member] {
        [JSON.Member("value", .integer(value.load(ordering: .relaxed)))]
    }
}

/// A number that is set or changed: a meter, a gauge or a fractional counter.
final class KeptNumber: KeptMetric, MeterHandler, RecorderHandler, FloatingPointCounterHandler {
    /// The bits of a `Double`.
    private let bits = Atomic<UInt64>(0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func reset() { set(0.0) }
    func decrement(by amount: Double) { increment(by: -amount) }

    func increment(by amount: Double) {
        var known = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: known) + amount).bitPattern
            let (isDone, found) = bits.weakCompareExchange(expected: known, desired: sum, ordering: .relaxed)
            if isDone { return }
            known = found
        }
    }

    func members(of kind: MetricName.Kind) -> [JSON.Member] {
        [JSON.Member("value", .measured(Double(bitPattern: bits.load(ordering: .relaxed))))]
    }
}

/// The distribution of a timer's values in nanoseconds, or of a recorder's values. Values are
/// counted in steps of 2^-20: a smaller value counts as 0, and one of 2^44 or more as nearly 2^44.
///
/// It has its own lock because `Locked` holds only copyable values. `@unchecked Sendable` because
/// the values are accessed only under that lock.
final class KeptSummary: KeptMetric, TimerHandler, RecorderHandler, @unchecked Sendable {
    /// The number of steps in a value of 1: the histogram counts whole numbers only.
    private static let scale = 0x1p20
    private static let largestCounted = 0x1p44

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @exclusivity(unchecked) private var histogram = Histogram()
    private var sum = 0.0
    private var largest = -Double.infinity

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration)) }
    func record(_ value: Int64) { record(Double(value)) }

    /// Records a value; NaN is ignored.
    func record(_ value: Double) {
        guard !value.isNaN else { return }
        pthread_mutex_lock(mutex)
        histogram.record(UInt64(min(max(value, 0), Self.largestCounted.nextDown) * Self.scale))
        sum += value
        largest = max(largest, value)
        pthread_mutex_unlock(mutex)
    }

    func members(of kind: MetricName.Kind) -> [JSON.Member] {
        let scale = kind == .timer ? 1e9 : 1
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let quantiles = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)].map { name, share in
            JSON.Member(name, percentile(share).map { .measured($0 / scale) } ?? .null)
        }
        return [
            JSON.Member("count", .integer(Int64(clamping: histogram.count))),
            JSON.Member("sum", .measured(sum / scale)), JSON.Member("quantiles", .object(quantiles)),
        ]
    }

    private func percentile(_ share: Double) -> Double? {
        guard histogram.count > 0 else { return nil }
        // A slot reaches to the step after its upper bound.
        return min((Double(histogram.percentile(share)) + 1) / Self.scale, largest)
    }
}

extension JSON {
    /// Returns the number as JSON: an integer if it is whole, null if it is not finite.
    fileprivate static func measured(_ number: Double) -> JSON {
        guard number.isFinite else { return .null }
        return abs(number) < 0x1p53 && number.rounded() == number ? .integer(Int64(number)) : .number(number)
    }
}

/// The identity of a metric: its kind, label and dimensions.
struct MetricName: Hashable, Comparable {
    enum Kind: Int {
        case counter, fractionalCounter, gauge, summary, timer

        /// The kind's name in `module/metrics`. A timer is a summary in seconds.
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
    /// Names and values alternately; if a name was given twice, its last value.
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

    /// The first members of the metric's JSON.
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
