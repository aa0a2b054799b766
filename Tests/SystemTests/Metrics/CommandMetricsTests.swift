import StrataCore
import Testing

/// `strata metrics` against a bus with scripted answers.
@Suite(.timeLimit(.hang))
struct CommandMetricsTests {
    static let modules = """
        {"modules":[{"name":"Storage","level":"basic","priority":10,"state":"ready","pid":1,"since":1500,\
        "restarts":2,"open":3,"waiting":4,"queued":5,"start":"eager",\
        "setAside":[{"action":"Storage/a","deaths":3,"until":9},{"action":"Storage/b","deaths":3,"until":9}]},\
        {"name":"Export","level":"topout","priority":0,"state":"absent","pid":null,"since":null,"restarts":0,\
        "open":0,"waiting":0,"queued":0,"start":"on-demand"}]}
        """
    static func stats(count: Int = 7) -> String {
        """
        {"counters":{"calls":8,"opens":1,"replies":7,"errors":7,"broadcasts":3,"notices":4,"reports":5,\
        "violations":6,"dropped":7,"slowConsumers":8,"badFrames":9,"replaced":10},\
        "errors":{"level-violation":6,"modules-own":1},\
        "callMicroseconds":{"p50":45,"p90":99,"p99":1500,"max":2500000,"count":\(count)},"pid":1}
        """
    }
    static let script: FakeBus.Script = { [.reply($0.to == "bus/modules" ? modules : stats())] }

    @Test(.promise("M.67")) func allThatIsKnownIsOpenMetrics() async throws {
        let run = try await strata("metrics", script: Self.script).run
        #expect(run.status == 0 && run.error == "")
        let text = try OpenMetricsText(run.output)
        #expect(text.value("strata_up") == 1)
        #expect(text.value("strata_app_info", ["app": "fake", "env": ""]) == 1)
        #expect(text.value("strata_modules", ["state": "ready"]) == 1)
        #expect(text.value("strata_modules", ["state": "failed"]) == 0)
        let state = ["module": "Export", "strata_module_state": "absent"]
        #expect(text.value("strata_module_state", state) == 1)
        #expect(text.value("strata_module_info", ["module": "Storage", "level": "basic", "start": "eager"]) == 1)
        #expect(text.value("strata_module_restarts_total", ["module": "Storage"]) == 2)
        #expect(text.value("strata_module_state_since_seconds", ["module": "Storage"]) == 1.5)
        #expect(text.value("strata_module_state_since_seconds", ["module": "Export"]) == nil)
        #expect(text.value("strata_module_open_requests", ["module": "Storage"]) == 3)
        #expect(text.value("strata_module_waiting_requests", ["module": "Storage"]) == 4)
        #expect(text.value("strata_module_queued_bytes", ["module": "Storage"]) == 5)
        #expect(text.value("strata_module_quarantined_actions", ["module": "Storage"]) == 2)
        #expect(text.value("strata_module_quarantined_actions", ["module": "Export"]) == 0)
        // Process 1 exists on each machine.
        #expect(try #require(text.value("strata_module_memory_bytes", ["module": "Storage"])) > 0)
        #expect(try #require(text.value("strata_broker_memory_bytes")) > 0)
        #expect(text.value("strata_bus_calls_total") == 8 && text.value("strata_bus_replaced_notices_total") == 10)
        #expect(text.value("strata_bus_errors_total", ["code": "level-violation"]) == 6)
        #expect(text.value("strata_bus_errors_total", ["code": "modules-own"]) == 1)
        #expect(text.value("strata_bus_call_duration_seconds", ["quantile": "0.99"]) == 0.0015)
        #expect(text.value("strata_bus_call_duration_seconds_count") == 7)
        #expect(text.value("strata_bus_call_longest_seconds") == 2.5)
        #expect(run.output.contains("# UNIT strata_broker_memory_bytes bytes\n"))
    }

