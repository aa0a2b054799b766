import Glibc
import StrataTesting
import Testing

/// The app's own events, with real processes: a module prints what it gets.
@Suite(.timeLimit(.hang))
struct AppEventTests {
    @Test(.promise("11.17", "I.3")) func sigtermIsToldToModulesBeforeTheirTearDown() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        app.running.signal(SIGTERM)
        #expect(try app.running.ended() == .code(0))
        for module in ["Base", "Mid", "Top"] {
            let lines = app.running.lines.filter { $0.hasPrefix("\(module) ") && $0.contains("|") }
            let told = lines.firstIndex { $0.contains(#"event app.terminate {"reason":"SIGTERM"}"#) }
            let tornDown = lines.firstIndex { $0.contains("tearDown") }
            #expect(try #require(told) < #require(tornDown), "\(module)")
        }
    }

    @Test func moduleThatHangsInAnEventDelaysTheEndByOneSecond() throws {
        let app = try FixtureApp("  Slow: {run: [MODULE], env: {FIXTURE: hangs in events}}")
        defer { app.cleanUp() }
        try app.start()
        try app.end()
        #expect(app.running.said("| tearDown Slow"))
    }

    @Test(.promise("M.39")) func secondSignalEndsAtOnceWhileTheModulesAreTold() throws {
        // Last keeps the app from ending if this second signal comes late.
        let app = try FixtureApp(
            """
              Slow: {run: [MODULE], env: {FIXTURE: hangs in events}}
              Last: {level: topout, run: [MODULE], env: {FIXTURE: hangs in tearDown}}
            """)
        defer { app.cleanUp() }
        try app.start()
        app.running.signal(SIGINT)
        try app.running.until { app.running.said("| event app.terminate") }
        app.running.signal(SIGINT)
        #expect(try app.running.ended() == .code(0))
        #expect(app.running.said("SIGINT again: everything is killed"))
        #expect(!app.running.said("| tearDown Base"))
    }

    @Test(.promise("11.17")) func aServiceIsSuspendedAndGoesOnRunning() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        // The app was not suspended before.
        app.running.signal(SIGCONT)
        app.running.signal(SIGTSTP)
        try app.running.until { app.heard("app.suspend") == 3 }
        #expect(app.heard("app.resume") == 0)
        #expect(app.running.state != "T")
        // Its launcher still serves.
        #expect(try tool.asked("Lazy/echo", 1) == 1)
        app.running.signal(SIGCONT)
        try app.running.until { app.heard("app.resume") >= 3 }
        #expect(app.heard("app.suspend") == 3)
        try app.end()
    }

    @Test func ctrlZInATerminalHaltsTheLauncherWhenItsModulesKnow() throws {
        let app = try FixtureApp()
        let terminal = try PseudoTerminal(columns: 80)
        defer {
            app.cleanUp()
            terminal.close()
        }
        try app.start(terminal: terminal)
        terminal.type(0x1A)
        try app.running.until { app.running.state == "T" }
        app.running.signal(SIGCONT)
        try app.running.until { app.heard("app.resume") == 3 }
        #expect(app.heard("app.suspend") == 3)
        #expect(app.running.state != "T")
        // The end of the terminal ends the app.
        terminal.close()
        #expect(try app.running.ended() == .code(0))
        #expect(app.running.said("SIGHUP: the app ends"))
    }

    @Test func eachGoodReloadIsToldOnceWhoeverAskedForIt() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        func told() -> Int { app.running.lines.count { $0.contains("| event app.reload {}") } }
        app.running.signal(SIGHUP)
        try app.running.until { told() == 3 }
        let tool = try app.tool()
        let manifest = UpProcess.text(of: app.running.manifest)
        try app.running.write("strata.yaml", "app: [", mode: 0o644)
        _ = try tool.refused("bus/reload", with: "bad-params")
        app.running.signal(SIGHUP)
        try app.running.until { app.running.said("the manifest stays as it was") }
        try app.running.write("strata.yaml", manifest, mode: 0o644)
        #expect(try tool.asked("bus/reload") == .object([]))
        try app.running.until { told() >= 6 }
        try app.end()
        #expect(told() == 6)
    }

    @Test(.promise("11.17")) func memoryPressureReachesTheModulesThatDeclaredIt() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        let fifo = app.running.folder + "/pressure"
        try #require(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        try app.start(environment: ["MEMORY_PRESSURE_WATCH=\(fifo)"])
        let descriptor = open(fifo, O_WRONLY | O_NONBLOCK)
        #expect(write(descriptor, "now\n", 4) == 4)
        close(descriptor)
        try app.running.until { app.heard(#"app.memoryPressure {"level":"some"}"#) == 3 }
        unlink(fifo)
        try app.end()
    }

    @Test func theKernelsFileIsWatchedAndTold() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        // The processor's pressure file stands in for the memory's, because it is easy to
        // trigger.
        let trigger = "c29tZSA1MDAwMCAyMDAwMDAw"
        try app.start(
            environment: ["MEMORY_PRESSURE_WATCH=/proc/pressure/cpu", "MEMORY_PRESSURE_WRITE=\(trigger)"])
        if app.running.said("app.memoryPressure is not emitted") {
            try Test.cancel("this kernel lets nobody watch /proc/pressure/cpu")
        }
        let busy = try (0..<2).map { _ in
            try ChildProgram("/usr/bin/taskset", ["-c", "0", "/bin/sh", "-c", "while :; do :; done"])
        }
        try app.running.until { app.heard(#"app.memoryPressure {"level":"some","avg10":"#) >= 3 }
        for process in busy { process.kill() }
        try app.end()
    }
}
