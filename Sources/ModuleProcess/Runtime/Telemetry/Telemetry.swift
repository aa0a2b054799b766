internal import CoreMetrics
internal import Glibc
internal import StrataCore
internal import Tracing

/// The metrics and spans of a module's process. There is none if neither was asked for, and then
/// nothing is measured.
@ModuleActor
final class Telemetry {
    let tracing: ModuleTracing?
    let metrics: ModuleMetrics?

    /// Nil if neither metrics nor spans are wanted.
    init?(tracing: ModuleTracing?, factory: (any MetricsFactory)?) {
        guard tracing != nil || factory != nil else { return nil }
        self.tracing = tracing
        metrics = factory.map { ModuleMetrics($0) }
    }

    /// Creates the telemetry that the configuration asks for, or that the module has bootstrapped
    /// before its `register` returned.
    static func asked(by configuration: Configuration, module: String) -> Telemetry? {
        let factory = configuration.metrics ?? MetricsSystem.factory
        return Telemetry(
            tracing: tracing(configuration, module), factory: factory is NOOPMetricsHandler ? nil : factory)
    }

    /// Returns the module's own tracer, or else the one that `STRATA_SPANS` asks for.
    private static func tracing(_ configuration: Configuration, _ module: String) -> ModuleTracing? {
        if let tracer = configuration.tracer { return ModuleTracing(tracer) }
        let own = InstrumentationSystem.tracer
        guard own is NoOpTracer else { return ModuleTracing(own) }
        guard let path = configuration.spans else { return nil }
        guard let file = SpanFile(path: path) else {
            let reason = String(cString: strerror(errno))
            ModuleLog.logger.error(
                "\(module) writes no spans: \(path), which STRATA_SPANS names, can't be opened: \(reason)")
            return nil
        }
        let resource = SpanResource(module: module, pid: getpid())
        let tracer = FileTracer(file, resource)
        // Spans that the module or a library makes with `withSpan` then nest in these.
        if InstrumentationSystem.instrument is NoOpInstrument { InstrumentationSystem.bootstrap(tracer) }
        return ModuleTracing(tracer, resource)
    }

    // MARK: Incoming requests

    /// Begins the measurement of an incoming call or event.
    /// - Parameter isKnown: Whether such an action exists; a caller may write anything.
    /// - Returns: The series that counts it.
    @discardableResult
    func begin(_ call: IncomingCall, _ subject: Subject, isKnown: Bool = true, from sender: String) -> Series? {
        let span = tracing?.serve(subject, from: sender, trace: call.trace)
        let series = metrics.map { isKnown ? $0.handled[subject] : $0.handled.undeclared(subject) }
        call.begin(Measurement(series, span.map { RequestSpan($0) }))
        call.spanBegan(span?.context)
        return series
    }

    /// Begins the measurement of an incoming notice.
    func begin(notice call: IncomingCall, _ subject: Subject, missed: Int64, from sender: String) {
        let span = tracing?.serve(subject, from: sender, trace: call.trace)
        call.begin(Measurement(metrics?.noticesHandled[subject], span.map { RequestSpan($0) }))
        call.spanBegan(span?.context)
        if missed > 0 { metrics?.missed(missed, of: subject.name) }
    }

    // MARK: Outgoing requests

    /// Begins the measurement of an outgoing request, and puts the span into its trace.
    func begin(_ outgoing: inout Outgoing) -> Measurement {
        let subject = Subject(outgoing)
        let table = subject.isNotice ? metrics?.noticesSent : metrics?.requests
        let span = tracing?.request(&outgoing, subject, CallScope.current)
        return Measurement(table?[subject], span.map { RequestSpan($0) })
    }
}
