import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// `strata logs`, with real processes.
@Suite(.timeLimit(.hang))
struct LogsTests {
    private func program(_ app: UpProcess, _ words: String...) throws -> ChildProgram {
        try ChildProgram(
            try BuiltExecutable.path("strata"), ["logs"] + words, environment: ["STRATA_SOCKET": app.socket])
    }

    private func entries(_ text: String) throws -> [JSON] {
        try text.split(separator: "\n").filter { $0.hasPrefix("{") }.map { try JSON(parsing: String($0)) }
    }

    @Test(.promise("M.72")) func linesOfAllStartsAreKeptWithTheirStream() async throws {
        let script = """
            echo to out; echo to err >&2
            printf 'bad \\377 \\033[31mred\\033[0m\\ttab \\033[2J last'; exit 5
            """
        let app = try UpProcess(
            """
            app: test
            modules:
              Loop: {run: [loop.sh], backoff: {first: 1ms, most: 1ms, reset: 60s}}
              Long: {run: [long.sh], start: async, restart: never}
            """, scripts: ["loop.sh": script, "long.sh": "head -c 10000 /dev/zero | tr '\\0' x; exec cat <&3"])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("Loop     failed: ") || app.said("Loop   failed: ") }
        let logs = try program(app, "Loop")
        #expect(try logs.wait() == .exit(0))
        let entries = try entries(logs.outputText)
        #expect(entries.count == 30 && entries.allSatisfy { $0["module"] == "Loop" })
        for start in 1...10 {
            let ofOne = entries.filter { $0["start"]?.integer == Int64(start) }
            #expect(Set(ofOne.compactMap { $0["pid"]?.integer }).count == 1)
            #expect(ofOne.first { $0["stream"] == "err" }?["line"] == "to err")
            #expect(
                ofOne.filter { $0["stream"] == "out" }.compactMap { $0["line"]?.string } == [
                    "to out", "bad \u{FFFD} \u{1B}[31mred\u{1B}[0m\ttab \u{1B}[2J last",
                ])
        }
        #expect(Set(entries.compactMap { $0["pid"]?.integer }).count == 10)
        // With these numbers, a reader that asks again knows what it already has.
        let numbers = entries.compactMap { $0["number"]?.integer }
        #expect(numbers.count == 30 && numbers == Set(numbers).sorted(), "\(numbers)")
        #expect(Set(entries.map { $0["since"]?.integer ?? 0 }).count == 1 && entries[0]["since"] != nil)
        // Nothing can control the reader's terminal.
        let shown = try await CommandRun.of(
            ["logs", "--lines", "4", "Loop"], environment: ["STRATA_SOCKET": app.socket, "NO_COLOR": "1"],
            output: .terminal(columns: 100))
        #expect(shown.status == 0 && !shown.output.contains("\u{1B}"))
        #expect(shown.output.contains("Loop   | bad \u{FFFD} red    tab \\u001b[2J last"), "\(shown.output)")
        #expect(shown.output.contains("Loop   ! to err") && shown.output.contains(", start 10"))
        // A long line without an end is read in chunks.
        let long = try program(app, "Long")
        #expect(try long.wait() == .exit(0))
        #expect(try self.entries(long.outputText).map { $0["line"]?.string?.utf8.count } == [8_192])
        let unknown = try program(app, "Lop")
        #expect(try unknown.wait() == .exit(1))
        #expect(unknown.outputText.contains("the manifest has no module Lop; did you mean Loop?"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.73")) func followingOutlivesRestartsReloadsAndABrokersReplacement() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let logs = try program(app.running, "-f", "Mid", "--lines", "1000")
        func lines() throws -> [String] { try entries(logs.outputText).compactMap { $0["line"]?.string } }
        try app.running.until { logs.firstLine().contains("setUp Mid") }
        #expect(try app.running.strata("restart", "Mid").end == .exit(0))
        #expect(try app.running.strata("restart", "--broker").end == .exit(0))
        #expect(try app.running.strata("reload").end == .exit(0))
        try app.running.until { app.heard("app.reload") == 3 }
        try app.end()
        #expect(try logs.wait() == .exit(0))
        // Its last lines come, too.
        #expect(try lines().contains { $0.hasPrefix("event app.terminate") })
        let starts = try entries(logs.outputText).compactMap { $0["start"]?.integer }
        #expect(Set(starts) == [1, 2] && starts == starts.sorted())
        #expect(logs.outputText.hasSuffix("strata: the app ends: SIGINT\n"), "\(logs.outputText.suffix(200))")
    }

    @Test(.promise("M.74")) func followingOutlivesTheBrokersDeathWithoutALineTwice() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let logs = try program(app.running, "-f", "Base", "Top", "--lines", "1000")
        /// Returns how often its output has this text until now.
        func said(_ text: String) -> Int {
            _ = try? logs.wait(within: .milliseconds(5))
            return logs.outputText.ranges(of: text).count
        }
        try app.running.until { said("setUp Base") == 1 && said("setUp Top") == 1 }
        let broker = try app.running.broker()
        kill(broker, SIGKILL)
        try app.running.until { said(" is back") == 1 }
        // The modules are with the broker again, so the launcher is, too.
        #expect(try app.running.strata("reload").end == .exit(0))
        try app.running.until { said("event app.reload") == 2 }
        try app.end()
        #expect(try logs.wait() == .exit(0))
        let lines = try entries(logs.outputText)
        for module in ["Base", "Top"] {
            let own = lines.filter { $0["module"]?.string == module }.compactMap { $0["line"]?.string }
            #expect(own.count { $0 == "setUp \(module)" } == 1 && own.last == "tearDown \(module)", "\(own)")
        }
        let words = logs.outputText.split(separator: "\n").filter { $0.hasPrefix("strata: ") }
        #expect(words.count == 3, "\(words)")
        #expect(words.first?.hasSuffix("; waiting up to 30 s for it to return") == true)
        #expect(words.last?.hasPrefix("strata: the app ends") == true)
    }

    @Test(.promise("M.73")) func interruptedFollowingEndsQuietly() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let logs = try program(app.running, "-f")
        #expect(logs.firstLine().hasPrefix("{"))
        logs.send(signal: SIGINT)
        #expect(try logs.wait() == .exit(0))
        #expect(!logs.outputText.contains("strata:"))
        try app.end()
    }

    /// It has credit for three lines while two thousand are written.
    @Test(.promise("M.75")) func aSlowReaderMissesLinesAndHoldsUpNobody() throws {
        let script = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i + 1)); done; echo done; exec cat <&3"
        let app = try UpProcess(
            "app: test\nmodules:\n  Chatty: {run: [chatty.sh], start: manual, stop: 100ms}",
            scripts: ["chatty.sh": script])
        defer { app.cleanUp() }
        try app.start()
        try app.until { access(app.socket, F_OK) == 0 && app.said("ready") }
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        let id = try tool.call("launcher/logs", ["follow": true], ["deadline": 0, "credit": 3])
        try tool.call("launcher/start", ["module": "Chatty"])
        try app.until { app.said("| done") }
        for _ in 0..<3 { _ = try tool.expect(["kind": "reply", "id": .integer(Int64(id))]) }
        try tool.expectNothing()
        try tool.credit(id, 2_000)
        var numbers: [JSON] = []
        while numbers.last?["line"] != "done" {
            numbers.append(try tool.expect(["kind": "reply", "id": .integer(Int64(id))]).json)
        }
        #expect(numbers.count == 1_000 && numbers[0]["missed"] == 998 && numbers[0]["line"] == "line 1001")
        #expect(numbers.dropFirst().allSatisfy { $0["missed"] == nil })
        try tool.cancel(id)
        try tool.expectError(to: id, "cancelled", ran: "maybe")
        tool.close()
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.75")) func onlySoManyReadAndBadParamsAreSaid() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for params: JSON in [["lines": -1], ["lines": "1"], ["modules": "Mid"], ["modules": [1]], ["follow": 1], [1]] {
            try tool.expectError(to: try tool.call("launcher/logs", params), "bad-params")
        }
        _ = try tool.refused("launcher/logs", ["modules": ["Mit"]], with: "unknown-module")
        let follow: JSON = ["follow": true, "lines": 0]
        let open = try (0..<16).map { _ in
            try tool.call("launcher/logs", follow, ["deadline": 0, "credit": 16])
        }
        try tool.expectError(to: try tool.call("launcher/logs", follow), "overloaded")
        try tool.cancel(open[0])
        try tool.expectError(to: open[0], "cancelled")
        #expect(try tool.asked("launcher/logs", ["lines": 0]) == [:])
        tool.close()
        try app.end()
    }

    /// A frame that holds next to nothing: the text is cut, and the launcher keeps its
    /// connection.
    @Test(.promise("M.76")) func aLineFitsIntoASmallFrame() throws {
        let app = try UpProcess(
            """
            app: test
            limits: {frame: 2KiB, header: 1KiB}
            modules:
              Long: {run: [long.sh], restart: never}
            """, scripts: ["long.sh": "head -c 5000 /dev/zero | tr '\\0' '\\001'; echo; exit 5"])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("Long     failed") || app.said("Long   failed") }
        let logs = try program(app, "Long")
        #expect(try logs.wait() == .exit(0))
        let entry = try #require(try entries(logs.outputText).first)
        let count = entry["line"]?.string?.utf8.count ?? 0
        #expect(entry["cut"] == true && (100..<400).contains(count), "\(entry)")
        #expect(!app.said("no connection to the broker"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }
}
