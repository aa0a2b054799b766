import Glibc
import StrataCore
import StrataTesting
import Testing

/// A whole app: launcher, broker, and modules in Swift, each a process.
@Suite(.timeLimit(.hang))
struct AppTests {
    @Test(.promise("I.7")) func callsAndURLsReachModulesFromAnotherTerminal() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        #expect(try tool.asked("Top/echo", ["a": 1]) == ["a": 1])
        #expect(try tool.asked("TopRouter/call", ["to": "Mid/echo", "body": "x"]) == "x")
        let opened = try tool.open("fixture://base.fixture/show/lamp?n=1")
        try tool.expectReply(to: opened, body: ["what": "lamp", "n": "1"])
        try app.end()
    }

    @Test(.promise("M.10")) func moduleIsStartedByTheFirstRequestThatWantsIt() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let ids = try (0..<3).map { try tool.call("Lazy/echo", .integer($0)) }
        for (index, id) in ids.enumerated() { try tool.expectReply(to: id, body: .integer(Int64(index))) }
        #expect(try tool.asked("Lazy/facts")["setUps"] == 1)
        try app.end()
    }

    @Test(.promise("7.1")) func notificationsKeepTheirDirectionAcrossProcesses() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for (sender, heard) in [("Base", ["Mid", "Top"]), ("Mid", ["Top"]), ("Top", [])] {
            let before = try counts(tool)
            _ = try tool.asked("\(sender)/broadcast", ["name": "news"])
            let after = try counts(tool)
            #expect(after.keys.filter { after[$0] != before[$0] }.sorted() == heard, "broadcast of \(sender)")
        }
        let ranks = ["Base": 0, "Mid": 1, "Top": 2]
        for (sender, rank) in ranks {
            for (target, other) in ranks {
                let answer = try tool.ask("\(sender)/report", ["name": "news", "to": .string(target)])
                if other <= rank {
                    #expect(answer.json == 1, "\(sender) to \(target)")
                } else {
                    #expect(answer.message.contains("level-violation"), "\(sender) to \(target)")
                }
            }
        }
        try app.end()
    }

    private func counts(_ tool: RawPeer) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for module in ["Base", "Mid", "Top"] {
            counts[module] = try tool.asked("\(module)/facts")["notices"]?.array?.count
        }
        return counts
    }

    @Test(.promise("6.1", "R.25")) func killedModuleAnswersItsCallersAtOnceAndComesBack() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for module in ["Base", "Mid", "Top"] {
            let old = try app.pid(of: module, tool)
            let ids = try (0..<20).map { _ in try tool.call("\(module)/hang", nil, ["deadline": 600_000]) }
            // This answer comes after the hanging calls, so they were delivered.
            _ = try tool.asked("\(module)/echo", 1)
            kill(old, SIGKILL)
            for id in ids { try tool.expectError(to: id, "died", ran: "maybe") }
            // It waits for the new process.
            #expect(try tool.asked("\(module)/facts")["pid"] != .integer(Int64(old)))
        }
        try app.end()
    }

    @Test(.promise("5.11", "M.38", "R.26")) func killedBrokerIsReplacedAndNobodyIsSetUpTwice() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let broker = try app.running.broker()
        let before = try app.tool()
        let pids = try ["Base", "Mid", "Top"].map { try app.pid(of: $0, before) }
        kill(broker, SIGKILL)
        try app.running.until { app.running.said("the broker is back after") }
        let tool = try app.tool()
        for (module, pid) in zip(["Base", "Mid", "Top"], pids) {
            let facts = try tool.asked("\(module)/facts")
            #expect(facts["pid"] == .integer(Int64(pid)))
            #expect(facts["setUps"] == 1)
            #expect(facts["resumes"] == 1)
        }
        try app.end()
    }

    @Test(.promise("M.36", "R.27")) func killedLauncherLeavesNoProcessAndNoSocket() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let children = app.running.children()
        #expect(children.count == 4)
        app.running.signal(SIGKILL)
        #expect(try app.running.ended() == .signal(SIGKILL))
        try app.running.until { children.allSatisfy { !UpProcess.lives($0) } }
        #expect(!app.running.isThere(app.running.socket))
    }

    @Test func modulesThatMisbehaveAreNamedAndTheRestGoesOn() throws {
        try withShortStartup { startup in
            let app = try FixtureApp(
                """
                  Leaver: {run: [MODULE], env: {FIXTURE: exits at once}, restart: never}
                  Hanger: {level: middle, run: [MODULE], env: {FIXTURE: hangs in setUp}, restart: never}
                  Nobody: {run: [bin/nobody], provides: [Nobody]}
                  Plain: {run: [strata.yaml]}
                """, extra: "startup: \(startup)")
            defer { app.cleanUp() }
            try app.start()
            try app.running.until { ["Leaver", "Hanger"].allSatisfy { app.line(of: $0, "failed: ") != nil } }
            guard app.isInTime(hanging: ["Leaver", "Hanger"]) else { return false }
            #expect(app.running.said("Leaver | no disk, no fun"))
            #expect(app.line(of: "Leaver", "failed: ")?.contains("exit code 7") == true)
            #expect(app.line(of: "Nobody", "failed: ")?.contains("bin/nobody") == true)
            #expect(app.line(of: "Plain", "failed: ")?.contains("strata.yaml") == true)
            #expect(app.line(of: "Hanger", "failed: ")?.contains("setUp") == true)
            let tool = try app.tool()
            #expect(try tool.asked("Top/call", ["to": "Base/echo", "body": true]) == true)
            let refusal = try tool.refused("Nobody/x", with: "unavailable")
            #expect(refusal.message.contains("bin/nobody"))
            try app.end()
            return true
        }
    }

    @Test(.promise("2.6")) func garbageOnTheSocketHarmsNobodyElse() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let open = try tool.call("Mid/hang")
        for (garbage, code) in [
            (Array("GET / HTTP/1.1\r\nHost: strata\r\n\r\n".utf8), "too-large"),
            (FrameBytes.lengths(frame: .max, header: 10), "too-large"),
            ([UInt8](repeating: 0, count: 4_096), "bad-frame"),
            (FrameBytes.frame(Array("{\"kind\":".utf8)), "bad-header"),
        ] {
            let stranger = try RawPeer(path: app.running.socket)
            try stranger.send(bytes: garbage)
            try stranger.expectEnd(code)
        }
        #expect(try tool.asked("Mid/echo", 7) == 7)
        try tool.cancel(open)
        try tool.expectError(to: open, "cancelled", ran: "maybe")
        try app.end()
    }

    @Test(.promise("M.40")) func appWhoseModulesHangInTearDownEndsAllTheSame() throws {
        let app = try FixtureApp(
            """
              Slow: {level: topout, run: [MODULE], env: {FIXTURE: hangs in tearDown}}
              Deaf: {level: middle, run: [MODULE], env: {FIXTURE: ignores SIGTERM}}
              Parent: {run: [MODULE], env: {FIXTURE: leaves a child}}
            """)
        defer { app.cleanUp() }
        try app.start()
        try app.end()
        // They share 7.5 s, so none has the 5 s of its row.
        let last = try #require(app.line(of: "Deaf", "it did not end within "))
        let waited = try #require(last.firstMatch(of: /within ([0-9.]+) s of SIGTERM/)?.1, "\(last)")
        #expect(try #require(Double(waited)) < 3.8)
    }
}
