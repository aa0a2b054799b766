import CoreMetrics
import StrataCore
import StrataTesting
import Testing

@testable import Strata

/// The metrics that a module keeps for `strata metrics`.
@Suite(.timeLimit(.hang))
struct BusMetricsTests {
    private func metrics(_ kept: BusMetrics) throws -> [JSON] {
        try #require(kept.answer()?["metrics"]?.array)
    }

    @Test(.promise("M.68")) func eachKindIsToldWithItsNumbers() throws {
        let kept = BusMetrics()
        let labels = [("shelf", "top"), ("kind", "b")]
        Counter(label: "a.saved", dimensions: labels, factory: kept).increment(by: 3)
        FloatingPointCounter(label: "b.litres", factory: kept).increment(by: 1.5)
        let meter = Meter(label: "c.depth", factory: kept)
        meter.set(7)
        meter.increment(by: 0.5)
        meter.decrement(by: 2)
        Gauge(label: "d.last", factory: kept).record(-4)
        Recorder(label: "e.size", factory: kept).record(100)
        CoreMetrics.Timer(label: "f.index", factory: kept).recordMilliseconds(250)
        let told = try metrics(kept)
        let plain: [JSON] = [
            ["name": "a.saved", "type": "counter", "labels": ["shelf": "top", "kind": "b"], "value": 3],
            ["name": "b.litres", "type": "counter", "value": 1.5],
            ["name": "c.depth", "type": "gauge", "value": 5.5],
            ["name": "d.last", "type": "gauge", "value": -4],
        ]
        #expect(Array(told.prefix(4)) == plain)
        #expect(told[4].matches(["name": "e.size", "type": "summary", "count": 1, "sum": 100]))
        #expect(told[4]["unit"] == nil)
        #expect(told[5].matches(["name": "f.index", "type": "summary", "unit": "seconds", "count": 1, "sum": 0.25]))
        #expect(told[5]["quantiles"]?["0.99"] == 0.25)
        #expect(kept.answer()?["dropped"] == 0)
    }

    @Test func whoMakesTheSameAgainHasTheSame() throws {
        let kept = BusMetrics()
        for _ in 0..<3 { Counter(label: "x", dimensions: [("a", "1")], factory: kept).increment() }
        Counter(label: "x", dimensions: [("a", "2")], factory: kept).increment()
        // A label that is given twice has its last value.
        Counter(label: "x", dimensions: [("a", "0"), ("a", "2")], factory: kept).increment()
        Gauge(label: "x", dimensions: [("a", "1")], factory: kept).record(9)
        #expect(try metrics(kept).compactMap { $0["value"]?.integer } == [3, 2, 9])
        let counter = Counter(label: "x", dimensions: [("a", "1")], factory: kept)
        counter.reset()
        #expect(try metrics(kept).compactMap { $0["value"]?.integer } == [0, 2, 9])
        counter.destroy()
        #expect(try metrics(kept).compactMap { $0["value"]?.integer } == [2, 9])
    }

