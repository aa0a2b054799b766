import Foundation
import Testing

/// The commands that make something happen, and what each of them prints of itself.
@Suite(.timeLimit(.minutes(1)))
struct CommandSteeringTests {
    @Test(arguments: ["start", "stop", "restart"])
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

    @Test func downWaitsUntilTheBusIsGone() async throws {
        let (run, asked) = try await strata("down") { _ in
            [.reply("{}"), .farewell("shutting-down", ""), .end]
        }
        #expect(asked.map(\.to) == ["launcher/down"])
        #expect(run.output == "{}\n")
        #expect(run.status == 0)
    }

    @Test func downSaysThatTheBusIsStillThere() async throws {
        let (run, _) = try await strata("down", "--timeout", "300ms") { _ in [.reply("{}")] }
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("strata: deadline-exceeded: fake was told to end"))
    }

    @Test func emitSendsItsNameAndPolicy() async throws {
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

    @Test func notifySpeaksAsALevel() async throws {
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
            run.error == "strata: there is no command cal\nDid you mean call?\n`strata --help` shows those there are.\n"
        )
        #expect(run.status == 2)
    }

    @Test(arguments: [
        "ps", "levels", "routes", "call", "open", "can-open", "emit", "notify", "start", "stop", "restart",
        "monitor", "reload", "down", "check",
    ])
    func helpShowsAnExample(command: String) async throws {
        let run = try await CommandRun.of([command, "--help"])
        #expect(run.status == 0)
        #expect(run.lines.drop { $0 != "EXAMPLE" }.dropFirst().first?.contains("strata \(command)") == true)
        #expect(run.lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("USAGE") })
    }
}
