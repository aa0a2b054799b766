import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata test`: an app on a bus of its own, with a command beside it. A run returns when nothing of
/// the command holds its output any more.
@Suite(.timeLimit(.hang))
struct TestCommandTests {
    private let folder = try! TemporaryFolder()  // because a test without one has failed anyway

    /// Runs `strata test [WORDS] -- /bin/sh -c SCRIPT` with the rows of Swift modules and scripts.
    private func test(
        _ rows: String, _ words: String..., script: String, scripts: [String: String] = [:], input: String = ""
    ) async throws -> CommandRun {
        let fixture = try BuiltExecutable.path("StrataFixture")
        let manifest = "app: test\nmodules:\n\(rows.replacing("FIXTURE", with: fixture))\n"
        _ = try folder.file("strata.yaml", manifest)
        for (name, text) in scripts { chmod(try folder.file(name, "#!/bin/sh\n\(text)\n"), 0o755) }
        let bin = folder(of: CommandRun.executable.path)
        return try await CommandRun.of(
            ["test", "\(folder.path)/strata.yaml"] + words + ["--", "sh", "-c", script],
            environment: ["PATH": "\(bin):/usr/bin:/bin", "FIXTURE": fixture, "MEMORY_PRESSURE_WATCH": "/dev/null"],
            input: input)
    }

    private func folder(of path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    /// Says where the socket is, who `strata test` is, and what mode the socket's folder has.
    private static let place = """
        echo "$STRATA_SOCKET"; stat -c %a "$(dirname "$STRATA_SOCKET")"
        read -r _ _ _ parent _ < /proc/$PPID/stat; echo $parent

        """

    /// Tries a command until it succeeds, and gives up after many times.
    private static func until(_ command: String) -> String {
        "n=0; until \(command); do n=$((n + 1)); [ $n -lt 300 ] || exit 99; done"
    }

    private static let base = "  Base: {run: [FIXTURE], provides: [Base]}"

    @Test(.promise("W.1")) func theCommandUsesTheAppAndItsExitCodeIsTheRuns() async throws {
        let run = try await test(
            Self.base,
            script: Self.place + "echo $STRATA_MANIFEST; cat; strata call Base/echo 1; echo said >&2; exit 7",
            input: "given\n")
        #expect(run.status == 7 && !run.isSignalled, "\(run.error)")
        let lines = run.lines
        try #require(lines.count == 6, "\(lines) \(run.error)")
        #expect(lines[1] == "700" && lines[3] == "\(folder.path)/strata.yaml" && Array(lines[4...]) == ["given", "1"])
        #expect(run.error.contains("\nsaid\n") && run.error.contains("Base   | setUp Base\n"), "\(run.error)")
        #expect(run.error.hasSuffix("strata   the app has ended; nothing of it is left\n"))
        #expect(access(folder(of: lines[0]), F_OK) != 0)
        let signalled = try await test(Self.base, script: "kill -9 $$")
        #expect(signalled.status == 128 + SIGKILL && !signalled.isSignalled)
    }

    /// The module waits for the command, and isn't ready even then.
    @Test(.promise("W.1")) func theCommandStartsWithTheBusAndNotAfterTheModules() async throws {
        try #require(mkfifo("\(folder.path)/fifo", 0o600) == 0)
        let run = try await test(
            "  A: {run: [a.sh], stop: 100ms}",
            script: "echo go >\(folder.path)/fifo; \(Self.until("strata logs A | grep -q 'got go'")); exit 5",
            scripts: ["a.sh": "read -r word <fifo; echo \"got $word\"; exec cat <&3"])
        #expect(run.status == 5, "\(run.error)")
    }

    @Test(.promise("W.2")) func thePlayedRowRunsNoProcessAndTheCommandConnectsAsIt() async throws {
        let rows = Self.base + "\n  Played: {run: [nothing/here], provides: [Played], required: true}"
        let run = try await test(
            rows, "--play", "Played",
            script: """
                STRATA_MODULE=Played "$FIXTURE" >&2 &
                \(Self.until("strata call Played/echo 1"))
                strata call Base/call '{"to": "Played/echo", "body": 2}'
                """)
        #expect(run.status == 0 && run.lines == ["1", "2"], "\(run.error)")
        #expect(!run.error.contains("nothing/here"))
        let unknown = try await test(rows, "--play", "Playde", script: "echo ran")
        #expect(unknown.status == 2 && unknown.output.isEmpty)
        #expect(
            unknown.error
                == "strata: --play Playde: \(folder.path)/strata.yaml has no row Playde; did you mean Played?\n")
    }

    @Test(.promise("W.2")) func settingsAreThoseOfTheEnvironment() async throws {
        let run = try await test(
            "  Base: {run: [FIXTURE], provides: [Base], settings: {a.b: 1}}", "--set", "a.b=2", "--quiet",
            script: "strata settings Base --manifest \"$STRATA_MANIFEST\" 2>/dev/null")
        #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
        #expect(run.output.contains(#""key":"a.b","value":2,"layer":"environment""#), "\(run.output)")
        let bad = try await test(Self.base, "--set", "=2", script: "echo ran")
        #expect(bad.status == 2 && bad.output.isEmpty && bad.error.contains("--set takes KEY=VALUE"))
    }

    @Test(.promise("W.3")) func anAppThatCanNotStartIsCode3AndTheCommandIsNotRun() async throws {
        let run = try await test("  Base: {rum: [x]}", script: "echo ran")
        #expect(run.status == 3 && run.output.isEmpty)
        #expect(run.error.contains("strata.yaml:3: modules.Base.rum: unknown key; did you mean run?"), "\(run.error)")
        let nothing = try await CommandRun.of(["test", "\(folder.path)/none.yaml", "--", "/bin/true"])
        #expect(nothing.status == 3, "\(nothing.error)")
        let noCommand = try await CommandRun.of(["test", "\(folder.path)/strata.yaml"])
        #expect(noCommand.status == 2 && noCommand.error.contains("Say after -- which command to run"))
        let missing = try await CommandRun.of(["test", "\(folder.path)/strata.yaml", "--", "/no/program"])
        #expect(missing.status == 2 && missing.error.contains("/no/program can't be run"), "\(missing.error)")
    }

    @Test(.promise("W.3")) func anAppThatEndsFirstEndsTheCommandWithCode3() async throws {
        let rows = Self.base + "\n  Must: {run: [quits.sh], required: true, restart: never}"
        let run = try await test(
            rows, script: "trap 'echo ended; exit 0' TERM; sleep 1000 & wait", scripts: ["quits.sh": "exit 9"])
        #expect(run.status == 3, "\(run.error)")
        #expect(run.error.contains("strata: the app ended before the command, with exit code 1"), "\(run.error)")
    }

    @Test(.promise("W.3")) func aModuleThatFailsDoesNotEndTheCommand() async throws {
        let run = try await test(
            Self.base + "\n  Bad: {run: [quits.sh], restart: never}",
            script: """
                \(Self.until("strata ps --why Bad --json | grep -q failed"))
                strata call Base/echo 1
                exit 4
                """, scripts: ["quits.sh": "exit 9"])
        #expect(run.status == 4 && run.lines == ["1"], "\(run.error)")
    }

    @Test(.promise("W.4"), arguments: [SIGTERM, SIGINT]) func aSignalEndsTheAppAndTheCommand(signal: Int32) async throws
    {
        let run = try await test(
            Self.base,
            script: Self.place + "setsid sleep 1000 & strata call Base/echo 1; kill -\(signal) $parent; exec sleep 1000"
        )
        try #require(run.lines.count == 4, "\(run.output) \(run.error)")
        #expect(run.status == 128 + SIGTERM && !run.isSignalled, "\(run.error)")
        #expect(access(folder(of: run.lines[0]), F_OK) != 0)
    }

    @Test(.promise("W.4")) func whatTheCommandLeavesBehindIsKilled() async throws {
        let run = try await test(Self.base, script: "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo done")
        #expect(run.status == 0 && run.lines == ["done"], "\(run.error)")
    }

    /// The run ends when nobody holds the command's output any more, not even what it has started.
    @Test(.promise("W.4")) func nothingIsLeftWhenTheFirstProcessIsKilled() async throws {
        let run = try await test(
            Self.base,
            script: Self.place
                + "strata call Base/echo 1; (trap '' TERM; setsid sleep 1000) & kill -KILL $parent; exec sleep 1000")
        #expect(run.isSignalled && run.status == SIGKILL)
        try #require(run.lines.count == 4, "\(run.output) \(run.error)")
        #expect(access(folder(of: run.lines[0]), F_OK) != 0)
    }

    /// The terminal sends ctrl-C to both, and the command ends as it likes.
    @Test(.promise("W.4")) func ctrlCIsTheCommandsToo() throws {
        let app = try UpProcess("{app: test, modules: {A: }}")
        defer { app.cleanUp() }
        let terminal = try PseudoTerminal(columns: 80)
        try app.start(
            "test", ["--", "/bin/sh", "-c", "trap 'echo caught; exit 6' INT; echo begun; while :; do read x; done"],
            hasSocket: false, terminal: terminal)
        try app.until { app.said("begun") }
        terminal.type(0x03)
        #expect(try app.ended() == .code(6), "\(app.lines)")
        #expect(app.said("caught") && app.said("SIGINT: the app ends"))
    }

    @Test(.promise("W.5")) func quietShowsTheLastLinesOfTheAppOnlyIfTheCommandFails() async throws {
        let rows = "  A: {run: [a.sh], stop: 100ms, restart: never}"
        let scripts = ["a.sh": "for i in $(seq 300); do echo \"line $i.\"; done; exec cat <&3"]
        let wait = Self.until("strata logs A --lines 1 | grep -q 'line 300\\.'") + "; "
        let good = try await test(rows, "--quiet", script: wait + "exit 0", scripts: scripts)
        #expect(good.status == 0 && good.error.isEmpty, "\(good.error)")
        let bad = try await test(rows, "--quiet", script: wait + "exit 1", scripts: scripts)
        let lines = bad.error.split(separator: "\n")
        #expect(bad.status == 1 && lines.count == 200)
        #expect(lines.contains("A      | line 300.") && !lines.contains("A      | line 99."), "\(bad.error)")
    }
}