    @Test(arguments: [1e-6, 0.001, 0.3, 1, 17, 999, 1e6, 3.5e9, 1e13])
    func percentilesAreRightWithinSevenPercent(scale: Double) throws {
        let kept = BusMetrics()
        let recorder = Recorder(label: "x", factory: kept)
        for number in 1...1_000 { recorder.record(scale * Double(number) / 1_000) }
        let summary = try #require(try metrics(kept).first)
        #expect(summary["count"] == 1_000)
        for (name, share) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)] {
            let told = try #require(summary["quantiles"]?[name])
            let found = try #require(Double(told.description))
            // A value smaller than a millionth counts as a millionth.
            let right = max(scale * share, 0x1p-20)
            #expect(found >= right * 0.999 && found <= right * 1.07, "\(name): \(found), \(right)")
        }
    }

    @Test func whatHasNoMagnitudeIsCountedAllTheSame() throws {
        let kept = BusMetrics()
        let recorder = Recorder(label: "x", factory: kept)
        #expect(try metrics(kept).first?["quantiles"] == ["0.5": nil, "0.9": nil, "0.99": nil])
        recorder.record(-5)
        recorder.record(0)
        recorder.record(Double.nan)
        #expect(try metrics(kept).first?["count"] == 2)
        #expect(try metrics(kept).first?["sum"] == -5)
        #expect(try metrics(kept).first?["quantiles"]?["0.5"] == 0)
        recorder.record(8)
        #expect(try metrics(kept).first?["quantiles"]?["0.5"] == .number(0x1p-20))
        #expect(try metrics(kept).first?["quantiles"]?["0.99"] == 8)
        recorder.record(Double.infinity)
        recorder.record(Double.greatestFiniteMagnitude)
        #expect(try metrics(kept).first?["count"] == 5)
        // JSON has no infinity.
        #expect(try metrics(kept).first?["sum"] == .null)
    }

    @Test(.promise("M.68")) func theNumberOfMetricsHasAnEnd() throws {
        let kept = BusMetrics()
        for number in 0..<BusMetrics.mostMetrics { Counter(label: "x\(number)", factory: kept).increment() }
        #expect(kept.answer()?["dropped"] == 0)
        // Further metrics can be used, but are not reported.
        for number in 0..<3 { Counter(label: "more\(number)", factory: kept).increment() }
        #expect(kept.answer()?["dropped"] == 3)
        #expect(try metrics(kept).count == BusMetrics.mostMetrics)
        // The existing metrics continue, and one that is destroyed makes room.
        Counter(label: "x0", factory: kept).destroy()
        Counter(label: "more0", factory: kept).increment()
        #expect(kept.answer()?["dropped"] == 3)
        #expect(try metrics(kept).first == ["name": "more0", "type": "counter", "value": 1])
    }

    @Test(.promise("M.68")) func theLengthOfANameHasAnEnd() throws {
        let kept = BusMetrics()
        let label = String(repeating: "x", count: BusMetrics.longestName - 2)
        Counter(label: label, dimensions: [("a", "b")], factory: kept).increment()
        #expect(try metrics(kept).count == 1)
        Counter(label: label, dimensions: [("a", "bc")], factory: kept).increment()
        #expect(try metrics(kept).count == 1)
        #expect(kept.answer()?["dropped"] == 1)
    }

    @Test func allThreadsMayMeasure() async throws {
        let kept = BusMetrics()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let meter = Meter(label: "meter", factory: kept)
                    for _ in 0..<100_000 { meter.increment(by: 1) }
                    for number in 0..<5_000 {
                        Counter(label: "counter", factory: kept).increment()
                        CoreMetrics.Timer(label: "timer", factory: kept).recordNanoseconds(number)
                    }
                }
            }
        }
        let told = try metrics(kept)
        #expect(told[0]["value"] == 20_000 && told[1]["value"] == 400_000 && told[2]["count"] == 20_000)
    }

    // MARK: module/metrics

    @Test(.promise("M.68")) func theBusIsToldWhatTheRuntimeMeasures() async throws {
        let kept = BusMetrics()
        try await withModule(TracedModule.self, configure: { $0.metrics = kept }) { harness in
            try await harness.start()
            _ = try await harness.peer.call("Traced/plain")
            let answer = try await harness.peer.call("module/metrics")
            let told = try #require(answer.body["metrics"]?.array)
            let handled = try #require(
                told.first {
                    $0["name"] == "strata_handled_requests_total" && $0["labels"]?["interface"] == "Traced"
                })
            #expect(
                handled == [
                    "name": "strata_handled_requests_total", "type": "counter",
                    "labels": ["kind": "call", "interface": "Traced", "action": "plain", "code": "ok"], "value": 1,
                ])
            let timer = told.first {
                $0["name"] == "strata_handled_request_duration_seconds" && $0["labels"]?["interface"] == "Traced"
            }
            #expect(timer?["count"] == 1)
        }
    }

    @Test func aModuleThatMeasuresElsewhereHasNothingToTell() async throws {
        try await withModule(TracedModule.self, configure: { $0.metrics = RecordingFactory() }) { harness in
            try await harness.start()
            let answer = try await harness.peer.call("module/metrics")
            #expect(answer.kind == "error" && answer["code"] == "unknown-action")
        }
    }
}
