import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// `strata ps --why`: the reasons for modules' states, with real processes.
@Suite(.timeLimit(.hang))
struct WhyTests {
    @Test(.promise("M.13", "M.62", "R.9")) func crashLoopEndsAsFailedAndSaysWhy() async throws {
        let script = """
            i=0; while [ $i -lt 40 ]; do printf 'line %d \\033[31mred\\033[2J\\n' $i; i=$((i + 1)); done
            head -c 5000 /dev/zero | tr '\\0' x; echo; echo 'last words' >&2; exit 5
            """
        let app = try UpProcess(
            """
            app: test
            modules:
              Loop: {run: [loop.sh], backoff: {first: 1ms, most: 1ms, reset: 60s}}
              Fine: {run: [fine.sh], start: async, stop: 100ms}
            """, scripts: ["loop.sh": script, "fine.sh": "echo fine; exec cat <&3"])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("Loop     failed: ") && app.said("Fine   | fine") }
        let why = try app.why("Loop")
        #expect(why["state"] == "failed" && why["restarts"] == 9 && why["code"] == 5)
        #expect(why["exit"] == "exit code 5" && why["endedPid"]?.integer ?? 0 > 0)
        let reason = try #require(why["reason"]?.string)
        #expect(
            reason == "it ended with exit code 5 before it was ready; that was the 10th time in a row, so it is not "
                + "started again")
        let lines = (why["lines"]?.array ?? []).compactMap(\.string)
        #expect(lines.count == 20 && lines.contains("line 39 red [2J") && lines.contains("last words"), "\(lines)")
        #expect(lines.contains(String(repeating: "x", count: 512)))
        // On a terminal the text is the same, and nothing controls the terminal.
        let shown = try await CommandRun.of(
            ["ps", "--why"], environment: ["STRATA_SOCKET": app.socket, "NO_COLOR": "1"],
            output: .terminal(columns: 100))
        #expect(shown.output.contains("Loop    failed") && shown.output.contains("exit code 5, "), "\(shown.output)")
        #expect(shown.output.contains("Loop wrote last:") && shown.output.contains("    last words"))
        #expect(!shown.output.contains("\u{1B}"))
        // A module that hasn't said hello isn't ready, and shows its output so far.
        #expect(shown.output.contains("Fine wrote last:") && shown.output.contains("it waits to say hello to the bus"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.62")) func whatIsReadyAndWasNeverStartedAgainIsLeftOut() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let all = try app.running.strata("ps", "--why", "--json")
        #expect(all.end == .exit(0))
        // The module that waits for its first request isn't ready.
        #expect(try all.output.split(separator: "\n").map { try JSON(parsing: String($0))["name"] } == ["Lazy"])
        #expect(try app.running.why("Base")["lines"] == [])
        let tool = try app.tool()
        kill(try app.pid(of: "Base", tool), SIGKILL)
        try app.running.until { app.running.lines.count { $0.hasPrefix("Base ") && $0.contains("ready after") } == 2 }
        let why = try app.running.why("Base")
        #expect(why["state"] == "ready" && why["signal"] == 9 && why["restarts"] == 1)
        #expect(
            why["reason"] == "it ended with signal 9 (Killed)" && why["lines"]?.array?.contains("setUp Base") == true)
        let unknown = try app.running.strata("ps", "--why", "Bas")
        #expect(unknown.end == .exit(1) && unknown.output.contains("Did you mean Base?"), "\(unknown.output)")
        #expect(try app.running.strata("ps", "Base").end == .exit(2))
        try app.end()
    }

    @Test(.promise("M.19", "R.9")) func eachWayToFailAtTheStartIsNamed() throws {
        try withShortStartup(isEachWayNamed)
    }

    private func isEachWayNamed(startup: String) throws -> Bool {
        let app = try FixtureApp(
            """
              Fails: {run: [MODULE], env: {FIXTURE: fails in setUp}, restart: never}
              Hangs: {run: [MODULE], env: {FIXTURE: hangs in setUp}, restart: never}
              Quits: {run: [quits.sh], restart: never}
              Silent: {run: [silent.sh], restart: never}
              Missing: {run: [bin/nothing]}
              Plain: {run: [plain]}
              Text: {run: [text]}
              Interpreter: {run: [interpreter]}
              Folder: {run: [silent.sh], folder: nowhere}
            """, extra: "startup: \(startup)")
        defer { app.cleanUp() }
        let running = app.running
        try running.write("quits.sh", "#!/bin/sh\necho 'no configuration' >&2; exit 9\n", mode: 0o755)
        try running.write("silent.sh", "#!/bin/sh\nexec cat <&3\n", mode: 0o755)
        try running.write("plain", "#!/bin/sh\n", mode: 0o644)
        try running.write("text", "just a text\n", mode: 0o755)
        try running.write("interpreter", "#!/nowhere/python9\n", mode: 0o755)
        try app.start()
        let reasons = [
            "Fails": /its setUp failed: .*, and was ended|it ended with .* before it was ready/,
            "Hangs": /it did not answer setUp within [0-9]+ m?s|it ended with .* before it was ready/,
            "Quits": /it ended with exit code 9 before it was ready/,
            "Silent": /it did not say hello to the bus within [0-9]+ m?s, and was ended/,
            "Missing": /nothing isn't there; build it, or fix `run`/,
            "Plain": /plain is not executable; run chmod \+x/,
            "Text": /is not a program for this machine; a script needs a first line such as #!\/bin\/sh/,
            "Interpreter": /can't be started: the interpreter that its first line names, or a loader/,
            "Folder": /its folder .*nowhere can't be entered/,
        ]
        try running.until { reasons.keys.allSatisfy { app.line(of: $0, "failed: ") != nil } }
        guard app.isInTime(hanging: ["Fails", "Hangs", "Quits"]) else { return false }
        for (module, reason) in reasons {
            let why = try running.why(module)
            #expect(why["state"] == "failed", "\(why)")
            #expect(why["reason"]?.string?.contains(reason) == true, "\(why)")
        }
        #expect(try running.why("Quits")["lines"] == ["no configuration"])
        #expect(try running.why("Fails")["lines"]?.description.contains("the disk is away") == true)
        #expect(try running.why("Silent")["signal"] == 15)
        #expect(try running.why("Missing")["exit"] == nil)
        try app.end()
        return true
    }

    @Test(.promise("10.24", "R.10")) func failedBackgroundWorkIsTheReasonForOperatorsAlone() throws {
        let app = try FixtureApp(
            "  Feed: {run: [MODULE], provides: [Feed], env: {FIXTURE: fails in the background}, restart: never}")
        defer { app.cleanUp() }
        try app.start()
        try app.running.until { app.line(of: "Feed", "failed: ") != nil }
        let failure = "Fixture: background work \"the feed\" failed: Fixture.no-feed: the feed is away"
        let why = try app.running.why("Feed")
        #expect(why["reason"] == "it ended with exit code 1" && why["code"] == 1, "\(why)")
        #expect(why["lines"] == ["setUp Feed", "tearDown Feed", .string(failure)], "\(why)")
        let shown = try app.running.strata("ps", "--json").output
        #expect(shown.contains("the feed is away"), "\(shown)")
        // A caller learns that it failed, but nothing of its output.
        let tool = try app.tool()
        let refused = try tool.refused("Feed/echo", with: "unavailable")
        #expect(refused.message.contains("it ended with exit code 1"), "\(refused.message)")
        #expect(!refused.message.contains("feed is away") && !refused.message.contains("lines"), "\(refused.message)")
        try app.end()
    }

    /// Its backtrace is longer than what is kept. Registers and images aren't in it.
    @Test(.promise("M.63")) func aCrashInSwiftIsToldWithItsCause() async throws {
        let app = try FixtureApp("  Crashes: {run: [MODULE], env: {FIXTURE: crashes at once}, restart: never}")
        defer { app.cleanUp() }
        try app.start()
        try app.running.until { app.line(of: "Crashes", "failed: ") != nil }
        let why = try app.running.why("Crashes")
        let lines = (why["lines"]?.array ?? []).compactMap(\.string)
        #expect(lines.contains { $0.hasSuffix(" Precondition failed: the disk is away") || $0.contains("Fatal error") })
        #expect(lines.count <= 20 && lines.contains { $0.contains(" in StrataFixture") }, "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("rax ") || $0.hasPrefix("Images") }, "\(lines)")
        let shown = try await CommandRun.of(
            ["ps"], environment: ["STRATA_SOCKET": app.running.socket, "NO_COLOR": "1"], output: .terminal(columns: 80))
        #expect(shown.output.contains("\nCrashes: it ended with signal "), "\(shown.output)")
        try app.end()
    }

    /// A frame that holds next to nothing: the lines are left out, and the launcher keeps its
    /// connection.
    @Test(.promise("10.33")) func answerFitsIntoASmallFrame() throws {
        let script =
            "i=0; while [ $i -lt 40 ]; do echo line $i $(printf %0200d 0); i=$((i + 1)); done; exit 5"
        let app = try UpProcess(
            """
            app: test
            limits: {frame: 2KiB, header: 1KiB}
            modules:
              Quits: {run: [quits.sh], restart: never}
            """, scripts: ["quits.sh": script])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("Quits    failed") }
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        let why = try tool.asked("launcher/why", ["module": "Quits"])
        let lines = why["end"]?["lines"]?.array ?? []
        #expect((1..<20).contains(lines.count) && lines.last?.string?.hasPrefix("line 39") == true, "\(why)")
        #expect(!app.said("no connection to the broker"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }
}
