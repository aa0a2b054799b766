internal import CoreMetrics
internal import StrataCore

/// What a module's process tells to the `MetricsFactory` that its main has
/// bootstrapped. The names and what they mean: docs/observability.md.
@ModuleActor
final class ModuleMetrics {
    let requests: SeriesTable
    let openRequests: OpenCount
    let handled: SeriesTable
    let openHandlers: OpenCount
    let noticesSent: SeriesTable
    let noticesHandled: SeriesTable
    let openNotices: OpenCount
    let waitingNotices: OpenCount
    private let connections: Counter
    private let creditWaits: CoreMetrics.Timer
    private let missed: MissedTable

    init(_ factory: any MetricsFactory) {
        requests = SeriesTable(factory, counter: "strata_requests_total", timer: "strata_request_duration_seconds")
        openRequests = OpenCount(factory, "strata_open_requests")
        handled = SeriesTable(
            factory, counter: "strata_handled_requests_total", timer: "strata_handled_request_duration_seconds")
        openHandlers = OpenCount(factory, "strata_open_handled_requests")
        noticesSent = SeriesTable(factory, counter: "strata_sent_notices_total", timer: nil)
        noticesHandled = SeriesTable(
            factory, counter: "strata_handled_notices_total", timer: "strata_handled_notice_duration_seconds")
        openNotices = OpenCount(factory, "strata_open_handled_notices")
        waitingNotices = OpenCount(factory, "strata_waiting_notices")
        connections = Counter(label: "strata_connections_total", factory: factory)
        creditWaits = CoreMetrics.Timer(label: "strata_credit_wait_seconds", factory: factory)
        missed = MissedTable(factory)
    }

    /// Hello was answered.
    func connected() { connections.increment() }

    /// A stream's next element had to wait for the caller to take one.
    func waitedForCredit(nanoseconds: UInt64) { creditWaits.recordNanoseconds(Int64(clamping: nanoseconds)) }

    /// An observation that keeps the latest notice alone did not get so many.
    func missed(_ count: Int64, of name: String) { missed.add(count, name) }
}

/// Notices that were replaced by newer ones, by their name.
@ModuleActor
private final class MissedTable {
    private let factory: any MetricsFactory
    private var counters: [String: Counter] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func add(_ count: Int64, _ name: String) {
        counter(name).increment(by: count)
    }

    private func counter(_ name: String) -> Counter {
        if let known = counters[name] { return known }
        let name = counters.count < SeriesTable.most ? name : Subject.other
        if let known = counters[name] { return known }
        let made = Counter(label: "strata_missed_notices_total", dimensions: [("name", name)], factory: factory)
        counters[name] = made
        return made
    }
}
