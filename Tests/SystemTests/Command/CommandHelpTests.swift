import StrataCore
import Testing

/// The help of each command, and messages about typing mistakes.
@Suite(.timeLimit(.hang))
struct CommandHelpTests {
    /// Returns the argument parser's description of all commands.
    private func commands() async throws -> [JSON] {
        let run = try await CommandRun.of(["--experimental-dump-help"])
        let help = try JSON(parsing: Array(run.output.utf8))
        let commands = help["command"]?["subcommands"]?.array ?? []
        try #require(commands.count >= 20, "\(run.output.prefix(1_000))")
        return commands.filter { $0["commandName"] != "help" }
    }

    @Test(.promise("M.88")) func helpOfEachCommandShowsAnExample() async throws {
        for name in try await commands().compactMap({ $0["commandName"]?.string }) {
            let run = try await CommandRun.of([name, "--help"])
            #expect(run.status == 0)
            let examples = run.lines.drop { $0 != "EXAMPLE" }.dropFirst().prefix { $0.hasPrefix("  ") }
            #expect(examples.contains { $0.contains("strata \(name)") }, "strata \(name) --help has no example of it")
            for line in run.lines where line.count > 80 && !line.hasPrefix("USAGE") {
                Issue.record("strata \(name) --help has a line of \(line.count) characters: \(line)")
            }
        }
    }

    @Test func eachArgumentSaysWhatItIs() async throws {
        for command in try await commands() {
            for argument in command["arguments"]?.array ?? [] {
                let (name, of) = (argument["valueName"]?.string ?? "?", command["commandName"]?.string ?? "?")
                #expect(argument["abstract"]?.string?.isEmpty == false, "\(name) of strata \(of) isn't explained")
            }
        }
    }

    @Test(arguments: [
        (["ps", "--jsno"], "--json"), (["call", "A/b", "--timeot", "1s"], "--timeout"),
        (["emit", "app.reload", "--polcy", "all"], "--policy"), (["up", "--buld"], "--build"),
        (["run", "Notes", "--sokcet", "x"], "--socket"),
    ])
    func aMistypedOptionGetsTheNearest(words: [String], meant: String) async throws {
        let run = try await CommandRun.of(words)
        #expect(run.status == 2)
        #expect(run.error.contains("Did you mean '\(meant)'?"), "\(run.error)")
    }

    @Test(arguments: [("pss", "ps"), ("mointor", "monitor"), ("rnu", "run"), ("compeltions", "completions")])
    func aMistypedCommandGetsTheNearest(typed: String, meant: String) async throws {
        let run = try await CommandRun.of([typed])
        #expect(run.status == 2)
        #expect(run.error.contains("Did you mean \(meant)"), "\(run.error)")
    }
}
