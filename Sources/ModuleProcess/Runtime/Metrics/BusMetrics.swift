public import CoreMetrics
internal import StrataCore

/// Keeps a module's metrics in the memory of its process, where `strata metrics` reads them.
///
/// This is where a module's metrics go, unless its `metrics` says otherwise. To use another
/// exporter too, combine both:
///
///     static var metrics: any MetricsFactory {
///         MultiplexMetricsHandler(factories: [BusMetrics.shared, exporter])
///     }
///
/// A metric is one label with its dimensions, of one kind; making the same metric again returns the
/// existing one. At most `mostMetrics` are kept. Metrics beyond that measure nothing and are
/// counted in `strata_module_dropped_metrics`; the log names the first of them. May be used on any
/// thread.
///
/// Percentiles of timers and recorders are accurate to 7 % between 10⁻⁶ and 10¹³. They cover all
/// values since the process began.
public final class BusMetrics: MetricsFactory, Sendable {
    /// The process's own metrics.
    public static let shared = BusMetrics()

    /// The most metrics that are kept.
    public static let mostMetrics = 1_024
    /// The most bytes that a metric's label and dimensions may have together.
    public static let longestName = 1_024

    private struct Registry {
        var metrics: [MetricName: any KeptMetric] = [:]
        var dropped: Int64 = 0
    }

    private let registry = Locked(Registry())

    init() {}

    // MARK: MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(.counter, label, dimensions) { KeptCounter() }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        metric(.fractionalCounter, label, dimensions) { KeptNumber() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(.gauge, label, dimensions) { KeptNumber() }
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return metric(.gauge, label, dimensions) { KeptNumber() } }
        return metric(.summary, label, dimensions) { KeptSummary() }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(.timer, label, dimensions) { KeptSummary() }
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    /// Returns the metric of a name, and makes it if there is none.
    private func metric<Metric: KeptMetric>(
        _ kind: MetricName.Kind, _ label: String, _ dimensions: [(String, String)], _ make: () -> Metric
    ) -> Metric {
        let name = MetricName(kind, label, dimensions)
        let (metric, isFirstDropped) = registry.withLock { registry -> (Metric, Bool) in
            // Because a kind always has the same class.
            if let known = registry.metrics[name] { return (known as! Metric, false) }
            let made = make()
            guard registry.metrics.count < Self.mostMetrics, name.bytes <= Self.longestName else {
                registry.dropped += 1
                return (made, registry.dropped == 1)
            }
            registry.metrics[name] = made
            return (made, false)
        }
        if isFirstDropped {
            let why =
                name.bytes > Self.longestName
                ? "its name and dimensions have \(name.bytes) bytes, over the limit of \(Self.longestName)"
                : "there are \(Self.mostMetrics) already: give dimensions fewer different values"
            ModuleLog.logger.warning(
                "the metric \(label.prefix(256)) is not kept, and neither are more like it: \(why)")
        }
        return metric
    }

    private func forget(_ handler: AnyObject) {
        registry.withLock { registry in
            guard let name = registry.metrics.first(where: { $0.value === handler })?.key else { return }
            registry.metrics[name] = nil
        }
    }

    // MARK: module/metrics

    /// The answer to `module/metrics`; nil if nothing was ever measured here.
    func answer() -> JSON? {
        let (metrics, dropped) = registry.withLock { ($0.metrics, $0.dropped) }
        guard !metrics.isEmpty || dropped > 0 else { return nil }
        let sorted = metrics.sorted { $0.key < $1.key }
        return [
            "metrics": .array(sorted.map { name, metric in .object(name.members + metric.members(of: name.kind)) }),
            "dropped": .integer(dropped),
        ]
    }
}
