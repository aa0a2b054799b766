import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata restart` of a row with `replace: overlap`, with real processes.
@Suite(.timeLimit(.hang))
struct ReplacedModuleTests {
    private static let row = "Shop: {level: middle, run: [MODULE], provides: [Shop], replace: overlap, stop: 10m}"

    private func run(_ row: String = Self.row, _ test: (FixtureApp, RawPeer) throws -> Void) throws {
        try FixtureApp.run(row, test)
    }

    private func write(_ row: String, _ app: FixtureApp) throws {
        let module = try BuiltExecutable.path("StrataFixture")
        let text = """
            app: fixture
            schemes: [fixture]
            modules:
              \(row.replacing("MODULE", with: module))
            """
        try app.running.write("strata.yaml", text, mode: 0o644)
    }

    @Test(.promise("M.32", "R.18")) func noCallFailsWhileItIsReplacedAgainAndAgain() throws {
        try run { app, tool in
            var pids: Set<Int32> = [try app.pid(of: "Shop", tool)]
            for round in 0..<5 {
                let restart = try tool.call("launcher/restart", ["module": "Shop"])
                // Calls continue all the while, some to the old process and some to the new one.
                var answered = 0
                repeat {
                    let ids = try (0..<20).map { try tool.call("Shop/echo", .integer(Int64($0))) }
                    for (index, id) in ids.enumerated() {
                        try tool.expectReply(to: id, body: .integer(Int64(index)))
                    }
                    answered += ids.count
                    try tool.settle()
                } while !tool.inbox.contains { $0.id == restart }
                try tool.expectReply(to: restart)
                #expect(answered > 0)
                pids.insert(try app.pid(of: "Shop", tool))
                #expect(pids.count == round + 2)
            }
            // Only the last process is left.
            let last = try app.pid(of: "Shop", tool)
            try app.running.until { pids.allSatisfy { $0 == last || !UpProcess.lives($0) } }
            #expect(try tool.asked("Shop/facts")["setUps"] == 1)
        }
    }

    @Test(.promise("M.32")) func theOldOneFinishesWhatItHas() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            let waiting = try tool.call("Shop/wait", nil, ["deadline": 0, "credit": 1])
            try tool.settle()
            try tool.asked("launcher/restart", ["module": "Shop"])
            let new = try app.pid(of: "Shop", tool)
            #expect(new != old)
            #expect(UpProcess.lives(old))
            // It answers when the test lets it.
            kill(old, SIGUSR1)
            try tool.expectReply(to: waiting, body: .integer(Int64(old)))
            try app.running.until { !UpProcess.lives(old) }
            #expect(UpProcess.lives(new))
        }
    }

    @Test(.promise("M.31", "R.19")) func theOldOneEndsItsStreamsWhenItIsTold() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            let stream = try tool.call("Shop/ticks", nil, ["deadline": 0, "credit": 1_000_000])
            try tool.find(["kind": "reply", "more": true])
            try tool.asked("launcher/restart", ["module": "Shop"])
            // It doesn't wait for the end of `stop`.
            let error = try tool.expectError(to: stream, "replaced", ran: "yes")
            #expect(error.message == "this process ends: ask again")
            try app.running.until { !UpProcess.lives(old) }
        }
    }

    @Test(.promise("M.31")) func aStreamThatOutlastsStopIsReplaced() throws {
        try run(Self.row.replacing("10m", with: "200ms")) { app, tool in
            let stream = try tool.call("Shop/hang", nil, ["deadline": 0, "credit": 1])
            try tool.settle()
            try tool.asked("launcher/restart", ["module": "Shop"])
            try tool.expectError(to: stream, "replaced", ran: "maybe")
        }
    }

    @Test(.promise("M.32")) func aReplacementThatCanNotStartLeavesTheOldOne() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            try write(Self.row.replacing("run:", with: "env: {FIXTURE: exits at once}, run:"), app)
            try tool.asked("bus/reload")
            let error = try tool.refused("launcher/restart", ["module": "Shop"], with: "unavailable", ran: nil)
            #expect(error.message.contains("no disk, no fun"), "\(error.message)")
            #expect(try tool.asked("Shop/facts")["pid"] == .integer(Int64(old)))
            // The old process is still vouched for: it may lose its connection and come back.
            kill(try app.running.broker(), SIGKILL)
            try app.running.until { app.running.said("the broker is back after") }
            let again = try app.tool()
            #expect(try again.asked("Shop/facts")["resumes"] == 1)
            again.close()
        }
    }

    @Test func aMissingProgramLeavesTheOldOne() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            try write(Self.row.replacing("run: [MODULE]", with: "run: [nothing]"), app)
            try tool.asked("bus/reload")
            let error = try tool.refused("launcher/restart", ["module": "Shop"], with: "unavailable", ran: nil)
            #expect(error.message.contains("nothing isn't there"), "\(error.message)")
            #expect(try tool.asked("Shop/facts")["pid"] == .integer(Int64(old)))
        }
    }

    @Test func whereTheOldOneDiesMeanwhileTheNewOneGoesOn() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            try write(Self.row.replacing("run:", with: "env: {FIXTURE: waits in setUp}, run:"), app)
            try tool.asked("bus/reload")
            let before = app.running.children()
            let restart = try tool.call("launcher/restart", ["module": "Shop"])
            try app.running.until { app.running.said("waits in setUp") }
            kill(old, SIGKILL)
            try app.running.until { app.running.said("took its place") }
            let call = try tool.call("Shop/facts")
            let new = try #require(app.running.children().first { !before.contains($0) })
            kill(new, SIGUSR1)
            #expect(try tool.expectReply(to: call).json["pid"] == .integer(Int64(new)))
            try tool.expectReply(to: restart)
        }
    }

    @Test func aStopEndsBothProcesses() throws {
        try run { app, tool in
            let old = try app.pid(of: "Shop", tool)
            try write(Self.row.replacing("run:", with: "env: {FIXTURE: waits in setUp}, run:"), app)
            try tool.asked("bus/reload")
            let before = app.running.children()
            let restart = try tool.call("launcher/restart", ["module": "Shop"])
            try app.running.until { app.running.said("waits in setUp") }
            let both = app.running.children().filter { $0 == old || !before.contains($0) }
            #expect(both.count == 2)
            try tool.asked("launcher/stop", ["module": "Shop"])
            try tool.expectError(to: restart, "unavailable", ran: nil)
            try app.running.until { !both.contains(where: UpProcess.lives) }
        }
    }

    @Test func theAppsEndTakesAllOfThem() throws {
        try run { app, tool in
            try tool.call("Shop/hang", nil, ["deadline": 0, "credit": 1])
            try tool.settle()
            try tool.asked("launcher/restart", ["module": "Shop"])
            try write(Self.row.replacing("run:", with: "env: {FIXTURE: waits in setUp}, run:"), app)
            try tool.asked("bus/reload")
            try tool.call("launcher/restart", ["module": "Shop"])
            try app.running.until { app.running.said("waits in setUp") }
            // `run` ends the app, and checks what is left.
        }
    }

    @Test func whereItsRowGoesTheOldOneIsEndedToo() throws {
        try run(Self.row.replacing("10m", with: "200ms")) { app, tool in
            let old = try app.pid(of: "Shop", tool)
            // So it ends only by force.
            kill(old, SIGSTOP)
            try tool.asked("launcher/restart", ["module": "Shop"])
            let new = try app.pid(of: "Shop", tool)
            try write("Other: {start: manual}", app)
            try tool.asked("bus/reload")
            try app.running.until { !UpProcess.lives(old) && !UpProcess.lives(new) }
        }
    }

    /// A script that is not the module, but starts it.
    @Test func aModuleBehindAScriptIsReplacedToo() throws {
        let module = try BuiltExecutable.path("StrataFixture")
        let row = Self.row.replacing("run: [MODULE]", with: "run: [shop.sh]")
        let app = try FixtureApp("  " + row)
        defer { app.cleanUp() }
        try app.running.write("shop.sh", "#!/bin/sh\n'\(module)'\nexit $?\n", mode: 0o755)
        try app.start()
        let tool = try app.tool()
        let old = try tool.asked("Shop/facts")["pid"]
        try tool.asked("launcher/restart", ["module": "Shop"])
        #expect(try tool.asked("Shop/facts")["pid"] != old)
        tool.close()
        try app.end()
    }
}

/// `strata restart` of a row with `replace: wait`: requests wait, and begun ones are finished.
@Suite(.timeLimit(.hang))
struct RestartedModuleTests {
    private func run(_ row: String, _ test: (FixtureApp, RawPeer) throws -> Void) throws {
        let app = try FixtureApp("  " + row)
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        try test(app, tool)
        tool.close()
        try app.end()
    }

    @Test(.promise("R.17")) func noCallFailsWhileItIsRestartedAgainAndAgain() throws {
        try run("Shop: {level: middle, run: [MODULE], provides: [Shop], stop: 10m}") { app, tool in
            for _ in 0..<5 {
                let old = try app.pid(of: "Shop", tool)
                let ids = try (0..<40).map { try tool.call("Shop/nap", ["milliseconds": .integer(Int64($0 * 10))]) }
                let restart = try tool.call("launcher/restart", ["module": "Shop"])
                let later = try (0..<40).map { try tool.call("Shop/echo", .integer(Int64($0))) }
                // The process that was asked earlier still answers, and is the old one.
                for id in ids { try tool.expectReply(to: id, body: ["pid": .integer(Int64(old))]) }
                for (index, id) in later.enumerated() { try tool.expectReply(to: id, body: .integer(Int64(index))) }
                try tool.expectReply(to: restart)
                #expect(try app.pid(of: "Shop", tool) != old)
                #expect(!UpProcess.lives(old))
            }
        }
    }

    @Test(.promise("R.17")) func aCallThatOutlastsStopDiesWithItsModule() throws {
        try run("Shop: {level: middle, run: [MODULE], provides: [Shop], stop: 400ms}") { app, tool in
            let hung = try tool.call("Shop/hang", nil, ["deadline": 600_000])
            // A request without a deadline delays nothing.
            let stream = try tool.call("Shop/hang", nil, ["deadline": 0, "credit": 1])
            try tool.settle()
            try tool.asked("launcher/restart", ["module": "Shop"])
            try tool.expectError(to: hung, "died", ran: "maybe")
            try tool.expectError(to: stream, "died", ran: "maybe")
        }
    }
}
