import Glibc
import StrataCore
import StrataTesting
import Testing

/// The broker of a whole app is replaced or killed.
@Suite(.timeLimit(.hang))
struct ReplacedBrokerTests {
    private func strata(_ app: FixtureApp, _ words: String...) throws -> (end: ChildProgram.End, output: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), words, environment: ["STRATA_SOCKET": app.running.socket])
        return (try program.wait(), program.outputText)
    }

    private func pids(_ tool: RawPeer) throws -> [String: Int64] {
        let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
        return Dictionary(rows.map { ($0["name"]?.string ?? "", $0["pid"]?.integer ?? 0) }) { $1 }
    }

    @Test(.promise("R.20")) func theCommandReplacesTheBrokerAndTheAppGoesOn() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let (broker, before) = (try app.running.broker(), try pids(tool))
        let open = try tool.call("Mid/hang", nil, ["deadline": 600_000])
        try tool.settle()

        let run = try strata(app, "restart", "--broker")
        #expect(run.end == .exit(0), "\(run.output)")
        #expect(run.output.contains(#""microseconds":"#), "\(run.output)")
        try app.running.until { app.running.said("continues as a new program") }

        // The same process with another program; the same connections and modules.
        #expect(try app.running.broker() == broker)
        #expect(UpProcess.text(of: "/proc/\(broker)/cmdline").contains("--resume"))
        #expect(try pids(tool) == before)
        try tool.cancel(open)
        try tool.expectError(to: open, "cancelled", ran: "maybe")
        #expect(try tool.asked("Top/facts")["setUps"] == 1)
        // Requests to the launcher work, and so does the next replacement.
        #expect(try strata(app, "restart", "Mid").end == .exit(0))
        #expect(try strata(app, "restart", "--broker").end == .exit(0))
        #expect(try tool.asked("Lazy/echo", 7) == 7)
        tool.close()
        try app.end()
    }

    /// The launcher passes its knowledge of its processes to the next broker.
    @Test(.promise("10.14")) func uptimeAndRestartsOutliveTheBroker() throws {
        let app = try FixtureApp("  Quits: {run: [quits.sh], backoff: {first: 1ms, most: 1ms, reset: 60s}}")
        defer { app.cleanUp() }
        try app.running.write("quits.sh", "#!/bin/sh\nexit 9\n", mode: 0o755)
        try app.running.start()
        try app.running.until {
            app.line(of: "Quits", "failed: ") != nil && app.line(of: "Base", "ready after") != nil
        }
        func facts(_ tool: RawPeer) throws -> [String: [JSON?]] {
            let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
            let facts = rows.map { ($0["name"]?.string ?? "", [$0["pid"], $0["startedAt"], $0["restarts"]]) }
            return Dictionary(facts) { $1 }
        }
        let first = try app.tool()
        kill(try app.pid(of: "Base", first), SIGKILL)
        try app.running.until { app.running.lines.count { $0.hasPrefix("Base ") && $0.contains("ready after") } == 2 }
        let before = try facts(first)
        #expect(before["Base"]?[2] == 1 && before["Quits"]?[2] == 9 && before["Mid"]?[2] == 0, "\(before)")
        #expect(["Base", "Mid", "Top"].allSatisfy { before[$0]?[1]?.integer ?? 0 > 1_000_000_000_000 }, "\(before)")
        kill(try app.running.broker(), SIGKILL)
        try app.running.until { app.running.said("the broker is back after") }
        first.close()
        let tool = try app.tool()
        // Calls wait until their modules are back.
        for module in ["Base", "Mid", "Top"] { #expect(try tool.asked("\(module)/echo", 1) == 1) }
        #expect(try facts(tool) == before)
        tool.close()
        try app.end()
    }

    @Test(.promise("M.79")) func monitoringOutlivesTheBrokersDeath() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let monitor = try ChildProgram(
            try BuiltExecutable.path("strata"), ["monitor", "--action", "Base/echo", "--kind", "call"],
            environment: ["STRATA_SOCKET": app.running.socket])
        /// Makes calls until the monitor has seen this many.
        func see(_ count: Int) throws {
            try app.running.until {
                _ = try? monitor.wait(within: .milliseconds(5))
                if monitor.outputText.ranges(of: #""kind":"call""#).count >= count { return true }
                return (try? app.running.strata("call", "Base/echo", "1").end) == nil
            }
        }
        try see(1)
        kill(try app.running.broker(), SIGKILL)
        try app.running.until {
            _ = try? monitor.wait(within: .milliseconds(5))
            return monitor.outputText.contains(" is back\n")
        }
        let seen = monitor.outputText.ranges(of: #""kind":"call""#).count
        try see(seen + 1)
        try app.end()
        #expect(try monitor.wait() == .exit(0))
        let words = monitor.outputText.split(separator: "\n").filter { $0.hasPrefix("strata: ") }
        #expect(words.count == 3 && words.last == "strata: the app ends", "\(words)")
        #expect(words.first?.hasSuffix("; waiting up to 30 s for it to return") == true)
    }

    @Test(.promise("R.27")) func aReplacedBrokerSeesItsLaunchersEnd() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let broker = try app.running.broker()
        #expect(try strata(app, "restart", "--broker").end == .exit(0))
        let family = app.running.children()
        app.running.signal(SIGKILL)
        try app.running.until { !family.contains(where: UpProcess.lives) && !UpProcess.lives(broker) }
        #expect(!app.running.isThere(app.running.socket))
    }

    @Test func badUsageOfRestartIsSaid() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        for words in [["restart"], ["restart", "Mid", "--broker"]] {
            let program = try ChildProgram(try BuiltExecutable.path("strata"), words)
            #expect(try program.wait() == .exit(2))
            #expect(program.outputText.contains("--broker"), "\(program.outputText)")
        }
    }

    /// Twenty modules are back, and none is set up twice.
    @Test(.promise("R.26")) func afterTheBrokersDeathAllAreBack() throws {
        let more = (1...16).map { "  M\($0): {level: middle, run: [MODULE], provides: [M\($0)]}" }
        let app = try FixtureApp(more.joined(separator: "\n"))
        defer { app.cleanUp() }
        try app.start()
        var tool = try app.tool()
        _ = try tool.asked("Lazy/facts")
        let before = try pids(tool)
        #expect(before.count == 20)
        tool.close()

        kill(try app.running.broker(), SIGKILL)
        try app.running.until { app.running.said("the broker is back") }
        tool = try app.tool()
        let watch = try tool.call("bus/watch", nil, ["deadline": 0, "credit": 10_000])
        var left = Set(before.keys)
        while !left.isEmpty {
            let change = try tool.expect(["kind": "reply", "id": .integer(Int64(watch))]).json
            if change["state"] == "ready" { left.remove(change["module"]?.string ?? "") }
        }
        #expect(try pids(tool) == before)
        for name in before.keys { #expect(try tool.asked("\(name)/facts")["setUps"] == 1, "\(name)") }
        tool.close()
        try app.end()
    }
}
