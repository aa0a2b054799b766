import Glibc
import StrataTesting
import Testing

/// The commands that steer an app, against a real one.
@Suite(.timeLimit(.hang))
struct SteeredAppTests {
    private func strata(_ app: FixtureApp, _ words: String...) throws -> (end: ChildProgram.End, output: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), words, environment: ["STRATA_SOCKET": app.running.socket])
        return (try program.wait(), program.outputText)
    }

    @Test(.promise("M.85")) func modulesAreStartedStoppedAndRestarted() throws {
        let app = try FixtureApp("  Hand: {start: manual, run: [MODULE], provides: [Hand]}\n  Bare: {start: manual}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        #expect(try strata(app, "start", "Hand") == (.exit(0), "{}\n"))
        let first = try app.pid(of: "Hand", tool)
        // A second start does nothing.
        #expect(try strata(app, "start", "Hand") == (.exit(0), "{}\n"))
        #expect(try app.pid(of: "Hand", tool) == first)
        #expect(try strata(app, "restart", "Hand") == (.exit(0), "{}\n"))
        #expect(try app.pid(of: "Hand", tool) != first)
        #expect(!UpProcess.lives(first))
        for _ in 0..<2 { #expect(try strata(app, "stop", "Hand") == (.exit(0), "{}\n")) }
        _ = try tool.refused("Hand/echo", with: "unavailable")
        for (command, name, word) in [
            ("start", "Bare", "by hand"), ("stop", "Hend", "Hand"), ("restart", "bus", "bus"),
        ] {
            let run = try strata(app, command, name)
            #expect(run.end == .exit(1))
            #expect(run.output.hasPrefix("strata: un") && run.output.contains(word), "\(run.output)")
        }
        try app.end()
    }

    /// The module's process has started another one, in a session of its own, which is connected.
    @Test(.promise("10.26")) func whatAStoppedModuleHasStartedLosesTheBus() throws {
        let app = try FixtureApp(
            "  Left: {start: manual, run: [/bin/sh, -c, 'setsid \"MODULE\" & exec cat <&3'], provides: [Left]}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        #expect(try strata(app, "start", "Left") == (.exit(0), "{}\n"))
        let holder = try app.pid(of: "Left", tool)
        #expect(!app.running.children().contains(holder))
        #expect(try strata(app, "stop", "Left") == (.exit(0), "{}\n"))
        try app.running.until { !UpProcess.lives(holder) || UpProcess.state(of: holder) == "Z" }
        let row = try tool.asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Left" }
        #expect(row?["state"] == "absent" && row?["pid"] == .null, "\(row ?? .null)")
        _ = try tool.refused("Left/echo", with: "unavailable")
        try app.end()
    }

    /// Each stop is answered, and no request is lost.
    @Test(.promise("M.14")) func stopsOfAModuleThatIsWantedAllTheTimeAreAnswered() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for _ in 0..<5 {
            try tool.expectReply(to: try tool.call("Lazy/echo"))
            let stop = try tool.call("launcher/stop", ["module": "Lazy"])
            repeat {
                try tool.expectReply(to: try tool.call("Lazy/echo"))
            } while !tool.inbox.contains { $0.id == stop }
            try tool.expectReply(to: stop)
        }
        try app.end()
    }

    @Test func startThatTakesTooLongIsLeftToGoOn() throws {
        let app = try FixtureApp("  Slow: {start: manual, run: [MODULE], env: {FIXTURE: hangs in setUp}, stop: 100ms}")
        defer { app.cleanUp() }
        try app.start()
        let run = try strata(app, "start", "Slow", "--timeout", "2s")
        #expect(run.end == .exit(1))
        #expect(run.output.hasPrefix("strata: deadline-exceeded"), "\(run.output)")
        #expect(try strata(app, "stop", "Slow").end == .exit(0))
        try app.end()
    }

    @Test func eventsAndBroadcastsReachRealModules() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let emitted = try strata(app, "emit", "app.suspend", #"{"reason":"lid"}"#, "--policy", "all")
        #expect(
            emitted.output
                == #"{"answer":true,"answers":[{"module":"Base","answer":true},{"module":"Mid","answer":true},{"module":"Top","answer":true}]}"#
                + "\n")
        try app.running.until { app.heard(#"app.suspend {"reason":"lid"}"#) == 3 }
        #expect(try strata(app, "emit", "nobody.knows").output == #"{"answer":true,"answers":[]}"# + "\n")
        #expect(try strata(app, "notify", "news").output == #"{"recipients":2}"# + "\n")
        #expect(try strata(app, "notify", "news", "--level", "topout").output == #"{"recipients":0}"# + "\n")
        let unknown = try strata(app, "notify", "news", "--level", "attic")
        #expect(unknown.end == .exit(2))
        try app.end()
    }
}
