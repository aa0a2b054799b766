internal import CoreMetrics
internal import StrataCore

/// The metrics of the module's requests and notices, which it reports to its `MetricsFactory`.
/// docs/observability.md lists their names and meanings.
///
/// It calls the metric handlers directly: swift-metrics' own objects convert each number once more,
/// which costs more than recording it.
@ModuleActor
final class ModuleMetrics {
    let requests: SeriesTable
    let handled: SeriesTable
    let noticesSent: SeriesTable
    let noticesHandled: SeriesTable
    let waitingNotices: OpenCount
    private let connections: any CounterHandler
    private let missed: MissedTable

    init(_ factory: any MetricsFactory) {
        waitingNotices = OpenCount(factory, "strata_waiting_notices")
        connections = factory.makeCounter(label: "strata_connections_total", dimensions: [])
        let creditWaits = factory.makeTimer(label: "strata_credit_wait_seconds", dimensions: [])
        missed = MissedTable(factory)
        let openRequests = OpenCount(factory, "strata_open_requests")
        requests = SeriesTable(
            factory, counter: "strata_requests_total", timer: "strata_request_duration_seconds",
            open: openRequests)
        handled = SeriesTable(
            factory, counter: "strata_handled_requests_total", timer: "strata_handled_request_duration_seconds",
            open: OpenCount(factory, "strata_open_handled_requests"), creditWaits: creditWaits)
        noticesSent = SeriesTable(
            factory, counter: "strata_sent_notices_total", timer: nil, open: openRequests)
        noticesHandled = SeriesTable(
            factory, counter: "strata_handled_notices_total", timer: "strata_handled_notice_duration_seconds",
            open: OpenCount(factory, "strata_open_handled_notices"))
    }

    /// Counts a connection: hello was answered.
    func connected() { connections.increment(by: 1) }

    /// Counts the notices that an observation missed because it keeps only the latest.
    func missed(_ count: Int64, of name: String) { missed.add(count, name) }
}

/// The counters of notices that newer ones replaced, by notice name.
@ModuleActor
private final class MissedTable {
    private let factory: any MetricsFactory
    private var counters: [String: any CounterHandler] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func add(_ count: Int64, _ name: String) {
        counter(name).increment(by: count)
    }

    private func counter(_ name: String) -> any CounterHandler {
        if let known = counters[name] { return known }
        let name = counters.count < SeriesTable.most ? name : Subject.other
        if let known = counters[name] { return known }
        let made = factory.makeCounter(label: "strata_missed_notices_total", dimensions: [("name", name)])
        counters[name] = made
        return made
    }
}
