import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata run`: a module's process by hand, in place of the launched one.
@Suite(.timeLimit(.hang))
struct RunModuleTests {
    private func run(_ app: FixtureApp, _ words: String...) throws -> ChildProgram {
        try ChildProgram(
            try BuiltExecutable.path("strata"), ["run"] + words, environment: ["STRATA_SOCKET": app.running.socket])
    }

    /// Waits until a module is ready in another process.
    private func waitUntilReady(
        _ app: FixtureApp, _ module: String, otherThan pid: Int32, _ location: SourceLocation = #_sourceLocation
    ) throws -> Int32 {
        let tool = try app.tool()
        defer { tool.close() }
        let watch = try tool.call("bus/watch", nil, ["credit": 1_000_000])
        while true {
            let seen = try tool.find(
                ["id": .integer(Int64(watch))], body: ["module": .string(module), "state": "ready"])
            if let other = seen.json["pid"]?.integer, other != Int64(pid) { return Int32(other) }
        }
    }

    /// Returns when the process of Base was started, from the bus's timeline.
    private func spawnedAt(_ tool: RawPeer) throws -> Int64 {
        let modules = try tool.asked("bus/timeline")["modules"]?.array
        return try #require(modules?.first { $0["name"] == "Base" }?["spawned"]?.integer)
    }

    @Test(.promise("10.10")) func theProgramHasThePlaceUntilItEnds() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let launched = try app.pid(of: "Base", tool)
        let begun = try spawnedAt(tool)
        let program = try run(app, "Base")
        #expect(try waitUntilReady(app, "Base", otherThan: launched) == program.pid)
        #expect(!UpProcess.lives(launched))
        #expect(try spawnedAt(tool) > begun)
        #expect(try tool.asked("Base/facts")["pid"] == .integer(Int64(program.pid)))
        // In quotes if the path has a space.
        #expect(program.firstLine().wholeMatch(of: /Base is run by hand: '?\/.*StrataFixture'?/) != nil)
        program.send(signal: SIGTERM)
        try program.wait()
        let next = try waitUntilReady(app, "Base", otherThan: program.pid)
        #expect(app.running.children().contains(next))
        #expect(try tool.asked("Base/echo", ["a": 1]) == ["a": 1])
        try app.end()
    }

    @Test func wordsMayRunTheProgramAsTheirChildAgainAndAgain() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let launched = try app.pid(of: "Mid", try app.tool())
        let program = try run(app, "Mid", "--", "sh", "-c", #""$0"; "$0"; true"#, "{}")
        let first = try waitUntilReady(app, "Mid", otherThan: launched)
        #expect(first != program.pid)
        kill(first, SIGKILL)
        let second = try waitUntilReady(app, "Mid", otherThan: first)
        let (process, ancestor) = (ProcessIdentity(pid: second), ProcessIdentity(pid: program.pid))
        #expect(Ancestors.descent(of: try #require(process), from: try #require(ancestor)) == .descends)
        kill(second, SIGKILL)
        #expect(try program.wait() == .exit(0))
        let next = try waitUntilReady(app, "Mid", otherThan: second)
        #expect(app.running.children().contains(next))
        try app.end()
    }

    /// Like the launched process. A variable of the terminal takes precedence.
    @Test(.promise("10.10")) func theProgramWritesSpansWhereTheAppDoes() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        let (spans, own) = ("\(app.running.folder)/spans.jsonl", "\(app.running.folder)/own.jsonl")
        defer { for path in [spans, own] { unlink(path) } }
        try app.start(["--spans", spans])
        for (variables, path) in [([:], spans), (["STRATA_SPANS": own], own)] {
            let program = try ChildProgram(
                try BuiltExecutable.path("strata"),
                ["run", "Base", "--", "/bin/sh", "-c", #"echo "spans in $STRATA_SPANS"; exec "$0""#, "{}"],
                environment: variables.merging(["STRATA_SOCKET": app.running.socket]) { $1 })
            try app.running.until {
                _ = try? program.wait(within: .milliseconds(5))
                return program.outputText.contains("\nspans in \(path)\n")
            }
            program.kill()
        }
        try app.end()
    }

    @Test(.promise("10.10")) func requestsWaitMeanwhileAndTheLauncherStandsBack() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let fifo = "\(app.running.folder)/go"
        mkfifo(fifo, 0o600)
        defer { unlink(fifo) }
        // It is no module until the test lets it start.
        let program = try run(app, "Top", "--", "/bin/sh", "-c", #"read go < "$1"; exec "$0""#, "{}", fifo)
        try app.running.until { app.running.said("run by hand, took its place") }
        let call = try tool.call("Top/facts")
        for (command, code) in [("stop", "unavailable"), ("restart", "unavailable")] {
            try tool.refused("launcher/\(command)", ["module": "Top"], with: code)
        }
        let another = try run(app, "Top")
        #expect(try another.wait() == .exit(1))
        #expect(another.outputText.contains("process \(program.pid) is run by hand"), "\(another.outputText)")
        let go = open(fifo, O_WRONLY | O_CLOEXEC)
        #expect(write(go, "go\n", 3) == 3)
        close(go)
        #expect(try tool.expectReply(to: call).json["pid"] == .integer(Int64(program.pid)))
        program.kill()
        _ = try waitUntilReady(app, "Top", otherThan: program.pid)
        try app.end()
    }

    @Test(.promise("10.10")) func whatWasNotRunningIsNotStartedAfterwards() throws {
        let app = try FixtureApp("  Bare: {start: manual, provides: [Bare]}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let module = try BuiltExecutable.path("StrataFixture")
        for (name, words) in [("Lazy", [String]()), ("Bare", ["--", module])] {
            let program = try ChildProgram(
                try BuiltExecutable.path("strata"), ["run", name] + words,
                environment: ["STRATA_SOCKET": app.running.socket])
            #expect(try waitUntilReady(app, name, otherThan: 0) == program.pid)
            program.kill()
            try app.running.until { app.line(of: name, "stopped: process \(program.pid)") != nil }
        }
        // It starts on demand as before.
        #expect(try tool.asked("Lazy/echo", 1) == 1)
        try app.end()
    }

    @Test(.promise("10.11")) func theEndOfTheAppEndsItToo() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let launched = try app.pid(of: "Mid", try app.tool())
        let program = try run(app, "Mid")
        _ = try waitUntilReady(app, "Mid", otherThan: launched)
        try app.end()
        #expect(try program.wait() == .exit(0))
    }

    @Test func aReloadLeavesItThePlaceAndCountsAfterIt() throws {
        let app = try FixtureApp("  Base2: {run: [MODULE], provides: [Base2]}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let launched = try app.pid(of: "Base2", tool)
        let program = try run(app, "Base2")
        #expect(try waitUntilReady(app, "Base2", otherThan: launched) == program.pid)
        let manifest = UpProcess.text(of: app.running.manifest)
        try app.running.write(
            "strata.yaml", manifest.replacing("Base2: {", with: "Base2: {env: {FIXTURE: other}, "), mode: 0o644)
        try tool.asked("bus/reload")
        #expect(try tool.asked("Base2/facts")["pid"] == .integer(Int64(program.pid)))
        let row = try tool.asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Base2" }
        #expect(row?["pending"] == ["env"])
        program.send(signal: SIGTERM)
        try program.wait()
        let next = try waitUntilReady(app, "Base2", otherThan: program.pid)
        #expect(UpProcess.text(of: "/proc/\(next)/environ").contains("FIXTURE=other"))
        try app.end()
    }

    @Test(.promise("10.11")) func aRemovedRowEndsIt() throws {
        let app = try FixtureApp("  Gone: {run: [MODULE], provides: [Gone]}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let launched = try app.pid(of: "Gone", tool)
        let program = try run(app, "Gone")
        _ = try waitUntilReady(app, "Gone", otherThan: launched)
        let manifest = UpProcess.text(of: app.running.manifest).split(separator: "\n")
        try app.running.write(
            "strata.yaml", manifest.filter { !$0.contains("Gone") }.joined(separator: "\n") + "\n", mode: 0o644)
        try tool.asked("bus/reload")
        #expect(try program.wait() == .exit(0))
        try app.end()
    }

    @Test func whatCanNotBeRunStopsNothing() throws {
        let app = try FixtureApp("  Bare: {start: manual}")
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let launched = try app.pid(of: "Base", tool)
        for (words, status, hint) in [
            (["Base", "--", "no-such-program"], 2, "isn't found in PATH"),
            (["Base", "--", "/etc/passwd"], 2, "not an executable"),
            (["Bare"], 1, "has no `run`"), (["Bese"], 1, "Base"),
        ] {
            let program = try ChildProgram(
                try BuiltExecutable.path("strata"), ["run"] + words,
                environment: ["STRATA_SOCKET": app.running.socket])
            #expect(try program.wait() == .exit(Int32(status)))
            #expect(program.outputText.contains(hint), "\(program.outputText)")
        }
        #expect(try app.pid(of: "Base", tool) == launched)
        try app.end()
    }

    @Test(.promise("10.11")) func aPlaceIsLentToProcessesFromOutsideAlone() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let inside = try app.pid(of: "Base", tool)
        for (pid, code) in [(Int64(inside), "forbidden"), (Int64(app.running.pid), "forbidden"), (0, "bad-params")] {
            try tool.refused("launcher/lend", ["module": "Mid", "pid": .integer(pid)], with: code, ran: nil)
        }
        try tool.refused("launcher/lend", ["module": "Mid"], with: "bad-params", ran: nil)
        // A module may not ask for it at all.
        let asked = try tool.ask("Base/call", ["to": "launcher/lend", "body": ["module": "Mid", "pid": 1]])
        #expect(asked.kind == "error")
        #expect(app.line(of: "Mid", "stopped") == nil)
        try app.end()
    }
}
