internal import StrataCore
internal import Tracing

/// A span that is written when it ends, or an unsampled one that only carries its context. Used
/// from any thread.
final class FileSpan: Tracing.Span {
    /// The most attributes, events and links of one span, each; further ones are counted.
    static let mostParts = 128

    /// The data that is written.
    struct Record: Sendable {
        let place: TraceContext
        let parent: UInt64?
        let kind: SpanKind
        /// The start in nanoseconds since 1970, like `end`.
        let start: UInt64
        var name: String
        var end: UInt64 = 0
        var attributes: SpanAttributes = [:]
        var droppedAttributes = 0
        var status: SpanStatus?
        var events: [SpanEvent] = []
        var droppedEvents = 0
        var links: [SpanLink] = []
        var droppedLinks = 0
    }

    let context: ServiceContext
    /// Nil once the span has ended, and if it is unsampled.
    private let record: Locked<Record?>
    private let onEnd: @Sendable (Record) -> Void

    /// Creates an unsampled span.
    init(_ context: ServiceContext) {
        self.context = context
        record = Locked(nil)
        onEnd = { _ in }
    }

    init(
        _ context: ServiceContext, _ place: TraceContext, parent: UInt64?, _ name: String, _ kind: SpanKind,
        at start: UInt64, onEnd: @escaping @Sendable (Record) -> Void
    ) {
        self.context = context
        record = Locked(Record(place: place, parent: parent, kind: kind, start: start, name: name))
        self.onEnd = onEnd
    }

    var isRecording: Bool { record.withLock { $0 != nil } }

    var operationName: String {
        get { record.withLock { $0?.name ?? "" } }
        set { record.withLock { $0?.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { record.withLock { $0?.attributes ?? [:] } }
        set { record.withLock { $0?.attributes = newValue } }
    }

    func setStatus(_ status: SpanStatus) {
        // Keep an error's code: it says more than the word "error" that follows it.
        record.withLock { record in
            guard record?.status?.message == nil || status.message != nil else { return }
            record?.status = status
        }
    }

    func addEvent(_ event: SpanEvent) {
        record.withLock { record in
            guard let count = record?.events.count else { return }
            if count < Self.mostParts { record?.events.append(event) } else { record?.droppedEvents += 1 }
        }
    }

    func addLink(_ link: SpanLink) {
        record.withLock { record in
            guard let count = record?.links.count else { return }
            if count < Self.mostParts { record?.links.append(link) } else { record?.droppedLinks += 1 }
        }
    }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var all: SpanAttributes = ["exception.type": .string(String(describing: type(of: error)))]
        all["exception.message"] = String(describing: error)
        all.merge(attributes)
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: all))
    }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard var record = record.withLock({ $0.take() }) else { return }
        // The clock may have been set back meanwhile.
        record.end = max(record.start, instant().nanosecondsSinceEpoch)
        onEnd(record)
    }
}

extension FileSpan.Record {
    /// The bytes of a line beside the span's texts and parts.
    private static let frame = 512
    /// The bytes of a part beside its texts.
    private static let part = 64

    /// The approximate number of bytes of the span, both in memory and as a line. Texts count in
    /// full, although long ones are cut when the line is made.
    ///
    /// It is calculated on the module's loop, so it doesn't look into texts.
    var size: Int {
        var size = Self.frame + name.utf8.count + Self.size(of: attributes)
        for event in events { size += Self.part + event.name.utf8.count + Self.size(of: event.attributes) }
        for link in links { size += Self.part + Self.size(of: link.attributes) }
        return size
    }

    private static func size(of attributes: SpanAttributes) -> Int {
        guard !attributes.isEmpty else { return 0 }
        var size = 0
        attributes.forEach { name, value in size += part + name.utf8.count + Self.size(of: value) }
        return size
    }

    private static func size(of value: SpanAttribute) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .stringArray(let texts): texts.reduce(0) { $0 + part + $1.utf8.count }
        case .int32Array(let numbers): numbers.count * part
        case .int64Array(let numbers): numbers.count * part
        case .doubleArray(let numbers): numbers.count * part
        case .boolArray(let values): values.count * part
        case .stringConvertibleArray(let values): values.count * part
        // The size of a value that makes its text only when it is written is unknown.
        default: 0
        }
    }
}
