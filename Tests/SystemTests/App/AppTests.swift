import Glibc
import StrataCore
import StrataTesting
import Testing

/// A whole app: launcher, broker, and modules in Swift, each a process.
@Suite(.timeLimit(.minutes(1)))
struct AppTests {
    @Test func callsAndURLsReachModulesFromAnotherTerminal() throws {
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

    @Test func moduleIsStartedByTheFirstRequestThatWantsIt() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let ids = try (0..<3).map { try tool.call("Lazy/echo", .integer($0)) }
        for (index, id) in ids.enumerated() { try tool.expectReply(to: id, body: .integer(Int64(index))) }
        #expect(try tool.asked("Lazy/facts")["setUps"] == 1)
        try app.end()
    }

    @Test func notificationsKeepTheirDirectionAcrossProcesses() throws {
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

    @Test func killedModuleAnswersItsCallersAtOnceAndComesBack() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        for module in ["Base", "Mid", "Top"] {
            let old = try app.pid(of: module, tool)
            let ids = try (0..<20).map { _ in try tool.call("\(module)/hang", nil, ["deadline": 60_000]) }
            // Answered behind the hanging ones: they are delivered.
            _ = try tool.asked("\(module)/echo", 1)
            let killed = Loop.nanoseconds
            kill(old, SIGKILL)
            for id in ids { try tool.expectError(to: id, "died", ran: "maybe") }
            let answered = Loop.nanoseconds
            // It waits for the new process.
            let facts = try tool.asked("\(module)/facts")
            let back = Loop.nanoseconds
            #expect(facts["pid"] != .integer(Int64(old)))
            #expect(answered - killed < 500_000_000, "\(module)'s callers waited")
            #expect(back - killed < 1_000_000_000, "\(module) was away for \((back - killed) / 1_000_000) ms")
        }
        try app.end()
    }

    @Test func killedBrokerIsReplacedAndNobodyIsSetUpTwice() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let broker = try app.running.broker()
        let before = try app.tool()
        let pids = try ["Base", "Mid", "Top"].map { try app.pid(of: $0, before) }
        let killed = Loop.nanoseconds
        kill(broker, SIGKILL)
        try app.running.until { app.running.said("the broker is back after") }
        let tool = try app.tool()
        for (module, pid) in zip(["Base", "Mid", "Top"], pids) {
            let facts = try tool.asked("\(module)/facts")
            #expect(facts["pid"] == .integer(Int64(pid)))
            #expect(facts["setUps"] == 1)
            #expect(facts["resumes"] == 1)
        }
        #expect(Loop.nanoseconds - killed < 2_000_000_000)
        try app.end()
    }

    @Test func killedLauncherLeavesNoProcessAndNoSocket() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let children = app.running.children()
        #expect(children.count == 4)
        app.running.signal(SIGKILL)
        #expect(try app.running.ended() == .signal(SIGKILL))
        try app.running.until { children.allSatisfy { !RunningApp.lives($0) } }
        #expect(!app.running.isThere(app.running.socket))
    }

    @Test func modulesThatMisbehaveAreNamedAndTheRestGoesOn() throws {
        let app = try FixtureApp(
            """
              Leaver: {run: [MODULE], env: {FIXTURE: exits at once}, restart: never}
              Hanger: {level: middle, run: [MODULE], env: {FIXTURE: hangs in setUp}, restart: never}
              Nobody: {run: [bin/nobody], provides: [Nobody]}
              Plain: {run: [strata.yaml]}
            """, extra: "startup: 300ms")
        defer { app.cleanUp() }
        try app.start()
        #expect(app.running.said("Leaver | no disk, no fun"))
        #expect(app.running.lines.contains { $0.hasPrefix("Leaver ") && $0.contains("exit code 7") })
        #expect(app.running.lines.contains { $0.hasPrefix("Nobody ") && $0.contains("bin/nobody") })
        #expect(app.running.lines.contains { $0.hasPrefix("Plain ") && $0.contains("strata.yaml") })
        let tool = try app.tool()
        #expect(try tool.asked("Top/call", ["to": "Base/echo", "body": true]) == true)
        let refusal = try tool.refused("Nobody/x", with: "unavailable")
        #expect(refusal.message.contains("bin/nobody"))
        try app.running.until {
            app.running.lines.contains { $0.hasPrefix("Hanger ") && !$0.hasPrefix("Hanger |") && $0.contains("setUp") }
        }
        try app.end()
    }

    @Test func garbageOnTheSocketHarmsNobodyElse() throws {
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

    @Test func appWhoseModulesHangInTearDownEndsWithinTenSeconds() throws {
        let app = try FixtureApp(
            """
              Slow: {level: topout, run: [MODULE], env: {FIXTURE: hangs in tearDown}}
              Deaf: {level: middle, run: [MODULE], env: {FIXTURE: ignores SIGTERM}}
              Parent: {run: [MODULE], env: {FIXTURE: leaves a child}}
            """)
        defer { app.cleanUp() }
        try app.start()
        let ended = Loop.nanoseconds
        try app.end()
        #expect(Loop.nanoseconds - ended < 10_000_000_000)
    }
}