    @Test(.promise("N.18")) func theWaysToNodesAreMeasured() async throws {
        let nodes = """
            {"nodes":[{"name":"berlin","own":true,"state":"up"},{"name":"tokyo","own":false,"state":"up",\
            "rttMicroseconds":1270,"unackedBytes":7,"resentBytes":8,"gaps":9,"sessions":2},\
            {"name":"osaka","own":false,"state":"never"}]}
            """
        let script: FakeBus.Script = { $0.to == "bus/nodes" ? [.reply(nodes)] : Self.script($0) }
        let text = try OpenMetricsText(
            try await strata(["metrics"], features: [BrokerFeature.node], script: script).run.output)
        let tokyo = ["node": "tokyo"]
        #expect(text.value("strata_node_up", tokyo) == 1 && text.value("strata_node_up", ["node": "osaka"]) == 0)
        #expect(text.value("strata_node_up", ["node": "berlin"]) == nil)
        #expect(text.value("strata_node_rtt_seconds", tokyo) == 0.00127)
        #expect(text.value("strata_node_rtt_seconds", ["node": "osaka"]) == nil)
        #expect(text.value("strata_node_unacked_bytes", tokyo) == 7)
        #expect(text.value("strata_node_resent_bytes_total", tokyo) == 8)
        #expect(text.value("strata_node_gaps_total", tokyo) == 9)
        #expect(text.value("strata_node_sessions_total", tokyo) == 2)
    }

    /// OpenMetrics allows it raw in a label, but a terminal doesn't get it.
    @Test(.promise("M.57")) func aLabelCanNotSteerTheTerminal() async throws {
        let script: FakeBus.Script = {
            [.reply($0.to == "bus/modules" ? #"{"modules":[{"name":"a\u001b[2Jb","state":"ready"}]}"# : Self.stats())]
        }
        let piped = try await strata("metrics", script: script).run
        #expect(piped.output.contains("module=\"a\u{1B}[2Jb\""))
        let shown = try await strata("metrics", output: .terminal(columns: 80), script: script).run
        #expect(shown.output.contains("module=\"a\\u001b[2Jb\"") && !shown.output.contains("\u{1B}"))
    }

    @Test func namesThatNeedItAreEscapedAndNoCallsAreNoNumber() async throws {
        let run = try await strata("metrics") {
            $0.to == "bus/modules"
                ? [.reply(#"{"modules":[{"name":"a\"b\\c\nd","state":"ready"}]}"#)] : [.reply(Self.stats(count: 0))]
        }.run
        let text = try OpenMetricsText(run.output)
        #expect(text.value("strata_module_state", ["module": "a\"b\\c\nd", "strata_module_state": "ready"]) == 1)
        #expect(run.output.contains(#"module="a\"b\\c\nd""#))
        let longest = text.value("strata_bus_call_duration_seconds", ["quantile": "0.5"])
        #expect(try #require(longest).isNaN)
    }

    @Test(.promise("M.67")) func programsMayHaveJSON() async throws {
        let run = try await strata("metrics", "--json", script: Self.script).run
        let samples = try run.lines.map { try JSON(parsing: $0) }
        #expect(samples.first == ["name": "strata_up", "type": "gauge", "labels": [:], "value": 1])
        #expect(
            samples.contains([
                "name": "strata_bus_call_duration_seconds", "type": "summary", "unit": "seconds",
                "labels": ["quantile": "0.5"], "value": 0.000045,
            ]))
    }

    @Test func theParserOfTheseTestsIsStrict() throws {
        let good = "# TYPE a gauge\n# HELP a b\na 1\n# EOF\n"
        _ = try OpenMetricsText(good)
        for bad in [
            "# TYPE a gauge\n# HELP a b\na 1\n", good + "\n", "# TYPE a gauge\n# HELP a b\n\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a b\na 1\na 1\n# EOF\n", "# TYPE a counter\n# HELP a b\na 1\n# EOF\n",
            "# TYPE a gauge\n# UNIT a bytes\n# HELP a b\na 1\n# EOF\n", "# HELP a b\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a b\na{x=\"\\t\"} 1\n# EOF\n", "# TYPE a gauge\n# HELP a b\na{x=\"1\"}1\n# EOF\n",
            "# TYPE a gauge\n# HELP a b\nb 1\n# EOF\n", "# TYPE a stateset\n# HELP a b\na{b=\"c\"} 1\n# EOF\n",
        ] {
            #expect(throws: OpenMetricsText.Fault.self, "\(bad)") { try OpenMetricsText(bad) }
        }
    }

    @Test func servedMetricsAreText() async throws {
        let run = try await CommandRun.of(["metrics", "--socket", "/tmp/none.sock", "--listen", "9464", "--json"])
        #expect(run.status == 2 && run.error.contains("--listen"), "\(run)")
    }

    @Test func withoutABusThereIsNothingToPrint() async throws {
        let run = try await CommandRun.of(["metrics", "--socket", "/tmp/strata-none.sock"])
        #expect(run.status == 3 && run.output == "")
    }
}
