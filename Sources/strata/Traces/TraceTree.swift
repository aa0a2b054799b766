/// The spans of one trace, each below the one that it was made for.
struct TraceTree {
    struct Row: Equatable {
        let span: Span
        let depth: Int
    }

    let trace: String
    let rows: [Row]
    let begin: Int64
    let end: Int64

    /// - Parameter spans: those of one trace, in any order; at least one.
    init(_ spans: [Span]) {
        trace = spans[0].trace
        let ids = Set(spans.map(\.id))
        let sorted = spans.sorted { ($0.begin, $0.id) < ($1.begin, $1.id) }
        let children = Dictionary(grouping: sorted) { $0.parent ?? "" }
        var rows: [Row] = []
        var seen: Set<String> = []
        // On a stack of its own, because a file may nest spans as deep as it likes.
        func add(_ root: Span) {
            var left = [Row(span: root, depth: 0)]
            while let row = left.popLast() {
                guard seen.insert(row.span.id).inserted else { continue }
                rows.append(row)
                left += (children[row.span.id] ?? []).reversed().map { Row(span: $0, depth: row.depth + 1) }
            }
        }
        for span in sorted where span.parent.map(ids.contains) != true { add(span) }
        // Those that lead back to themselves, which no tracer writes.
        for span in sorted { add(span) }
        self.rows = rows
        begin = sorted[0].begin
        end = spans.map(\.end).max() ?? begin
    }

    var root: Span { rows[0].span }
    var modules: Set<String> { Set(rows.map(\.span.module)) }
    /// Of the spans that failed the last one in the tree, where the failure began; nil if none did.
    var failure: Span? { rows.map(\.span).last { $0.error != nil } }

    /// The traces among spans, the last one first.
    static func all(_ spans: [Span]) -> [TraceTree] {
        Dictionary(grouping: spans, by: \.trace).values.map { TraceTree($0) }
            .sorted { ($0.begin, $0.trace) > ($1.begin, $1.trace) }
    }
}
