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
}
