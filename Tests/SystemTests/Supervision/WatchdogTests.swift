import Glibc
import StrataCore
import StrataTesting
import Testing

/// Modules that don't answer their `ping`, as real processes.
@Suite(.timeLimit(.hang))
struct WatchdogTests {
    @Test(.promise("M.16", "R.11"), arguments: ["hangs", "stopped"])
    func moduleThatDoesNotAnswerIsStartedAgainAndNamed(how: String) throws {
        let app = try FixtureApp("  Dog: {run: [MODULE], provides: [Dog], ping: 2s, stop: 300ms}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let pid = try app.pid(of: "Dog", tool)
        if how == "stopped" { kill(pid, SIGSTOP) } else { _ = try tool.call("Dog/block") }
        try app.running.until { app.running.lines.count { $0.hasPrefix("Dog ") && $0.contains("ready after") } >= 2 }
        #expect(!UpProcess.lives(pid))
        #expect(try app.pid(of: "Dog", tool) != pid)
        let why = try app.running.why("Dog")
        #expect(why["reason"] == "it did not answer a ping within 2000 ms" && why["signal"] == 9, "\(why)")
        // The other modules answered theirs, or have none.
        #expect(try app.running.why("Base")["restarts"] == 0)
        try app.end()
    }

    @Test(.promise("M.16")) func withoutARestartItsProcessContinuesAndAllIsSaid() throws {
        let app = try FixtureApp(
            "  Dog: {run: [MODULE], provides: [Dog], ping: {every: 200ms, restart: false}, stop: 300ms}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let pid = try app.pid(of: "Dog", tool)
        for count in 1...2 {
            kill(pid, SIGSTOP)
            try app.running.until {
                app.running.lines.count { $0.contains("hangs: it did not answer a ping") } >= count
            }
            let why = try app.running.why("Dog")
            #expect(why["reason"] == "it did not answer a ping within 200 ms" && why["state"] == "ready", "\(why)")
            #expect(why["hungSince"]?.integer != nil && why["restarts"] == 0, "\(why)")
            // It is among those that `--why` tells of without a name.
            #expect(try app.running.strata("ps", "--why").output.contains("\"Dog\""))
            kill(pid, SIGCONT)
            try app.running.until { app.running.lines.count { $0.contains("answers its pings again") } >= count }
            #expect(try app.running.why("Dog")["hungSince"] == nil)
        }
        #expect(try app.pid(of: "Dog", tool) == pid)
        #expect(try tool.asked("Dog/facts")["setUps"] == 1)
        try app.end()
    }
}
