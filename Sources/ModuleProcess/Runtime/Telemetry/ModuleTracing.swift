internal import StrataCore
internal import Tracing

/// The module's part in traces: a span for each request that it handles or makes, and the `trace`
/// that its requests carry.
///
/// A trace that isn't a readable `traceparent` is foreign: the module makes no span for it, and
/// passes its bytes on unchanged.
@ModuleActor
final class ModuleTracing {
    let tracer: any Tracer
    private let resource: SpanResource?

    /// Creates the tracing of a module.
    /// - Parameter resource: The resource that `tracer` names this process with; nil if the tracer
    ///   isn't the runtime's own.
    init(_ tracer: any Tracer, _ resource: SpanResource? = nil) {
        self.tracer = tracer
        self.resource = resource
    }

    func name(app: String) { resource?.name(app: app) }

    /// Waits up to a second until pending spans are written.
    func flush() { (tracer as? FileTracer)?.forceFlush() }

    // MARK: Incoming requests

    /// Starts a span for an incoming request or notice; returns nil if its trace is foreign.
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

    // MARK: Outgoing requests

    /// Starts a span for a request that is about to be sent, and puts it into the request's trace.
    /// Returns nil if the request is made by a handler whose trace is foreign.
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
            outgoing.extras.trace = JSON.string(place.traceparent).encoded()
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

    /// The attributes, named by OpenTelemetry's semantic conventions.
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
