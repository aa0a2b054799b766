import StrataCore

/// What one module did for one message, as a line of a span file has it.
struct Span: Equatable {
    let trace: String
    let id: String
    /// The id of the span that it was made for; nil for a trace's first one.
    let parent: String?
    let module: String
    let name: String
    /// Whether the module asked or sent, and didn't serve.
    let isSent: Bool
    /// In microseconds since 1970.
    let begin: Int64
    let end: Int64
    /// The error's code, if it failed.
    let error: String?

    /// Reads the spans of a line of OTLP's JSON; nil if it isn't one.
    static func read(_ line: some Sequence<UInt8>) -> [Span]? {
        guard let resources = (try? JSON(parsing: Array(line)))?["resourceSpans"]?.array else { return nil }
        var spans: [Span] = []
        for resource in resources {
            let module = text("service.name", resource["resource"]?["attributes"]) ?? "?"
            for scope in resource["scopeSpans"]?.array ?? [] {
                for span in scope["spans"]?.array ?? [] {
                    guard let span = Span(span, module) else { return nil }
                    spans.append(span)
                }
            }
        }
        return spans
    }

    private init?(_ span: JSON, _ module: String) {
        guard let trace = span["traceId"]?.string, let id = span["spanId"]?.string, let name = span["name"]?.string,
            let begin = Self.time(span["startTimeUnixNano"]), let end = Self.time(span["endTimeUnixNano"])
        else { return nil }
        (self.trace, self.id, self.module, self.name, self.begin, self.end) = (trace, id, module, name, begin, end)
        parent = span["parentSpanId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        // OTLP's numbers: 3 is a client, 4 a producer; 2 in the status is an error.
        isSent = [3, 4].contains(span["kind"]?.integer)
        let hasFailed = span["status"]?["code"]?.integer == 2
        error =
            hasFailed ? Self.text("error.type", span["attributes"]) ?? span["status"]?["message"]?.string ?? "?" : nil
    }

    /// OTLP writes 64-bit numbers as texts.
    private static func time(_ nanoseconds: JSON?) -> Int64? {
        (nanoseconds?.integer ?? nanoseconds?.string.flatMap { Int64($0) }).map { $0 / 1_000 }
    }

    private static func text(_ key: String, _ attributes: JSON?) -> String? {
        attributes?.array?.first { $0["key"]?.string == key }?["value"]?["stringValue"]?.string
    }
}
