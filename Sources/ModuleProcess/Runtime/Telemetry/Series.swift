internal import CoreMetrics
internal import StrataCore

/// The metrics of one name: how often with which outcome, and how long. Each
/// is made once and kept.
@ModuleActor
final class Series {
    /// Outcomes that are told apart; all further ones are `other`. The bus has
    /// thirty codes, a module's own come on top.
    static let mostCodes = 64

    /// Those of all names that have no end yet; nil where that is not counted.
    let open: OpenCount?
    private let factory: any MetricsFactory
    private let counter: String
    private let labels: [(String, String)]
    private let timer: (any TimerHandler)?
    private let creditWaits: (any TimerHandler)?
    /// What ended well.
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

    /// - Parameter code: nil where it ended well.
    func ended(_ code: ErrorCode?, nanoseconds: UInt64) {
        if code == nil, let done {
            done.increment(by: 1)
        } else {
            count(code).increment(by: 1)
        }
        timer?.recordNanoseconds(Int64(clamping: nanoseconds))
    }

    /// A stream's next element had to wait for the caller to take one.
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

/// The series of all names that a metric has. The number of names is bounded:
/// those that come when it is reached are `other` together.
@ModuleActor
final class SeriesTable {
    static let most = 256

    private let factory: any MetricsFactory
    private let counter: String
    private let timer: String?
    private let open: OpenCount?
    private let creditWaits: (any TimerHandler)?
    private var series: [Subject: Series] = [:]
    /// Those of requests to the names that came last, so that most need no hashing.
    @exclusivity(unchecked) private var latest = [(name: String, series: Series)?](repeating: nil, count: 16)

    /// - Parameters:
    ///   - counter: the name of what is counted.
    ///   - timer: the name of what is timed, where it is.
    ///   - creditWaits: where streams wait for credit, how long they did.
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

    /// The series of calls to `Interface/action`, or to an instance's.
    subscript(call destination: String) -> Series {
        // Most are literals: the same bytes at the same place, or 15 at most in the value itself.
        let place = destination.utf8.count & (latest.count - 1)
        if let latest = latest[place], latest.name == destination { return latest.series }
        let series = self[Subject(.call, to: destination)]
        latest[place] = (destination, series)
        return series
    }

    /// The series of a name that nobody declared, and that so has none.
    func undeclared(_ subject: Subject) -> Series { make(Self.other(subject)) }

    private func make(_ subject: Subject) -> Series {
        if let known = series[subject] { return known }
        // Nobody answers a broadcast.
        let open = subject.kind == .broadcast && timer == nil ? nil : open
        let made = Series(
            factory, counter: counter, timer: timer, open: open, creditWaits: creditWaits, labels: Self.labels(subject))
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
