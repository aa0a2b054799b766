import Glibc
import StrataCore
import StrataTesting
import Testing
import Tracing

@testable import Strata

@Suite(.timeLimit(.hang))
struct SpanFileTests {
    @Test func aSpanIsWrittenWithAllThatItHas() throws {
        let file = try SpansFile()
        let parent = file.tracer.startSpan(
            "outer", context: .topLevel, ofKind: .server, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 5))
        let span = file.tracer.startSpan("in\"ner", context: parent.context)
        span.attributes["text"] = "a\nb"
        span.attributes["count"] = 3
        span.attributes["yes"] = true
        span.attributes["half"] = SpanAttribute.double(0.5)
        span.attributes["list"] = SpanAttribute.int64Array([1, 2])
        span.addEvent("event")
        span.addLink(SpanLink(context: parent.context, attributes: [:]))
        span.recordError(ModuleError("A.b", "c"))
        span.setStatus(SpanStatus(code: .error, message: "A.b"))
        span.end()
        span.end()
        span.attributes["late"] = 1
        // The clock was set back.
        parent.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 3))
        let spans = try file.spans()
        try #require(spans.count == 2)
        let inner = spans[0]
        #expect(inner.name == "in\"ner" && inner.kind == 1)
        #expect(inner.parent == spans[1].id && inner.trace == spans[1].trace && spans[1].parent == nil)
        #expect(inner.trace.count == 32 && inner.id.count == 16)
        #expect(
            inner.attributes == [
                "text": ["stringValue": "a\nb"], "count": ["intValue": "3"], "yes": ["boolValue": true],
                "half": ["doubleValue": 0.5],
                "list": ["arrayValue": ["values": [["intValue": "1"], ["intValue": "2"]]]],
            ])
        #expect(inner["status"] == ["code": 2, "message": "A.b"])
        #expect(inner["events"]?.array?.map { $0["name"] } == ["event", "exception"])
        #expect(inner["links"]?.array?.first?["spanId"]?.string == spans[1].id)
        #expect(spans[1]["startTimeUnixNano"] == "5" && spans[1]["endTimeUnixNano"] == "5")
        #expect(spans[1].kind == 2 && spans[1]["status"] == [:])
        #expect(spans[1].resource["service.name"] == ["stringValue": "Traced"])
        #expect(spans[1].resource["process.pid"] == ["intValue": .string("\(getpid())")])
    }

    @Test func aTraceThatNobodyWantsMakesNoSpansAndGoesOn() throws {
        let file = try SpansFile()
        var context = ServiceContext.topLevel
        let unwanted = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        file.tracer.extract(unwanted, into: &context, using: TraceCarrier())
        let span = file.tracer.startSpan("none", context: context)
        var carried = ""
        file.tracer.inject(span.context, into: &carried, using: TraceCarrier())
        #expect(!span.isRecording && carried == unwanted)
        span.end()
        #expect(try file.spans().isEmpty)
    }

    @Test(.promise("M.71")) func partsBeyondTheBoundsAreCounted() throws {
        let file = try SpansFile()
        let span = file.tracer.startSpan(String(repeating: "n", count: 5_000))
        for number in 0..<130 {
            span.addEvent(SpanEvent(name: "\(number)"))
            span.attributes["a\(number)"] = 1
        }
        span.end()
        let written = try #require(try file.spans().first)
        #expect(written["events"]?.array?.count == 128 && written["droppedEventsCount"] == 2)
        #expect(written.attributes.count == 128 && written["droppedAttributesCount"] == 2)
        #expect(written.name.count == 4_096)
    }

    @Test(.promise("M.71")) func aFileThatTakesNothingCostsSpansAndNoTime() throws {
        // A pipe whose reader sleeps.
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(SpanFile(path: path) == nil, "nobody reads it")
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let file = try #require(SpanFile(path: path))
        let resource = SpanResource(module: "Traced", pid: getpid())
        let record = Self.record(texts: 15)
        #expect((60_000...SpanFile.longestLine).contains(SpanLine.bytes(of: record, resource).count))
        #expect((60_000...SpanFile.longestLine).contains(record.size))
        // What the pipe and both halves of the buffer hold, and a little more.
        let most = 2 * SpanFile.mostWaiting / record.size + 4
        for _ in 0..<(most + 10) { file.add(record, of: resource) }
        #expect(file.dropped >= 10 && file.dropped <= UInt64(most + 10))
        // Its thread continues after an error, and the process doesn't end.
        close(reader)
        file.flush(within: 120_000)
        #expect(file.dropped > 11)
    }

    @Test(.promise("M.71")) func aSpanWhoseLineIsTooLongIsDroppedAndCounted() throws {
        let file = try SpansFile()
        let resource = SpanResource(module: "Traced", pid: getpid())
        file.tracer.file.add(Self.record(texts: 17), of: resource)
        // It is as large as everything that may wait, so it could never wait with other spans.
        var huge = Self.record(texts: 1)
        huge.name = String(repeating: "n", count: SpanFile.mostWaiting)
        file.tracer.file.add(huge, of: resource)
        file.tracer.file.add(Self.record(texts: 2), of: resource)
        #expect(try file.spans().count == 1)
        #expect(file.tracer.file.dropped == 2)
    }

    /// The thread that writes a line also makes it. Ending a span only hands it over.
    @Test(.promise("M.71")) func theLineIsMadeOnTheWritersThread() throws {
        struct Shy: CustomStringConvertible, Sendable {
            let threads: Locked<[pthread_t]>
            var description: String {
                threads.withLock { $0.append(pthread_self()) }
                return "shy"
            }
        }
        let file = try SpansFile()
        let threads = Locked<[pthread_t]>([])
        let span = file.tracer.startSpan("shy")
        span.attributes["shy"] = SpanAttribute.stringConvertible(Shy(threads: threads))
        span.end()
        #expect(try file.spans().first?.text("shy") == "shy")
        let seen = threads.withLock { $0 }
        #expect(!seen.isEmpty && seen.allSatisfy { pthread_equal($0, pthread_self()) == 0 })
    }

    /// Returns a record with this many attributes of 4 KiB.
    private static func record(texts: Int) -> FileSpan.Record {
        var record = FileSpan.Record(place: TraceContext(), parent: nil, kind: .internal, start: 0, name: "large")
        let text = String(repeating: "x", count: 4_090)
        for number in 0..<texts { record.attributes["a\(number)"] = SpanAttribute.string(text) }
        return record
    }
}
