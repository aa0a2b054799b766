import StrataCore
import StrataTesting
import Testing

/// The modules' own metrics in `strata metrics`.
@Suite(.timeLimit(.hang))
struct MeasuredModuleTests {
    /// Returns a bus with these modules, each with its answer to `bus/metrics`.
    private func script(_ answers: [String: FakeBus.Said]) -> FakeBus.Script {
        { asked in
            switch asked.to {
            case "bus/modules":
                let modules = answers.keys.sorted().map { #"{"name":"\#($0)","state":"ready"}"# }
                return [.reply(#"{"modules":[\#(modules.joined(separator: ",")),{"name":"Off","state":"absent"}]}"#)]
            case "bus/metrics":
                let name = (try? JSON(parsing: Array(asked.body.utf8)))?["module"]?.string ?? ""
                return [answers[name] ?? .error("failed", "asked for \(asked.body)")]
            default: return [.reply(CommandMetricsTests.stats())]
            }
        }
    }

    private func text(_ answers: [String: FakeBus.Said]) async throws -> (OpenMetricsText, String) {
        let run = try await strata("metrics", script: script(answers)).run
        #expect(run.status == 0 && run.error == "")
        return (try OpenMetricsText(run.output), run.output)
    }

    private func said(_ metrics: String, dropped: Int = 0) -> FakeBus.Said {
        .reply(#"{"metrics":[\#(metrics)],"dropped":\#(dropped)}"#)
    }

    @Test(.promise("M.68")) func eachSampleHasItsModulesName() async throws {
        let counter = #"{"name":"notes.saved","type":"counter","labels":{"kind":"short"},"value":3}"#
        let gauge = #"{"name":"notes.open","type":"gauge","value":-1.5}"#
        let timer = #"""
            {"name":"notes.index","type":"summary","unit":"seconds","count":2,"sum":0.75,
            "quantiles":{"0.5":0.25,"0.9":0.5,"0.99":null}}
            """#
        let (text, output) = try await text([
            "Notes": said("\(counter),\(gauge),\(timer)", dropped: 2), "Other": said(counter),
        ])
        #expect(text.value("notes_saved_total", ["module": "Notes", "kind": "short"]) == 3)
        #expect(text.value("notes_saved_total", ["module": "Other", "kind": "short"]) == 3)
        #expect(text.value("notes_open", ["module": "Notes"]) == -1.5)
        #expect(text.value("notes_index_seconds", ["module": "Notes", "quantile": "0.9"]) == 0.5)
        #expect(try #require(text.value("notes_index_seconds", ["module": "Notes", "quantile": "0.99"])).isNaN)
        #expect(text.value("notes_index_seconds_count", ["module": "Notes"]) == 2)
        #expect(text.value("notes_index_seconds_sum", ["module": "Notes"]) == 0.75)
        #expect(output.contains("# UNIT notes_index_seconds seconds\n# HELP notes_index_seconds notes.index, as "))
        #expect(text.value("strata_module_metrics_up", ["module": "Notes"]) == 1)
        #expect(text.value("strata_module_dropped_metrics_total", ["module": "Notes"]) == 2)
        #expect(text.value("strata_module_metrics_up", ["module": "Off"]) == nil)
    }

    @Test(.promise("M.68")) func aModuleThatDoesNotTellIsTold() async throws {
        let (text, _) = try await text([
            "Late": .error("deadline-exceeded", "too late"), "Python": .error("unknown-action", "what?"),
            "Gone": .error("unavailable", "gone"), "Odd": .reply("[]"), "Good": said(""),
        ])
        #expect(text.value("strata_module_metrics_up", ["module": "Late"]) == 0)
        #expect(text.value("strata_module_metrics_up", ["module": "Odd"]) == 0)
        #expect(text.value("strata_module_metrics_up", ["module": "Good"]) == 1)
        for none in ["Python", "Gone"] { #expect(text.value("strata_module_metrics_up", ["module": none]) == nil) }
    }

    /// All modules are asked at once, not one after another.
    @Test func allAreAskedWithAnEnd() async throws {
        let (_, all) = try await strata("metrics", script: script(["A": said(""), "B": said("")]))
        let asked = all.filter { $0.to == "bus/metrics" }
        #expect(asked.map(\.body) == [#"{"module":"A"}"#, #"{"module":"B"}"#])
        #expect(asked.allSatisfy { $0.deadline == 1_000 })
    }

    /// Real modules, which bootstrap nothing.
    @Test func whatARealModuleMeasuresIsThere() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for _ in 0..<3 { try tool.asked("Mid/echo", 1) }
        let command = try ChildProgram(
            try BuiltExecutable.path("strata"), ["metrics"], environment: ["STRATA_SOCKET": app.running.socket])
        #expect(try command.wait() == .exit(0))
        let text = try OpenMetricsText(command.outputText)
        #expect(text.value("fixture_echoes_total", ["module": "Mid"]) == 3)
        #expect(text.value("fixture_echoes_total", ["module": "Base"]) == 0)
        let echo = ["module": "Mid", "kind": "call", "interface": "Mid", "action": "echo"]
        #expect(text.value("strata_handled_requests_total", echo.merging(["code": "ok"]) { $1 }) == 3)
        #expect(text.value("strata_handled_request_duration_seconds_count", echo) == 3)
        for module in ["Base", "Mid", "Top"] {
            #expect(text.value("strata_module_metrics_up", ["module": module]) == 1)
            #expect(text.value("strata_module_dropped_metrics_total", ["module": module]) == 0)
        }
        // It isn't started to be asked.
        #expect(text.value("strata_module_metrics_up", ["module": "Lazy"]) == nil)
        #expect(text.value("strata_module_state", ["module": "Lazy", "strata_module_state": "absent"]) == 1)
        try app.end()
    }
}
