internal import StrataCore

/// The place of a request in a trace, as a `traceparent` of W3C Trace Context describes it.
struct TraceContext: Sendable, Equatable {
    /// The trace's number in two halves, which are never both zero.
    var high: UInt64
    var low: UInt64
    /// The span's number; never zero.
    var span: UInt64
    var flags: UInt8

    private static let length = 55
    private static let sampled: UInt8 = 1

    /// Whether the spans of the trace are wanted.
    var isSampled: Bool { flags & Self.sampled != 0 }

    /// Creates a new trace.
    init() {
        high = .random(in: 1 ... .max)
        low = .random(in: 0 ... .max)
        span = .random(in: 1 ... .max)
        flags = Self.sampled
    }

    /// Returns another span of the same trace.
    func child() -> TraceContext {
        var child = self
        child.span = .random(in: 1 ... .max)
        // Other flags have a meaning only for those who set them.
        child.flags = flags & Self.sampled
        return child
    }

    /// Reads a `traceparent`; nil if it is invalid. A later version is read as version 00, as the
    /// specification requires.
    init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        guard bytes.count >= Self.length, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            version == 0 ? bytes.count == Self.length : bytes.count == Self.length || bytes[Self.length] == Self.dash,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high != 0 || low != 0,
            let span = Self.number(bytes[36..<52]), span != 0,
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.high = high
        self.low = low
        self.span = span
        self.flags = UInt8(flags)
    }

    /// Reads a header's `trace`, which is a JSON string with its quotes.
    init?(json: [UInt8]) {
        guard json.count >= Self.length + 2 else { return nil }
        if json.contains(UInt8(ascii: "\\")) {
            guard let text = try? JSON(parsing: json).string else { return nil }
            self.init(Array(text.utf8))
        } else {
            self.init(json[1..<(json.count - 1)])
        }
    }

    var traceparent: String { "00-\(traceID)-\(spanID)-\(Self.hex(UInt64(flags), digits: 2))" }
    var traceID: String { Self.hex(high, digits: 16) + Self.hex(low, digits: 16) }
    var spanID: String { Self.hex(span, digits: 16) }

    private static let dash = UInt8(ascii: "-")

    static func hex(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// Reads hexadecimal digits, in lower case only, as the specification requires.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}
