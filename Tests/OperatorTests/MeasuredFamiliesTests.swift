import StrataCore
import TestSupport
import Testing

@testable import StrataOperator

/// The metrics that modules measure, beside the counts of the bus.
@Suite(.timeLimit(.hang))
struct MeasuredFamiliesTests {
    /// Returns a look at a bus whose module `X` reported these metrics.
    private func families(_ metrics: [String], dropped: Int = 0) throws -> [MetricFamily] {
        let answer = #"{"metrics":[\#(metrics.joined(separator: ","))],"dropped":\#(dropped)}"#
        let module = try #require(MeasuredModule("X", .success(Array(answer.utf8))))
        return BusSnapshot(
            welcome: try #require(Welcome(Array("{}".utf8))), modules: [], stats: BusStats(.null), measured: [module],
            at: 0
        ).families
    }

    @Test(.promise("M.68")) func namesThatAreNotAllowedOrTakenAreMadeSo() throws {
        let metrics = [
            // Each wants a name that another one has, or an invalid one.
            #"{"name":"strata_up","type":"counter","value":1}"#, #"{"name":"strata_up","type":"gauge","value":2}"#,
            #"{"name":"a.b","type":"gauge","value":3}"#, #"{"name":"a-b","type":"gauge","value":4}"#,
            #"{"name":"a b","type":"gauge","value":5}"#, #"{"name":"a_b_total","type":"counter","value":6}"#,
            #"{"name":"9 lives","type":"gauge","value":7}"#, #"{"name":"ü:x","type":"gauge","value":8}"#,
            #"{"name":"l","type":"gauge","labels":{"module":"m","quantile":"q","a b":"1","a_b":"2","9":"3"},"value":9}"#,
            #"{"name":"s_count","type":"gauge","value":10}"#,
            #"{"name":"s","type":"summary","count":1,"sum":11,"quantiles":{}}"#,
            #"{"name":"t_seconds","type":"gauge","value":12}"#,
            #"{"name":"t","type":"summary","unit":"seconds","count":1,"sum":13,"quantiles":{}}"#,
        ]
        let text = try families(metrics)
        #expect(text.value("strata_up", [:]) == 1)
        func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
            text.value(name, labels.merging(["module": "X"]) { $1 })
        }
        #expect(value("strata_up_counter_total") == 1 && value("strata_up_gauge") == 2)
        #expect(value("a_b") == 3 && value("a_b_gauge") == 4 && value("a_b_gauge_2") == 5)
        #expect(value("a_b_counter_total") == 6)
        #expect(value("_9_lives") == 7 && value("_:x") == 8)
        let labels = [
            "exported_module": "m", "exported_quantile": "q", "a_b": "1", "exported_a_b": "2", "_9": "3",
        ]
        #expect(value("l", labels) == 9)
        #expect(value("s_count") == 10 && value("s_summary_sum") == 11)
        #expect(value("t_seconds") == 12 && value("t_summary_seconds_sum") == 13)
    }

    @Test(.promise("M.68")) func whatIsNoMetricIsCountedAsDropped() throws {
        let metrics = [
            "1", "{}", #"{"name":"","type":"gauge","value":1}"#, #"{"name":"a","type":"info","value":1}"#,
            #"{"name":"a","type":"gauge"}"#, #"{"name":"a","type":"gauge","value":"1"}"#,
            #"{"name":"a","type":"summary","count":-1,"sum":0}"#, #"{"name":"a","type":"summary","count":1}"#,
            #"{"name":"a","type":"counter","value":-1}"#, #"{"name":"a","type":"counter","value":null}"#,
            #"{"name":"a","type":"gauge","value":1}"#, #"{"name":"a","type":"gauge","value":2}"#,
            #"{"name":"q","type":"summary","count":1,"sum":1,"quantiles":{"2":1}}"#,
            #"{"name":"n","type":"gauge","unit":"a b","value":1}"#,
        ]
        let text = try families(metrics, dropped: 1)
        #expect(text.value("a", ["module": "X"]) == 1)
        #expect(text.value("strata_module_dropped_metrics_total", ["module": "X"]) == 14)
    }
}

extension [MetricFamily] {
    /// Returns the only sample with these labels, in any order.
    fileprivate func value(_ name: String, _ labels: [String: String]) -> Double? {
        let samples = flatMap { family in
            family.samples.filter { sample in
                family.name + sample.suffix == name
                    && Dictionary(sample.labels.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) == labels
            }
        }
        return samples.count == 1 ? Double(samples[0].value.text) : nil
    }
}
