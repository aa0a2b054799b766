internal import CoreMetrics
internal import StrataCore

/// The metrics of one name: how often with which outcome, and how long. Each
/// is made once and kept.
@ModuleActor
final class Series {
    /// Outcomes that are told apart; all further ones are `other`. The bus has
    /// thirty codes, a module's own come on top.
    static let mostCodes = 64
    private static let done = "ok"

    private let factory: any MetricsFactory
    private let counter: String
    private let labels: [(String, String)]
    private let timer: CoreMetrics.Timer?
    private var counters: [String: Counter] = [:]

    init(_ factory: any MetricsFactory, counter: String, timer: String?, labels: [(String, String)]) {
        self.factory = factory
        self.counter = counter
        self.labels = labels
        self.timer = timer.map { CoreMetrics.Timer(label: $0, dimensions: labels, factory: factory) }
    }

    /// - Parameter code: nil where it ended well.
    func ended(_ code: ErrorCode?, nanoseconds: UInt64?) {
        count(code?.rawValue ?? Self.done).increment()
        if let nanoseconds { timer?.recordNanoseconds(Int64(clamping: nanoseconds)) }
    }

    private func count(_ code: String) -> Counter {
        if let known = counters[code] { return known }
        let code = counters.count < Self.mostCodes ? code : Subject.other
        if let known = counters[code] { return known }
        let made = Counter(label: counter, dimensions: labels + [("code", code)], factory: factory)
        counters[code] = made
        return made
    }
}

/// The series of all names that a metric has. The number of names is bounded:
/// those that come when it is reached are `other` together.
@ModuleActor
final class SeriesTable {
    static let most = 256

    private let factory: any MetricsFactory
    private let counter: String
    private let timer: String?
    private var series: [Subject: Series] = [:]

    /// - Parameters:
    ///   - counter: the name of what is counted.
    ///   - timer: the name of what is timed, where it is.
    init(_ factory: any MetricsFactory, counter: String, timer: String?) {
        self.factory = factory
        self.counter = counter
        self.timer = timer
    }

    subscript(subject: Subject) -> Series {
        if let known = series[subject] { return known }
        guard series.count < Self.most else { return make(Self.other(subject)) }
        return make(subject)
    }

    /// The series of a name that nobody declared, and that so has none.
    func undeclared(_ subject: Subject) -> Series { make(Self.other(subject)) }

    private func make(_ subject: Subject) -> Series {
        if let known = series[subject] { return known }
        let made = Series(factory, counter: counter, timer: timer, labels: Self.labels(subject))
        series[subject] = made
        return made
    }

    private static func other(_ subject: Subject) -> Subject {
        Subject(subject.kind, subject.isNotice || subject.kind == .event ? Subject.other : "other/other")
    }

    /// Always the same names in the same order: exporters demand it.
    private static func labels(_ subject: Subject) -> [(String, String)] {
        if subject.isNotice { return [("kind", subject.kind.rawValue), ("name", subject.name)] }
        let isEvent = subject.kind == .event
        return [
            ("kind", subject.kind.rawValue), ("interface", isEvent ? "module" : subject.interface),
            ("action", isEvent ? subject.name : subject.action),
        ]
    }
}

/// How many of something there are at the moment.
@ModuleActor
final class OpenCount {
    private(set) var count = 0
    private let meter: Meter

    init(_ factory: any MetricsFactory, _ name: String) {
        meter = Meter(label: name, factory: factory)
        meter.set(0)
    }

    func change(by difference: Int) {
        count += difference
        meter.set(count)
    }
}
