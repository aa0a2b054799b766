import StrataCore

/// Traces for a person: a list of them, or the tree of one.
struct TraceView {
    private static let widestBar = 60
    private static let narrowestBar = 12
    /// A deeper span isn't indented further.
    private static let mostIndent = 24

    let painter: Painter

    func show(_ traces: [TraceTree]) {
        var table = Table(columns: [
            .init("TRACE"), .init("BEGAN"), .init("TOOK", isRight: true), .init("SPANS", isRight: true),
            .init("FIRST", isFlexible: true), .init("ERROR", isFlexible: true),
        ])
        for trace in traces {
            table.add([
                .init(String(trace.trace.prefix(16)), .bold), .init(ClockTime.text(trace.begin, digits: 3), .dim),
                .init(Self.time(trace.end - trace.begin)), .init("\(trace.rows.count)"),
                .init(Self.title(trace.root)), .init(trace.failure?.error ?? "", .red),
            ])
        }
        table.print(painter)
    }

    func show(_ trace: TraceTree) {
        let modules = trace.modules.count == 1 ? "1 module" : "\(trace.modules.count) modules"
        StandardOutput.write(
            line: "\(painter.paint(Printable.line(trace.trace), .bold)): \(Self.time(trace.end - trace.begin)) in "
                + "\(modules), began \(ClockTime.text(trace.begin, digits: 3)) UTC")
        let plain = table(trace, bar: nil)
        let room = min(Self.widestBar, Table.terminalWidth - plain.width - Table.gap.count)
        (room >= Self.narrowestBar ? table(trace, bar: room) : plain).print(painter)
    }

    private func table(_ trace: TraceTree, bar: Int?) -> Table {
        var columns: [Table.Column] = [
            .init("MODULE"), .init("SPAN"), .init("BEGAN", isRight: true), .init("TOOK", isRight: true),
        ]
        if let bar { columns.append(.init(String(repeating: " ", count: bar))) }
        if trace.failure != nil { columns.append(.init("ERROR")) }
        var table = Table(columns: columns)
        for row in trace.rows {
            let indent = String(repeating: "  ", count: min(row.depth, Self.mostIndent))
            var cells: [Table.Cell] = [
                .init(pieces: [(Printable.line(row.span.module), .bold)]),
                .init(pieces: [(indent + Printable.line(Self.title(row.span)), row.span.isSent ? .dim : .plain)]),
                .init("+" + Self.time(row.span.begin - trace.begin), .dim),
                .init(Self.time(row.span.end - row.span.begin)),
            ]
            if let bar { cells.append(self.bar(row.span, of: trace, bar)) }
            if trace.failure != nil { cells.append(.init(row.span.error ?? "", .red)) }
            table.add(cells)
        }
        return table
    }

    /// A bar from a span's begin to its end, in the trace's time.
    private func bar(_ span: Span, of trace: TraceTree, _ width: Int) -> Table.Cell {
        let whole = Double(max(1, trace.end - trace.begin))
        let place = { (time: Int64) in Int(Double(time - trace.begin) / whole * Double(width)) }
        let from = min(width - 1, max(0, place(span.begin)))
        let to = min(width, max(from + 1, place(span.end)))
        let colour: Colour = span.error != nil ? .red : span.isSent ? .blue : .green
        return .init(pieces: [
            (String(repeating: " ", count: from), .plain), (String(repeating: "━", count: to - from), colour),
            (String(repeating: " ", count: width - to), .plain),
        ])
    }

    /// Returns a span's name, with `calls` before it if the module made the call. A broadcast's name says `send`.
    private static func title(_ span: Span) -> String {
        span.isSent && !span.name.hasPrefix("send ") ? "calls \(span.name)" : span.name
    }

    /// `850 µs`, `3.2 ms` or `1.5 s`.
    static func time(_ microseconds: Int64) -> String {
        func tenths(_ value: Int64, _ unit: Int64) -> String { "\(value / unit).\(value % unit / (unit / 10))" }
        switch microseconds {
        case ..<1_000: return "\(max(0, microseconds)) µs"
        case ..<1_000_000: return "\(tenths(microseconds, 1_000)) ms"
        default: return "\(tenths(microseconds, 1_000_000)) s"
        }
    }

    /// A span as a line of JSON.
    static func json(_ row: TraceTree.Row) -> JSON {
        var members: [JSON.Member] = [
            .init("trace", .string(row.span.trace)), .init("span", .string(row.span.id)),
            .init("depth", .integer(Int64(row.depth))), .init("module", .string(row.span.module)),
            .init("name", .string(row.span.name)), .init("sent", .bool(row.span.isSent)),
            .init("began", .integer(row.span.begin)), .init("microseconds", .integer(row.span.end - row.span.begin)),
        ]
        if let error = row.span.error { members.append(.init("error", .string(error))) }
        return .object(members)
    }

    /// A trace as a line of JSON.
    static func json(_ trace: TraceTree) -> JSON {
        var members: [JSON.Member] = [
            .init("trace", .string(trace.trace)), .init("began", .integer(trace.begin)),
            .init("microseconds", .integer(trace.end - trace.begin)), .init("spans", .integer(Int64(trace.rows.count))),
            .init("first", .string(trace.root.name)),
        ]
        if let error = trace.failure?.error { members.append(.init("error", .string(error))) }
        return .object(members)
    }
}
