internal import CoreMetrics
internal import Glibc
internal import StrataCore
internal import Tracing

/// What a module's runtime tells of itself: metrics, spans, or both. There is
/// none where nobody asked for either, and then nothing is measured.
@ModuleActor
final class Telemetry {
    let tracing: ModuleTracing?
    let metrics: ModuleMetrics?

    /// Nil where nobody wants to know.
    init?(tracing: ModuleTracing?, factory: (any MetricsFactory)?) {
        guard tracing != nil || factory != nil else { return nil }
        self.tracing = tracing
        metrics = factory.map { ModuleMetrics($0) }
    }

    /// What the process is asked for: by the configuration, and by what the
    /// module has bootstrapped before its `register` returned.
    static func asked(by configuration: Configuration, module: String) -> Telemetry? {
        let factory = configuration.metrics ?? MetricsSystem.factory
        return Telemetry(
            tracing: tracing(configuration, module), factory: factory is NOOPMetricsHandler ? nil : factory)
    }

    /// The module's own tracer before that of `STRATA_SPANS`.
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
        // So that `withSpan`, of the module and of libraries, nests in these.
        if InstrumentationSystem.instrument is NoOpInstrument { InstrumentationSystem.bootstrap(tracer) }
        return ModuleTracing(tracer, resource)
    }

    // MARK: Requests of others

    /// Begins a call or an event that came.
    /// - Parameter isKnown: whether there is such an action; a caller may write
    ///   anything.
    /// - Returns: where it is measured.
    @discardableResult
    func begin(_ call: IncomingCall, _ subject: Subject, isKnown: Bool = true, from sender: String) -> Series? {
        let span = tracing?.serve(subject, from: sender, trace: call.trace)
        let series = metrics.map { isKnown ? $0.handled[subject] : $0.handled.undeclared(subject) }
        call.begin(Measurement(series, span.map { RequestSpan($0) }))
        call.spanBegan(span?.context)
        return series
    }

    /// Begins a notice that came.
    func begin(notice call: IncomingCall, _ subject: Subject, missed: Int64, from sender: String) {
        let span = tracing?.serve(subject, from: sender, trace: call.trace)
        call.begin(Measurement(metrics?.noticesHandled[subject], span.map { RequestSpan($0) }))
        call.spanBegan(span?.context)
        if missed > 0 { metrics?.missed(missed, of: subject.name) }
    }

    // MARK: Requests of this side

    /// Begins a request of this side, which from then on carries the trace.
    func begin(_ outgoing: inout Outgoing) -> Measurement {
        let subject = Subject(outgoing)
        let table = subject.isNotice ? metrics?.noticesSent : metrics?.requests
        let span = tracing?.request(&outgoing, subject, CallScope.current)
        return Measurement(table?[subject], span.map { RequestSpan($0) })
    }
}
