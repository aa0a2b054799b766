import Foundation
import Testing

/// The commands that make something happen, and their output.
@Suite(.timeLimit(.hang))
struct CommandSteeringTests {
    @Test(.promise("M.85"), arguments: ["start", "stop", "restart"])
    func theLauncherIsAsked(command: String) async throws {
        let (run, asked) = try await strata(command, "Export") { _ in [.reply("{}")] }
        #expect(run.output == "{}\n")
        #expect(asked.map(\.to) == ["launcher/\(command)"])
        #expect(asked.first?.body == #"{"module":"Export"}"#)
        #expect(asked.first?.deadline == 120_000)
    }

    @Test func aMistypedModuleGetsTheNearest() async throws {
        let (run, _) = try await strata("restart", "Exprot") { asked in
            asked.to == "bus/modules"
                ? [.reply(#"{"modules":[{"name":"Export"}]}"#)] : [.error("unknown-module", "no row names it")]
        }
        #expect(run.error == "strata: unknown-module: no row names it\nDid you mean Export?\n")
        #expect(run.status == 1)
    }

    @Test(.promise("M.43")) func downWaitsUntilTheBusIsGone() async throws {
        let (run, asked) = try await strata("down") { _ in
            [.reply("{}"), .farewell("shutting-down", ""), .end]
        }
        #expect(asked.map(\.to) == ["launcher/down"])
        #expect(run.output == "{}\n")
        #expect(run.status == 0)
    }

    @Test func downSaysThatTheBusIsStillThere() async throws {
        let (run, _) = try await strata("down", "--timeout", "1s") { _ in [.reply("{}")] }
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("strata: deadline-exceeded: fake was asked to end"))
    }

    @Test(.promise("M.83")) func emitSendsItsNameAndPolicy() async throws {
        let (run, asked) = try await strata("emit", "app.suspend", "[1]", "--policy", "any", "--timeout", "2s") { _ in
            [.reply(#"{"answer":true,"answers":[]}"#)]
        }
        let emit = try #require(asked.first)
        #expect(emit.to == "bus/emit")
        #expect(emit.name == "app.suspend")
        #expect(emit.meta == #"{"policy":"any"}"#)
        #expect(emit.body == "[1]")
        #expect(emit.deadline == 2_000)
        #expect(run.output == #"{"answer":true,"answers":[]}"# + "\n")
    }

    @Test func emitTakesItsParamsFromStdinAndHasDefaults() async throws {
        let reply: FakeBus.Script = { _ in [.reply(#"{"answer":false,"answers":[]}"#)] }
        let (piped, asked) = try await strata("emit", "x", "-", input: #"{"a":1}"#, script: reply)
        #expect(piped.status == 0)
        #expect(asked.first?.body == #"{"a":1}"#)
        #expect(asked.first?.meta == #"{"policy":"notify"}"#)
        #expect(asked.first?.deadline == nil)
        let (plain, bare) = try await strata("emit", "x", script: reply)
        #expect(plain.output == #"{"answer":false,"answers":[]}"# + "\n")
        #expect(bare.first?.body == "")
    }

    @Test func emitShowsWhoAnsweredWhat() async throws {
        let script: FakeBus.Script = { _ in
            [.reply(#"{"answer":false,"answers":[{"module":"A","answer":true},{"module":"B","code":"died"}]}"#)]
        }
        let (run, _) = try await strata(
            "emit", "x", "--policy", "all", environment: ["TERM": "dumb"], output: .terminal(columns: 60),
            script: script)
        let words = run.lines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(words == ["MODULE ANSWER", "A true", "B died", "false"])
        #expect(run.status == 0)
    }

    @Test func emitSaysThatNobodyDeclaresAnEvent() async throws {
        func said(_ event: String) async throws -> String {
            try await strata(
                "emit", event, environment: ["TERM": "dumb"], output: .terminal(columns: 60),
                script: { request in
                    request.to == "bus/names"
                        ? [.reply(#"{"events":["note.sweep"]}"#)] : [.reply(#"{"answer":true,"answers":[]}"#)]
                }
            ).0.error
        }
        #expect(
            try await said("app.reloud") == "No module that is ready declares app.reloud.\nDid you mean app.reload?\n")
        #expect(
            try await said("note.swep") == "No module that is ready declares note.swep.\nDid you mean note.sweep?\n")
        #expect(try await said("app.reload") == "")
    }

    @Test func notifySaysThatNobodyKnowsAName() async throws {
        func said(_ name: String) async throws -> String {
            try await strata(
                "notify", name, environment: ["TERM": "dumb"], output: .terminal(columns: 60),
                script: { request in
                    request.to == "bus/names"
                        ? [.reply(#"{"notifications":["note.added"]}"#)] : [.reply(#"{"recipients":0}"#)]
                }
            ).0.error
        }
        #expect(try await said("note.aded") == "No module here observes note.aded.\nDid you mean note.added?\n")
        #expect(try await said("note.added") == "")
    }

    /// Nothing reaches the bus.
    @Test(arguments: [
        ["emit"], ["emit", "x", "{"], ["emit", "x", "1", "2"], ["emit", "x", "--policy", "most"],
        ["emit", "x", "--timeout", "5"], ["emit", "x", "--timeout", "25h"], ["notify"], ["notify", "x", "{'a'}"],
        ["notify", "x", "--level"], ["start"], ["stop", "A", "B"], ["restart", "A", "--timeout", "soon"],
        ["start", "A", "--timeout", "-1s"], ["emit", ""], ["notify", ""], ["report"], ["report", "A"],
        ["report", "A", ""], ["report", "A", "x", "{"], ["report", "A", "x", "--timeout", "1"], ["observe"],
        ["observe", "x", ""], ["observe", "x", "--count", "0"], ["wait"], ["wait", ""],
        ["wait", "x", "--timeout", "1"],
        ["emit", String(repeating: "n", count: 257)],
    ])
    func badInputIsUsage(arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { _ in [.reply("{}")] }
        defer { bus.close() }
        let run = try await CommandRun.of(arguments, environment: ["STRATA_SOCKET": bus.path])
        #expect(run.status == 2, "\(run)")
        #expect(run.error.hasPrefix("strata: ") && run.output == "")
        #expect(bus.asked.isEmpty)
    }

    @Test func notifyNamesItsObjectAndCounts() async throws {
        let (run, asked) = try await strata(
            "notify", "item.changed", "[7]", "--object", "item/7", "--level", "topout",
            environment: ["TERM": "dumb"], output: .terminal(columns: 60)
        ) { _ in [.reply(#"{"recipients":1}"#)] }
        #expect(run.output == "1 notice was queued\n")
        #expect(asked.first?.body == "[7]")
        #expect(asked.first?.object == "item/7")
        #expect(asked.first?.level == "topout")
    }

    @Test(.promise("M.91")) func reportGoesToOneModuleAndCountsItsObservers() async throws {
        let (run, asked) = try await strata(
            "report", "Log", "note.saved", "[7]", "--object", "notes/7", "--timeout", "2s",
            environment: ["TERM": "dumb"], output: .terminal(columns: 60)
        ) { _ in [.reply(#"{"observers":2}"#)] }
        #expect(run.output == "2 observers answered\n")
        let report = try #require(asked.first)
        #expect(report.kind == .report && report.to == "Log" && report.name == "note.saved")
        #expect(report.object == "notes/7" && report.body == "[7]" && report.deadline == 2_000)
        let (plain, bare) = try await strata("report", "Log", "x") { _ in [.reply(#"{"observers":0}"#)] }
        #expect(plain.output == #"{"observers":0}"# + "\n" && plain.error == "")
        #expect(bare.count == 1 && bare.first?.deadline == nil)
    }

    @Test(.promise("M.91")) func reportSuggestsNamesAndModules() async throws {
        let script: FakeBus.Script = { asked in
            switch asked.to {
            case "bus/names": [.reply(#"{"notifications":["note.added"]}"#)]
            case "bus/modules": [.reply(#"{"modules":[{"name":"Export"}]}"#)]
            case "Export": [.reply(#"{"observers":0}"#)]
            default: [.error("unknown-module", "no such module")]
            }
        }
        let (unheard, _) = try await strata(
            "report", "Export", "note.aded", environment: ["TERM": "dumb"], output: .terminal(columns: 60),
            script: script)
        #expect(unheard.error == "Export doesn't observe note.aded.\nDid you mean note.added?\n")
        #expect(unheard.output == "0 observers answered\n" && unheard.status == 0)
        let (unknown, _) = try await strata("report", "Exprot", "x", script: script)
        #expect(unknown.error == "strata: unknown-module: no such module\nDid you mean Export?\n")
        #expect(unknown.status == 1)
    }

    @Test(.promise("M.83")) func notifySpeaksAsALevel() async throws {
        let script: FakeBus.Script = { _ in [.reply(#"{"recipients":2}"#)] }
        let (run, asked) = try await strata("notify", "session.ended", script: script)
        #expect(run.output == #"{"recipients":2}"# + "\n")
        #expect(asked.first?.kind == .broadcast)
        #expect(asked.first?.level == "basic")
        let (middle, chosen) = try await strata("notify", "x", "--level", "middle", script: script)
        #expect(middle.status == 0)
        #expect(chosen.first?.level == "middle")
        let (unknown, none) = try await strata("notify", "x", "--level", "medium", script: script)
        #expect(unknown.status == 2)
        #expect(unknown.error.contains("basic, middle, topout"))
        #expect(none.isEmpty)
        #expect(try await strata("notify", "x", "--level", "mddle", script: script).0.error.hasSuffix("mean middle?\n"))
    }

    @Test func badURLIsAnError() async throws {
        let (run, asked) = try await strata("open", "app:/item") { _ in [.reply("1")] }
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("strata: bad-url: "))
        #expect(asked.isEmpty)
    }

    @Test func usageErrorsExitWithTwoAndHelpWithNone() async throws {
        for arguments in [["bogus"], ["call"], ["ps", "--colour"], ["emit", "x", "--policy", "most"]] {
            let run = try await CommandRun.of(arguments)
            #expect(run.status == 2, "\(arguments)")
            #expect(run.error.hasPrefix("strata: "), "\(arguments)")
            #expect(run.output == "")
        }
        let version = try await CommandRun.of(["--version"])
        #expect(version.output.hasPrefix("strata "))
        #expect(version.status == 0)
    }

    @Test func aMistypedCommandGetsTheNearest() async throws {
        let run = try await CommandRun.of(["cal", "Catalog/list"])
        #expect(
            run.error == "strata: there is no command cal\nDid you mean call?\n`strata --help` lists the commands.\n"
        )
        #expect(run.status == 2)
    }
}
