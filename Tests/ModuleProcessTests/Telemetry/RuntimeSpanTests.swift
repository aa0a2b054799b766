import StrataCore
import Testing
import Tracing

@testable import Strata

/// A module's spans, and the trace that its requests carry.
@Suite(.timeLimit(.hang))
struct RuntimeSpanTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let wanted = JSON.Member("trace", .string("00-\(trace)-00f067aa0ba902b7-01"))

    private func traced(
        _ test: @ModuleActor (Harness<TracedModule>, FakePeer, SpansFile) async throws -> Void
    ) async throws {
        let file = try SpansFile()
        try await withModule(TracedModule.self, configure: { $0.tracer = file.tracer }) { harness in
            try await harness.start()
            try await test(harness, harness.peer, file)
        }
    }

    /// Answers the module's call, and returns the span that its trace names.
    @ModuleActor
    private func answered(_ peer: FakePeer, _ to: String = "Other/answer") async throws -> TraceContext {
        let call = try await peer.expect("call")
        #expect(call["to"]?.string == to)
        peer.reply(call, 1)
        return try #require(TraceContext(Array((call["trace"]?.string ?? "").utf8)))
    }

    @Test(.promise("M.71")) func aHandlersCallIsAChildOfItsSpan() async throws {
        try await traced { _, peer, file in
            let id = peer.send(call: "Traced/ask", 1, [Self.wanted])
            let sent = try await answered(peer)
            #expect(try await peer.expect("reply").id == .integer(id))
            let spans = try file.spans()
            try #require(spans.map(\.name) == ["Other/answer", "Traced/ask"])
            #expect(spans.allSatisfy { $0.trace == Self.trace } && sent.traceID == Self.trace)
            #expect(spans[1].parent == "00f067aa0ba902b7" && spans[1].kind == 2)
            #expect(spans[0].parent == spans[1].id && spans[0].kind == 3 && sent.spanID == spans[0].id)
            #expect(spans[0].text("rpc.system") == "strata" && spans[0].text("rpc.service") == "Other")
            #expect(spans[0].text("rpc.method") == "answer" && spans[1].text("strata.from") == "Tester")
            #expect(spans[0].attributes["error.type"] == nil && spans[0]["status"] == [:])
        }
    }

    @Test func spansOfTheModulesOwnNestBetween() async throws {
        try await traced { _, peer, file in
            _ = peer.send(call: "Traced/nest", nil, [Self.wanted])
            _ = try await answered(peer)
            _ = try await peer.expect("reply")
            let spans = try file.spans()
            try #require(spans.map(\.name) == ["Other/answer", "inner", "Traced/nest"])
            #expect(spans[0].parent == spans[1].id && spans[1].parent == spans[2].id)
            #expect(spans[1].kind == 1 && spans[1].attributes["size"] == ["intValue": "3"])
        }
    }

    @Test(.promise("M.71")) func anErrorsCodeIsTheStatus() async throws {
        try await traced { _, peer, file in
            #expect(try await peer.call("Traced/fail")["code"] == "Traced.no-disc")
            #expect(try await peer.call("Traced/none")["code"] == "unknown-action")
            _ = peer.send(call: "Traced/ask")
            peer.fail(try await peer.expect("call"), "unavailable")
            _ = try await peer.expect("error")
            let spans = try file.spans()
            let codes = spans.map { $0.text("error.type") }
            #expect(codes == ["Traced.no-disc", "unknown-action", "unavailable", "failed"])
            #expect(spans[0]["status"] == ["code": 2, "message": "Traced.no-disc"])
            // They got no trace, so each is a root with the spans that it caused.
            #expect(spans[0].parent == nil && spans[1].parent == nil && spans[3].parent == nil)
            #expect(spans[2].parent == spans[3].id && spans[0].trace != spans[3].trace)
        }
    }

    @Test(.promise("M.71")) func aTraceThatIsNoneGoesOnAsItCame() async throws {
        try await traced { _, peer, file in
            for foreign in ["00-1-1-00", "mine \"\u{1}\"", ""] {
                let id = peer.send(call: "Traced/ask", nil, [.init("trace", .string(foreign))])
                let call = try await peer.expect("call")
                #expect(call["trace"]?.string == foreign)
                peer.reply(call, 1)
                #expect(try await peer.expect("reply").id == .integer(id))
            }
            #expect(try file.spans().isEmpty)
        }
    }

    @Test(.promise("M.71")) func anUnwantedTraceMakesNoSpansAndGoesOn() async throws {
        try await traced { _, peer, file in
            let unwanted = "00-\(Self.trace)-00f067aa0ba902b7-00"
            _ = peer.send(call: "Traced/ask", nil, [.init("trace", .string(unwanted))])
            #expect(try await answered(peer).traceparent == unwanted)
            _ = try await peer.expect("reply")
            #expect(try file.spans().isEmpty)
        }
    }

    @Test(.promise("M.71")) func aNoticesHandlerIsAConsumerAndABroadcastAProducer() async throws {
        try await traced { _, peer, file in
            peer.send([
                "kind": "notice", "name": "news", "from": "Press", "level": "basic", "via": "broadcast",
                "subscription": 1, "trace": Self.wanted.value,
            ])
            let sent = try await answered(peer)
            _ = peer.send(call: "Traced/tell", nil, [Self.wanted])
            let told = try await peer.expect("broadcast")
            _ = try await peer.expect("reply")
            let spans = try file.spans()
            try #require(spans.map(\.name) == ["Other/answer", "process news", "send traced.told", "Traced/tell"])
            #expect(spans[1].kind == 5 && spans[1].parent == "00f067aa0ba902b7" && sent.traceID == Self.trace)
            #expect(spans[1].text("strata.from") == "Press" && spans[1].text("messaging.operation.type") == "process")
            #expect(spans[2].kind == 4 && spans[2].parent == spans[3].id)
            #expect(spans[2].text("messaging.destination.name") == "traced.told")
            #expect(told["trace"]?.string == "00-\(Self.trace)-\(spans[2].id)-01")
        }
    }

    @Test func backgroundWorkAndOwnRequestsBeginTraces() async throws {
        try await traced { harness, peer, file in
            _ = peer.send(call: "Traced/leave", nil, [Self.wanted])
            _ = try await peer.expect("reply")
            let background = try await answered(peer)
            let bus = Bus(harness.runtime)
            async let open = bus.open("test://a/b?secret=1#c")
            let url = try await peer.expect("open")
            peer.reply(url, 1)
            _ = try await open
            let spans = try file.spans()
            let roots = spans.filter { $0.parent == nil }
            #expect(roots.map(\.name).sorted() == ["Other/answer", "open"])
            #expect(background.traceID != Self.trace)
            #expect(roots.first { $0.name == "open" }?.text("url.full") == "test://a/b")
        }
    }

    @Test func aStreamIsASpanUpToItsEnd() async throws {
        try await traced { harness, peer, file in
            // Until hello is answered, a stream waits for a reader.
            _ = try await peer.call("module/ping")
            let stream = try Bus(harness.runtime).stream("Other/count")
            let call = try await peer.expect("call")
            peer.send(["kind": "reply", "id": call.id, "more": true], 1)
            peer.fail(call, "died", ran: "maybe")
            var got = 0
            do { for try await _ in stream { got += 1 } } catch let error as BusError { #expect(error.code == .died) }
            let id = peer.send(call: "Traced/count", 2)
            for _ in 0..<3 { #expect(try await peer.expect("reply").id == .integer(id)) }
            let spans = try file.spans()
            #expect(got == 1 && spans.map(\.name) == ["Other/count", "Traced/count"])
            #expect(spans.map { $0.text("error.type") } == ["died", nil])
        }
    }

    @Test func stepsOfTheModulesLifeAreSpansAndPingsAreNone() async throws {
        try await traced { _, peer, file in
            _ = try await peer.call("module/ping")
            _ = try await peer.call("module/setUp", ["env": "debug"])
            #expect(try file.spans().map(\.name) == ["module/setUp"])
        }
    }

    @Test func withoutATracerNothingIsMeasured() async throws {
        try await withModule(TracedModule.self) { harness in
            try await harness.start()
            #expect(harness.runtime.telemetry == nil)
            #expect(try await harness.peer.call("Traced/nest").body == "off")
        }
    }
}
