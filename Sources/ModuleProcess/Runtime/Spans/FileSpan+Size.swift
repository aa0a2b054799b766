internal import Tracing

extension FileSpan.Record {
    /// What a span's line has beside its texts and parts.
    private static let frame = 512
    /// What a part has beside its texts.
    private static let part = 64

    /// About as many bytes as it takes in memory while it waits to be written, and as
    /// its line has: texts are counted whole, though what is over a bound is cut off
    /// only when the line is made.
    ///
    /// Reckoned on the module's loop, and so without looking into texts.
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
        // Of what makes its text only when it is written nothing else is known.
        default: 0
        }
    }
}
