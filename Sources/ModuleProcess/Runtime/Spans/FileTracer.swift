internal import StrataCore
internal import Tracing

/// The tracer behind `STRATA_SPANS`. It makes spans, and writes each ended span as a line of OTLP
/// JSON.
///
/// A trace whose sampled flag isn't set makes no spans here, and is passed on unchanged.
final class FileTracer: Tracer {
    let file: SpanFile
    private let resource: SpanResource

    init(_ file: SpanFile, _ resource: SpanResource) {
        self.file = file
        self.resource = resource
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context given: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> FileSpan {
        var context = given()
        let parent = context[TraceContextKey.self]
        if let parent, !parent.isSampled { return FileSpan(context) }
        let place = parent?.child() ?? TraceContext()
        context[TraceContextKey.self] = place
        return FileSpan(
            context, place, parent: parent?.span, operationName, kind, at: instant().nanosecondsSinceEpoch
        ) { [file, resource] in file.add($0, of: resource) }
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let place = context[TraceContextKey.self] else { return }
        injector.inject(place.traceparent, forKey: TraceCarrier.traceparent, into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: TraceCarrier.traceparent, from: carrier),
            let place = TraceContext(Array(text.utf8))
        else { return }
        context[TraceContextKey.self] = place
    }

    func forceFlush() { file.flush(within: 1_000) }
}

/// The key of the current span in a service context.
enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "strata-trace" }
}

/// A `traceparent` on its way between a header and a tracer.
struct TraceCarrier: Injector, Extractor {
    static let traceparent = "traceparent"

    func inject(_ value: String, forKey key: String, into carrier: inout String) {
        // The bus carries no other key: a `tracestate` has no place in a header.
        if key.lowercased() == Self.traceparent { carrier = value }
    }

    func extract(key: String, from carrier: String) -> String? {
        key.lowercased() == Self.traceparent ? carrier : nil
    }
}
