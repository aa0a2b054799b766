import StrataCore
import Testing

@testable import Strata

/// The metrics that a module gives to a `MetricsFactory`.
@Suite(.timeLimit(.hang))
struct RuntimeMetricsTests {
    private func measured(
        _ test: @ModuleActor (Harness<TracedModule>, FakePeer, RecordingFactory) async throws -> Void
    ) async throws {
        let factory = RecordingFactory()
        try await withModule(TracedModule.self, configure: { $0.metrics = factory }) { harness in
            try await harness.start()
            try await test(harness, harness.peer, factory)
        }
    }

    @Test(.promise("M.69")) func requestsAreCountedByNameAndOutcome() async throws {
        try await measured { _, peer, metrics in
            for code in ["", "unavailable", ""] {
                _ = peer.send(call: "Traced/ask")
                let call = try await peer.expect("call")
                #expect(metrics["strata_open_requests"] == 1 && metrics["strata_open_handled_requests"] == 1)
                if code.isEmpty { peer.reply(call, 1) } else { peer.fail(call, code) }
                _ = await peer.frame()
            }
            let of = "kind=call,interface=Other,action=answer"
            #expect(metrics["strata_requests_total{\(of),code=ok}"] == 2)
            #expect(metrics["strata_requests_total{\(of),code=unavailable}"] == 1)
            #expect(metrics["strata_request_duration_seconds{\(of)}"] == 3)
            let handled = "kind=call,interface=Traced,action=ask"
            #expect(metrics["strata_handled_requests_total{\(handled),code=ok}"] == 2)
            #expect(metrics["strata_handled_requests_total{\(handled),code=failed}"] == 1)
            #expect(metrics["strata_handled_request_duration_seconds{\(handled)}"] == 3)
            #expect(metrics["strata_open_requests"] == 0 && metrics["strata_open_handled_requests"] == 0)
            #expect(metrics["strata_connections_total"] == 1)
            #expect(metrics.makings.values.allSatisfy { $0 == 1 }, "\(metrics.makings)")
        }
    }

    @Test(.promise("M.69")) func noticesAreCountedAndThoseMissedToo() async throws {
        try await measured { _, peer, metrics in
            let notice: [JSON.Member] = [
                .init("kind", "notice"), .init("from", "Press"), .init("level", "basic"), .init("via", "broadcast"),
            ]
            peer.send(.object(notice + [.init("name", "latest"), .init("subscription", 2), .init("missed", 3)]))
            _ = peer.send(call: "Traced/tell")
            _ = try await peer.expect("broadcast")
            _ = try await peer.expect("reply")
            _ = try await peer.call("Traced/plain")
            #expect(metrics["strata_missed_notices_total{name=latest}"] == 3)
            #expect(metrics["strata_handled_notices_total{kind=broadcast,name=latest,code=ok}"] == 1)
            #expect(metrics["strata_handled_notice_duration_seconds{kind=broadcast,name=latest}"] == 1)
            #expect(metrics["strata_sent_notices_total{kind=broadcast,name=traced.told,code=ok}"] == 1)
            #expect(metrics["strata_open_handled_notices"] == 0)
        }
    }

    @Test func aStreamThatWaitsForCreditSaysSo() async throws {
        try await measured { _, peer, metrics in
            let id = peer.send(call: "Traced/count", 2, [.init("credit", 1)])
            _ = try await peer.expect("reply")
            peer.send(["kind": "credit", "id": .integer(id), "credit": 1])
            for _ in 0..<2 { _ = try await peer.expect("reply") }
            #expect(metrics["strata_credit_wait_seconds"] == 1)
        }
    }

    @Test(.promise("M.69")) func namesThatACallerInventsHaveAnEnd() async throws {
        try await measured { _, peer, metrics in
            // Unknown actions share one name.
            for number in 0..<5 { _ = try await peer.call("Traced/none\(number)") }
            let other = "kind=call,interface=other,action=other"
            #expect(metrics["strata_handled_requests_total{\(other),code=unknown-action}"] == 5)
            // For an interface that accepts any action, there are as many names as there is room
            // for.
            for number in 0..<300 { _ = try await peer.call("Proxy/any\(number)", 1) }
            let names = metrics.names.filter { $0.hasPrefix("strata_handled_requests_total{") }
            #expect(names.count <= SeriesTable.most + 2, "\(names.count)")
            #expect(metrics["strata_handled_requests_total{kind=call,interface=Proxy,action=any0,code=ok}"] == 1)
            let rest = try #require(metrics["strata_handled_requests_total{\(other),code=ok}"])
            #expect(rest == Int64(300 - (SeriesTable.most - 1)))
        }
    }

    @Test(.promise("M.69")) func codesThatAModuleInventsHaveAnEnd() async throws {
        try await measured { harness, peer, metrics in
            let bus = Bus(harness.runtime)
            for number in 0..<70 {
                async let answer = bus.call("Other/answer")
                peer.fail(try await peer.expect("call"), "Other.code\(number)")
                _ = try? await answer
            }
            let names = metrics.names.filter { $0.hasPrefix("strata_requests_total{") }
            #expect(names.count == Series.mostCodes + 1)
            let other = "strata_requests_total{kind=call,interface=Other,action=answer,code=other}"
            #expect(metrics[other] == Int64(70 - Series.mostCodes))
        }
    }

    @Test func instancesShareTheSeriesOfTheirInterface() {
        #expect(Subject(.call, to: "Cart#12/add").name == "Cart/add")
        #expect(Subject(.call, to: "Cart/add").interface == "Cart" && Subject(.call, to: "Cart/add").action == "add")
    }
}
