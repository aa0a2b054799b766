public import StrataCore

/// A start in the format of Chrome's trace events, which Perfetto and `chrome://tracing` show.
///
/// The app is a process, and each module a thread. Phases are complete events (`X`); events without
/// a duration are instants (`i`).
public enum ChromeTrace {
    public static func json(of timeline: StartTimeline) -> JSON {
        var events: [JSON] = [meta("process_name", thread: 0, ["name": .string(timeline.app)])]
        if let begun = timeline.begun, let ready = timeline.ready {
            events.append(
                [
                    "name": "start", "cat": "app", "ph": "X", "ts": .integer(begun), "dur": .integer(ready - begun),
                    "pid": 1, "tid": 0,
                ])
        }
        events.append(meta("thread_name", thread: 0, ["name": .string("app")]))
        for (index, row) in timeline.rows.enumerated() {
            let thread = Int64(index + 1)
            events.append(meta("thread_name", thread: thread, ["name": .string(row.name)]))
            events.append(meta("thread_sort_index", thread: thread, ["sort_index": .integer(thread)]))
            for span in row.spans {
                events.append(
                    [
                        "name": .string(span.phase.rawValue), "cat": "start", "ph": "X", "ts": .integer(span.from),
                        "dur": .integer(span.microseconds), "pid": 1, "tid": .integer(thread),
                        "args": arguments(row, span),
                    ])
            }
            for mark in row.marks {
                events.append(
                    [
                        "name": .string(mark.name), "cat": "mark", "ph": "i", "s": "t", "ts": .integer(mark.at),
                        "pid": 1, "tid": .integer(thread),
                    ])
            }
            for (name, time) in [("ready", row.ready), ("ended", row.ended)] {
                guard let time else { continue }
                events.append(
                    [
                        "name": .string(name), "cat": "start", "ph": "i", "s": "t", "ts": .integer(time), "pid": 1,
                        "tid": .integer(thread), "args": ["state": .string(row.state), "reason": .string(row.reason)],
                    ])
            }
        }
        return ["traceEvents": .array(events), "displayTimeUnit": "ms"]
    }

    private static func arguments(_ row: StartTimeline.Row, _ span: StartTimeline.Span) -> JSON {
        span.isCut ? ["level": .string(row.level), "cut": true] : ["level": .string(row.level)]
    }

    private static func meta(_ name: String, thread: Int64, _ arguments: JSON) -> JSON {
        ["name": .string(name), "ph": "M", "pid": 1, "tid": .integer(thread), "args": arguments]
    }
}
