internal import StrataCore
internal import Tracing

/// Encodes a span as OTLP JSON: one `{"resourceSpans":[…]}` on a line, as OpenTelemetry's collector
/// reads it from files.
enum SpanLine {
    /// The most bytes of an attribute's text; the rest is cut off.
    static let longestText = 4_096

    private static let tail = Array("]}]}]}\n".utf8)

    /// Returns the line, including its end.
    static func bytes(of record: FileSpan.Record, _ resource: SpanResource) -> [UInt8] {
        resource.head + span(record).encoded() + tail
    }

    /// Returns the part of a line before the span: the resource and the scope.
    static func head(of attributes: [JSON.Member]) -> [UInt8] {
        let resource: JSON = ["attributes": .array(attributes.map { attribute($0.name, value($0.value)) })]
        return #"{"resourceSpans":[{"resource":"#.utf8 + resource.encoded()
            + #","scopeSpans":[{"scope":{"name":"strata"},"spans":["#.utf8
    }

    private static func span(_ record: FileSpan.Record) -> JSON {
        var members: [JSON.Member] = [
            .init("traceId", .string(record.place.traceID)), .init("spanId", .string(record.place.spanID)),
        ]
        if let parent = record.parent {
            members.append(.init("parentSpanId", .string(TraceContext.hex(parent, digits: 16))))
        }
        members += [
            .init("flags", .integer(Int64(record.place.flags))), .init("name", .string(cut(record.name))),
            .init("kind", .integer(number(of: record.kind))), .init("startTimeUnixNano", .string("\(record.start)")),
            .init("endTimeUnixNano", .string("\(record.end)")),
        ]
        let (attributes, dropped) = list(record.attributes)
        add("attributes", attributes, dropped: dropped + record.droppedAttributes, to: &members)
        add("events", record.events.map(event), dropped: record.droppedEvents, to: &members)
        add("links", record.links.compactMap(link), dropped: record.droppedLinks, to: &members)
        members.append(.init("status", status(record.status)))
        return .object(members)
    }

    private static func add(_ name: String, _ list: [JSON], dropped: Int, to members: inout [JSON.Member]) {
        if !list.isEmpty { members.append(.init(name, .array(list))) }
        guard dropped > 0 else { return }
        let title = name.prefix(1).uppercased() + name.dropFirst()
        members.append(.init("dropped\(title)Count", .integer(Int64(dropped))))
    }

    private static func event(_ event: SpanEvent) -> JSON {
        [
            "timeUnixNano": .string("\(event.nanosecondsSinceEpoch)"), "name": .string(cut(event.name)),
            "attributes": .array(list(event.attributes).list),
        ]
    }

    /// Returns a link; nil if it leads nowhere.
    private static func link(_ link: SpanLink) -> JSON? {
        guard let place = link.context[TraceContextKey.self] else { return nil }
        return [
            "traceId": .string(place.traceID), "spanId": .string(place.spanID),
            "attributes": .array(list(link.attributes).list),
        ]
    }

    private static func status(_ status: SpanStatus?) -> JSON {
        guard let status else { return [:] }
        var members: [JSON.Member] = [.init("code", status.code == .error ? 2 : 1)]
        if let message = status.message { members.append(.init("message", .string(cut(message)))) }
        return .object(members)
    }

    private static func number(of kind: SpanKind) -> Int64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    // MARK: Attributes

    private static func list(_ attributes: SpanAttributes) -> (list: [JSON], dropped: Int) {
        var all: [(name: String, value: JSON)] = []
        attributes.forEach { all.append((cut($0), value($1))) }
        all.sort { $0.name < $1.name }
        let kept = all.prefix(FileSpan.mostParts)
        return (kept.map { attribute($0.name, $0.value) }, all.count - kept.count)
    }

    private static func attribute(_ name: String, _ value: JSON) -> JSON { ["key": .string(name), "value": value] }

    private static func value(_ value: JSON) -> JSON {
        if let integer = value.integer { return ["intValue": .string("\(integer)")] }
        return ["stringValue": value]
    }

    private static func value(_ attribute: SpanAttribute) -> JSON {
        switch attribute {
        case .int32(let value): integer(value)
        case .int64(let value): integer(value)
        case .double(let value): double(value)
        case .bool(let value): ["boolValue": .bool(value)]
        case .string(let value): text(value)
        case .stringConvertible(let value): text(String(describing: value))
        case .int32Array(let values): array(values.map(integer))
        case .int64Array(let values): array(values.map(integer))
        case .doubleArray(let values): array(values.map(double))
        case .boolArray(let values): array(values.map { ["boolValue": .bool($0)] })
        case .stringArray(let values): array(values.map(text))
        case .stringConvertibleArray(let values): array(values.map { text(String(describing: $0)) })
        // The library asks clients not to name its last case.
        default: text("")
        }
    }

    private static func integer(_ value: some BinaryInteger) -> JSON { ["intValue": .string("\(value)")] }

    /// JSON can't express NaN and the infinities; protobuf's JSON writes them as strings.
    private static func double(_ value: Double) -> JSON {
        if value.isFinite { return ["doubleValue": .number(value)] }
        return ["doubleValue": .string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")]
    }

    private static func text(_ value: String) -> JSON { ["stringValue": .string(cut(value))] }

    private static func array(_ values: [JSON]) -> JSON {
        ["arrayValue": ["values": .array(Array(values.prefix(FileSpan.mostParts)))]]
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
    }
}

/// The process that spans come from, which OpenTelemetry calls a resource. It is the same for all
/// spans of a process, so it is encoded only once.
final class SpanResource: Sendable {
    private struct State {
        var attributes: [JSON.Member]
        /// The line up to the list of spans; nil if the attributes have changed since.
        var head: [UInt8]?
    }

    private let state: Locked<State>

    init(module: String, pid: Int32) {
        state = Locked(
            State(attributes: [
                .init("service.name", .string(module)), .init("service.instance.id", .string("\(pid)")),
                .init("process.pid", .integer(Int64(pid))), .init("telemetry.sdk.name", "strata"),
                .init("telemetry.sdk.language", "swift"),
            ]))
    }

    /// The part of a line before its span.
    var head: [UInt8] {
        state.withLock { state in
            if let head = state.head { return head }
            let head = SpanLine.head(of: state.attributes)
            state.head = head
            return head
        }
    }

    /// Sets the app's name, which the answer to hello contains.
    func name(app: String) {
        state.withLock { state in
            state.attributes.removeAll { $0.name == "service.namespace" }
            state.attributes.append(.init("service.namespace", .string(app)))
            state.head = nil
        }
    }
}
