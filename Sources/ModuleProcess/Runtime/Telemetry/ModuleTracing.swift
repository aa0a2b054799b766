internal import StrataCore
internal import Tracing

/// A module's part in traces: a span for each request that it handles or
/// makes, and the `trace` that its requests carry on.
///
/// What can't be read as a `traceparent` is nobody's trace: no span is made for
/// it, and its bytes go on as they came.
@ModuleActor
final class ModuleTracing {
    let tracer: any Tracer
    private let resource: SpanResource?

    /// - Parameter resource: what `tracer` says of this process, where that is
    ///   the runtime's own.
    init(_ tracer: any Tracer, _ resource: SpanResource? = nil) {
        self.tracer = tracer
        self.resource = resource
    }

    func name(app: String) { resource?.name(app: app) }

    /// Waits for what is to be written, a second at most.
    func flush() { (tracer as? FileTracer)?.forceFlush() }

    // MARK: Requests of others

    /// A span for a request or a notice that came; nil where its trace is foreign.
    func serve(_ subject: Subject, from sender: String, trace: [UInt8]) -> (any Tracing.Span)? {
        var context = ServiceContext.topLevel
        if !trace.isEmpty {
            guard let place = TraceContext(json: trace) else { return nil }
            tracer.extract(place.traceparent, into: &context, using: TraceCarrier())
        }
        let isNotice = subject.isNotice || subject.kind == .event
        let name = isNotice ? "process \(subject.name)" : subject.name
        let span = start(name, context, isNotice ? .consumer : .server)
        guard span.isRecording else { return span }
        var attributes = Self.attributes(of: subject, operation: "process")
        attributes["strata.from"] = sender
        span.attributes = attributes
        return span
    }

    // MARK: Requests of this side

    /// A span for a request that is about to be sent, which then carries it as
    /// its trace; nil where it is made for one with a foreign trace.
    func request(_ outgoing: inout Outgoing, _ subject: Subject, _ scope: CallScope?) -> (any Tracing.Span)? {
        let current = ServiceContext.current
        if current == nil, let scope, !scope.trace.isEmpty, scope.context == nil { return nil }
        let name =
            switch subject.kind {
            case .open: "open"
            case .broadcast, .report: "send \(subject.name)"
            case .call, .stream, .event: subject.name
            }
        let span = start(name, current ?? .topLevel, subject.isNotice ? .producer : .client)
        var traceparent = ""
        tracer.inject(span.context, into: &traceparent, using: TraceCarrier())
        if let place = TraceContext(Array(traceparent.utf8)) {
            outgoing.trace = JSON.string(place.traceparent).encoded()
        }
        guard span.isRecording else { return span }
        var attributes = Self.attributes(of: subject, operation: "send")
        switch outgoing.kind {
        case .open: attributes["url.full"] = String(outgoing.to.prefix { $0 != "?" && $0 != "#" })
        case .report: attributes["strata.to"] = outgoing.to
        default:
            if subject.name == "bus/emit", let event = outgoing.name { attributes["strata.event"] = event }
        }
        span.attributes = attributes
        return span
    }

    private func start(_ name: String, _ context: ServiceContext, _ kind: SpanKind) -> any Tracing.Span {
        tracer.startSpan(
            name, context: context, ofKind: kind, at: DefaultTracerClock.now, function: #function, file: #fileID,
            line: #line)
    }

    /// As OpenTelemetry's semantic conventions name them.
    private static func attributes(of subject: Subject, operation: String) -> SpanAttributes {
        guard subject.isNotice || subject.kind == .event else {
            var attributes: SpanAttributes = ["rpc.system": "strata"]
            if subject.kind != .open {
                attributes["rpc.service"] = subject.interface
                attributes["rpc.method"] = subject.action
            }
            return attributes
        }
        return [
            "messaging.system": "strata", "messaging.destination.name": .string(subject.name),
            "messaging.operation.type": .string(operation), "messaging.operation.name": .string(subject.kind.rawValue),
        ]
    }
}
