import Glibc
import StrataCore
import StrataTesting
import Testing

/// A manifest that is rewritten while its app runs.
@Suite(.timeLimit(.hang))
struct ReloadedAppTests {
    private func manifest(_ rows: String, _ extra: String = "") throws -> String {
        let module = try BuiltExecutable.path("StrataFixture")
        return """
            app: fixture
            schemes: [fixture]
            \(extra)
            modules:
            \(rows.replacing("MODULE", with: module))
            """
    }

    private static let rows = """
          Base: {run: [MODULE], provides: [Base]}
          Goes: {level: middle, run: [MODULE], provides: [Goes]}
          Top: {level: topout, run: [MODULE], provides: [Top]}
        """

    private func run(_ test: (UpProcess, RawPeer) throws -> Void) throws {
        let app = try UpProcess(try manifest(Self.rows))
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("modules are ready") }
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        try test(app, tool)
        tool.close()
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    private func row(_ name: String, _ tool: RawPeer) throws -> JSON? {
        try tool.asked("bus/modules")["modules"]?.array?.first { $0["name"]?.string == name }
    }

    @Test(.promise("M.34")) func rowsComeAndGoAndTheOthersStay() throws {
        try run { app, tool in
            let base = try tool.asked("Base/facts")["pid"]
            let new = """
                  Base: {run: [MODULE], provides: [Base]}
                  Comes: {level: middle, run: [MODULE], provides: [Comes]}
                  Top: {level: topout, run: [MODULE], provides: [Top], requires: [Comes]}
                """
            try app.write("strata.yaml", try manifest(new, "calls: declared"), mode: 0o644)
            try tool.asked("bus/reload")
            // Its row exists, so the call waits for its process.
            #expect(try tool.asked("Comes/echo", 1) == 1)
            #expect(try tool.asked("Top/call", ["to": "Comes/echo", "body": 2]) == 2)
            let refused = try tool.ask("Top/call", ["to": "Base/echo", "body": 2])
            #expect(refused.message.contains("undeclared"), "\(refused)")
            #expect(try tool.asked("Base/facts")["pid"] == base)
            try app.until { app.said("tearDown Goes") && app.said("stopped: its row was removed") }
            try tool.refused("Goes/echo", 1, with: "unknown-interface")
            #expect(try row("Goes", tool) == nil)
        }
    }

    @Test func aRowThatIsToBeStartedNowIs() throws {
        try run { app, tool in
            let rows = { (start: String) in
                "\(Self.rows)\n  Later: {level: topout, start: \(start), run: [MODULE], provides: [Later]}"
            }
            for start in ["manual", "eager"] {
                try app.write("strata.yaml", try manifest(rows(start)), mode: 0o644)
                try tool.asked("bus/reload")
                if start == "manual" { try tool.refused("Later/echo", 1, with: "unavailable") }
            }
            #expect(try tool.asked("Later/echo", 1) == 1)
            #expect(try row("Later", tool)?["state"] == "ready")
            // A module that a person has stopped stays stopped as long as its row stays.
            try tool.asked("launcher/stop", ["module": "Later"])
            try tool.asked("bus/reload")
            #expect(try row("Later", tool)?["state"] == "absent")
        }
    }

    @Test(.promise("M.85")) func badManifestIsToldAndChangesNothing() throws {
        try run { app, tool in
            try app.write("strata.yaml", try manifest(Self.rows, "calls: sometimes\nguests: 7"), mode: 0o644)
            let error = try tool.refused("bus/reload", with: "bad-params")
            #expect(error.message.contains("strata.yaml:3") && error.message.contains("strata.yaml:4"), "\(error)")
            try app.write("strata.yaml", try manifest(Self.rows, "levels: [basic, topout, middle]"), mode: 0o644)
            let fixed = try tool.refused("bus/reload", with: "bad-params")
            #expect(fixed.message.contains("levels can't change"), "\(fixed)")
            #expect(try tool.asked("Top/call", ["to": "Base/echo", "body": 2]) == 2)
        }
    }

    @Test(.promise("M.33")) func whatWaitsForTheNextStartIsPendingUntilThen() throws {
        try run { app, tool in
            let new = Self.rows
                .replacing("Goes: {level: middle,", with: "Goes: {level: topout, env: {FIXTURE: other},")
                .replacing("Top: {level: topout, run: [MODULE]", with: "Top: {level: topout, run: [MODULE, x]")
            try app.write("strata.yaml", try manifest(new), mode: 0o644)
            try tool.asked("bus/reload")
            #expect(try row("Goes", tool)?["level"] == "middle")
            #expect(try row("Goes", tool)?["pending"] == ["level", "env"])
            #expect(try row("Top", tool)?["pending"] == ["run"])
            #expect(try row("Base", tool)?["pending"] == nil)
            try tool.asked("launcher/restart", ["module": "Goes"])
            #expect(try row("Goes", tool)?["level"] == "topout")
            #expect(try row("Goes", tool)?["pending"] == nil)
            // A broker that is started again gets the states again.
            kill(try app.broker(), SIGKILL)
            try app.until { app.said("the broker is back after") }
            let again = try RawPeer(path: app.socket, label: "tool")
            try again.hello(role: "operator")
            _ = try again.asked("Top/echo", 1)
            #expect(try row("Top", again)?["pending"] == ["run"])
            again.close()
        }
    }

    @Test func aModuleWhoseRowIsGoneIsNotStartedWhileItEnds() throws {
        try run { app, tool in
            let goes = Int32(clamping: try row("Goes", tool)?["pid"]?.integer ?? 0)
            kill(goes, SIGSTOP)
            defer { kill(goes, SIGCONT) }
            let without = Self.rows.split(separator: "\n").filter { !$0.contains("Goes") }.joined(separator: "\n")
            try app.write("strata.yaml", try manifest(without), mode: 0o644)
            try tool.asked("bus/reload")
            for action in ["start", "restart"] {
                try tool.refused("launcher/\(action)", ["module": "Goes"], with: "unknown-module")
            }
            kill(goes, SIGCONT)
            try app.until { !UpProcess.lives(goes) }
        }
    }

    @Test func aRowThatIsBackWhileItsProcessEndsIsStartedAgain() throws {
        try run { app, tool in
            let without = Self.rows.split(separator: "\n").filter { !$0.contains("Goes") }.joined(separator: "\n")
            try app.write("strata.yaml", try manifest(without), mode: 0o644)
            let before = try row("Goes", tool)?["pid"]
            try tool.asked("bus/reload")
            try app.write("strata.yaml", try manifest(Self.rows), mode: 0o644)
            try tool.asked("bus/reload")
            #expect(try tool.asked("Goes/echo", 1) == 1)
            #expect(try row("Goes", tool)?["pid"] != before)
        }
    }
}
