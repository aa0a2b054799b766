internal import CoreMetrics
internal import StrataCore

/// The metrics of one name: a counter for each outcome, and a timer. Each metric is created once
/// and kept.
@ModuleActor
final class Series {
    /// The most outcomes that are counted apart; further ones count as `other`. The bus has thirty
    /// codes, and modules add their own.
    static let mostCodes = 64

    /// The count of open requests, shared by all names; nil if it isn't counted.
    let open: OpenCount?
    private let factory: any MetricsFactory
    private let counter: String
    private let labels: [(String, String)]
    private let timer: (any TimerHandler)?
    private let creditWaits: (any TimerHandler)?
    /// The counter of successes.
    @exclusivity(unchecked) private var done: (any CounterHandler)?
    private var failed: [String: any CounterHandler] = [:]

    init(
        _ factory: any MetricsFactory, counter: String, timer: String?, open: OpenCount?,
        creditWaits: (any TimerHandler)?, labels: [(String, String)]
    ) {
        self.open = open
        self.creditWaits = creditWaits
        self.factory = factory
        self.counter = counter
        self.labels = labels
        self.timer = timer.map { factory.makeTimer(label: $0, dimensions: labels) }
    }

    /// Records the end of one request.
    /// - Parameter code: Nil if it succeeded.
    func ended(_ code: ErrorCode?, nanoseconds: UInt64) {
        if code == nil, let done {
            done.increment(by: 1)
        } else {
            count(code).increment(by: 1)
        }
        timer?.recordNanoseconds(Int64(clamping: nanoseconds))
    }

    /// Records how long a stream's next element waited for the caller's credit.
    func waitedForCredit(nanoseconds: UInt64) { creditWaits?.recordNanoseconds(Int64(clamping: nanoseconds)) }

    private func count(_ code: ErrorCode?) -> any CounterHandler {
        guard let code = code?.rawValue else {
            let made = make("ok")
            done = made
            return made
        }
        if let known = failed[code] { return known }
        let name = failed.count + (done == nil ? 0 : 1) < Self.mostCodes ? code : Subject.other
        if let known = failed[name] { return known }
        let made = make(name)
        failed[name] = made
        return made
    }

    private func make(_ code: String) -> any CounterHandler {
        factory.makeCounter(label: counter, dimensions: labels + [("code", code)])
    }
}

/// The series of all names of a metric. The number of names is limited: names beyond the limit
/// share the series `other`.
@ModuleActor
final class SeriesTable {
    static let most = 256

    private let factory: any MetricsFactory
    private let counter: String
    private let timer: String?
    private let open: OpenCount?
    private let creditWaits: (any TimerHandler)?
    private var series: [Subject: Series] = [:]
    /// The series of recently called names, so that most calls need no hashing.
    @exclusivity(unchecked) private var latest = [(name: String, series: Series)?](repeating: nil, count: 16)

    /// Creates an empty table.
    /// - Parameters:
    ///   - counter: The name of the counter.
    ///   - timer: The name of the timer; nil if nothing is timed.
    ///   - creditWaits: The timer of how long streams wait for credit; nil if that isn't timed.
    init(
        _ factory: any MetricsFactory, counter: String, timer: String?, open: OpenCount?,
        creditWaits: (any TimerHandler)? = nil
    ) {
        self.creditWaits = creditWaits
        self.factory = factory
        self.counter = counter
        self.timer = timer
        self.open = open
    }

    subscript(subject: Subject) -> Series {
        if let known = series[subject] { return known }
        guard series.count < Self.most else { return make(Self.other(subject)) }
        return make(subject)
    }

    /// The series of calls to `Interface/action`, or to that action of an instance.
    subscript(call destination: String) -> Series {
        // Comparing is cheap: most names are literals with the same address, or up to 15 bytes
        // stored in the value itself.
        let place = destination.utf8.count & (latest.count - 1)
        if let latest = latest[place], latest.name == destination { return latest.series }
        let series = self[Subject(.call, to: destination)]
        latest[place] = (destination, series)
        return series
    }

    /// The series of a name that is not declared, which has no series of its own.
    func undeclared(_ subject: Subject) -> Series { make(Self.other(subject)) }

    private func make(_ subject: Subject) -> Series {
        if let known = series[subject] { return known }
        // A broadcast gets no answer.
        let open = subject.kind == .broadcast && timer == nil ? nil : open
        let made = Series(
            factory, counter: counter, timer: timer, open: open, creditWaits: creditWaits, labels: Self.labels(subject))
        series[subject] = made
        return made
    }

    private static func other(_ subject: Subject) -> Subject {
        Subject(subject.kind, subject.isNotice || subject.kind == .event ? Subject.other : "other/other")
    }

    /// The labels are always the same names in the same order, because exporters demand it.
    private static func labels(_ subject: Subject) -> [(String, String)] {
        if subject.isNotice { return [("kind", subject.kind.rawValue), ("name", subject.name)] }
        let isEvent = subject.kind == .event
        return [
            ("kind", subject.kind.rawValue), ("interface", isEvent ? "module" : subject.interface),
            ("action", isEvent ? subject.name : subject.action),
        ]
    }
}

/// The current number of something, such as open requests.
@ModuleActor
final class OpenCount {
    @exclusivity(unchecked) private(set) var count: Int64 = 0
    private let meter: any MeterHandler

    init(_ factory: any MetricsFactory, _ name: String) {
        meter = factory.makeMeter(label: name, dimensions: [])
        meter.set(Int64(0))
    }

    func change(by difference: Int64) {
        count += difference
        meter.set(count)
    }
}
