import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// `strata up` with the real broker, and processes that are killed.
@Suite(.timeLimit(.hang))
struct UpTests {
    /// Stays until the launcher has ended, or until it is ended itself.
    private static let stays = "echo here; exec cat <&3"

    @Test(.promise("M.163")) func aLinesMarkIsItsSeverityAndNotShown() throws {
        let app = try UpProcess(
            "{app: test, modules: {A: {run: [a.sh], start: async, stop: 100ms}}}",
            scripts: ["a.sh": "echo '<3>the disk is full' >&2; echo '<9>is text'; echo done >&2; exec cat <&3"])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("A      | done") }
        #expect(app.said("A      | the disk is full") && app.said("A      | <9>is text"))
        let logs = try ChildProgram(
            try BuiltExecutable.path("strata"), ["logs", "--level", "error", "--socket", app.socket])
        #expect(try logs.wait() == .exit(0))
        #expect(logs.outputText.contains(#""line":"the disk is full","severity":"error"}"#), "\(logs.outputText)")
        #expect(!logs.outputText.contains("done"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.39", "M.43")) func ctrlCEndsEveryProcessAndRemovesTheSocket() throws {
        let app = try UpProcess(
            """
            app: test
            modules:
              A: {run: [a.sh], stop: 500ms}
              B: {run: [a.sh], stop: 500ms}
            """, scripts: ["a.sh": Self.stays])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("A      | here") && app.said("B      | here") }
        #expect(app.said("strata   test on \(app.socket)"))
        #expect(app.isThere(app.socket))
        let children = app.children()
        #expect(children.count == 3)
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
        #expect(app.said("nothing of it is left"))
        for pid in children { #expect(!UpProcess.lives(pid)) }
        #expect(!app.isThere(app.socket))
    }

    @Test(.promise("M.37")) func nothingThatAModuleStartsOutlivesTheApp() throws {
        let app = try UpProcess(
            "{app: test, modules: {A: {run: [a.sh], stop: 100ms}}}",
            scripts: ["a.sh": "(setsid sh -c 'echo $$ >orphan; sleep 1000' </dev/null >/dev/null 2>&1 &)\nexec cat <&3"]
        )
        defer { app.cleanUp() }
        try app.start()
        let file = app.folder + "/orphan"
        var orphan: Int32 = 0
        try app.until {
            orphan = Int32(UpProcess.text(of: file).split(separator: "\n").first ?? "") ?? 0
            return orphan > 0
        }
        unlink(file)
        #expect(UpProcess.lives(orphan))
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
        #expect(!UpProcess.lives(orphan))
    }

    @Test(.promise("M.38")) func killedBrokerIsStartedAgainAndTheModulesStay() throws {
        let app = try UpProcess("{app: test, modules: {A: {run: [a.sh], stop: 100ms}}}", scripts: ["a.sh": Self.stays])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("| here") }
        let old = try app.broker()
        let module = app.children().filter { $0 != old }
        kill(old, SIGKILL)
        try app.until { app.said("the broker is back after") }
        #expect(try app.broker() != old)
        #expect(module.allSatisfy(UpProcess.lives))
        #expect(app.lines.count { $0.contains("| here") } == 1)
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
        #expect(!app.isThere(app.socket))
    }

    @Test(.promise("M.36")) func killedLauncherTakesTheWholeAppWithIt() throws {
        let app = try UpProcess("{app: test, modules: {A: {run: [a.sh]}}}", scripts: ["a.sh": Self.stays])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("| here") }
        let children = app.children()
        app.signal(SIGKILL)
        #expect(try app.ended() == .signal(SIGKILL))
        // They have another parent now, so the test sees their end by their absence.
        try app.until { !children.contains(where: Self.runs) && !app.isThere(app.socket) }
    }

    @Test func badModulesAreNamedAndTheRestRuns() throws {
        let app = try UpProcess(
            """
            app: test
            startup: 3s
            modules:
              Missing: {run: [bin/nothing]}
              Plain: {run: [plain]}
              Shell: {run: [sh, -c, exit]}
              Quits: {run: [quits.sh], restart: never}
              Silent: {run: [a.sh], restart: never}
              Good: {level: topout, run: [a.sh], stop: 100ms}
            """, scripts: ["a.sh": Self.stays, "quits.sh": "echo 'no configuration' >&2; exit 9"])
        defer { app.cleanUp() }
        try app.write("plain", "text", mode: 0o644)
        try app.start()
        try app.until { app.said("Good    | here") && app.said("Silent    failed") }
        #expect(app.said("Missing   failed: \(app.folder)/bin/nothing isn't there; build it, or fix `run`"))
        #expect(
            app.said(
                "Shell     failed: \(app.folder)/sh isn't there, and PATH isn't searched for `run`: write /usr/bin/sh, or "
                    + "[/usr/bin/env, sh, …]"))
        #expect(app.said("Plain     failed: \(app.folder)/plain is not executable; run chmod +x"))
        #expect(
            app.said(
                "Quits     failed: it ended with exit code 9 before it was ready; its last lines: no configuration"))
        #expect(app.said("it did not say hello to the bus within 3 s"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    /// A journal or a file is no person who could type it. Errors are written there, too.
    @Test func whatToTryIsNotSaidWhereNobodyCanTypeIt() throws {
        let app = try FixtureApp("  Guard: {run: [MODULE], provides: [Guard], env: {FIXTURE: is guarded}}")
        defer { app.cleanUp() }
        try app.start()
        try app.running.until {
            app.line(of: "Guard", "Guard/guarded has auth: true, and the app has no authorizer") != nil
        }
        try app.end()
        #expect(!app.running.said("try, in another terminal") && !app.running.said("ctrl-C"), "\(app.running.lines)")
    }

    @Test(.promise("M.41")) func socketThatIsTakenIsRefused() throws {
        let app = try UpProcess("{app: test, modules: {A: {run: [a.sh], stop: 100ms}}}", scripts: ["a.sh": Self.stays])
        let second = try UpProcess("{app: test, modules: {}}")
        defer {
            second.cleanUp()
            app.cleanUp()
        }
        try app.start()
        try app.until { app.said("| here") }
        for command in ["up", "broker"] {
            try second.start(command, socket: app.socket)
            #expect(try second.ended() == .code(3))
            #expect(second.lines.last?.contains("runs on \(app.socket) already") == true)
        }
        try second.start("launch", socket: app.socket)
        #expect(try second.ended() == .code(3))
        #expect(second.lines.last?.contains("another launcher") == true)
        app.signal(SIGINT)
        _ = try app.ended()
    }

    @Test(.promise("M.41")) func badManifestAndBadPathAreExitCode2() throws {
        let app = try UpProcess("app: TEST\nmodules:\n  A: {level: nowhere, restart: sometimes}\n")
        defer { app.cleanUp() }
        try app.start()
        #expect(try app.ended() == .code(2))
        #expect(app.lines.count == 3)
        let long = try UpProcess("{app: test, modules: {}}")
        defer { long.cleanUp() }
        try long.start(socket: "/tmp/" + String(repeating: "x", count: 120))
        #expect(try long.ended() == .code(2))
        #expect(long.said("a socket's path may have 107"))
        try long.start("launch")
        #expect(try long.ended() == .code(3))
        #expect(long.said("no broker listens on"))
    }

    @Test(arguments: ["up", "broker", "launch"])
    func whatTheBusWouldRefuseForCertainIsRefusedAtTheStart(command: String) throws {
        let app = try UpProcess(
            """
            app: test
            calls: layered
            modules:
              A: {run: [a.sh], requires: [B], reports: {B: [x]}}
              B: {level: middle, run: [a.sh], provides: [B]}
            """, scripts: ["a.sh": Self.stays])
        defer { app.cleanUp() }
        try app.start(command)
        #expect(try app.ended() == .code(2))
        #expect(app.lines.count == 2)
        #expect(app.said(":4: modules.A.requires[0]: B belongs to B in the later level middle"))
        #expect(app.said(":4: modules.A.reports.B: B is in the later level middle"))
        #expect(!app.isThere(app.socket))
    }

    @Test func whatMayBeMetAfterAllIsSaidAndStarted() throws {
        let app = try UpProcess(
            "{app: test, modules: {A: {run: [a.sh], start: async, requires: [B], stop: 100ms}}}",
            scripts: ["a.sh": Self.stays])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.said("A      | here") }
        #expect(app.said(":1: modules.A.requires[0]: no row provides B, and there are no guests"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    /// Whether a process runs. A zombie that another process must reap doesn't count.
    private static func runs(_ pid: Int32) -> Bool {
        !["", "Z", "X"].contains(UpProcess.state(of: pid))
    }
}
