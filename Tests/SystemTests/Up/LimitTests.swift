import Glibc
import Testing

/// A row's limits, and starts that fail, with real processes.
@Suite(.timeLimit(.hang))
struct LimitTests {
    @Test(.promise("M.17")) func processOverItsMemoryIsKilledAndSaidSo() throws {
        let script = "x=$(head -c 40000000 /dev/zero | tr '\\0' x); echo full; while read y <&3; do :; done"
        let app = try UpProcess(
            """
            app: test
            modules:
              Big: {run: [big.sh], start: async, limits: {memory: 20MiB}, restart: never}
              Small: {run: [big.sh], start: async, limits: {memory: 400MiB}, restart: never, stop: 100ms}
            """, scripts: ["big.sh": script])
        defer { app.cleanUp() }
        try app.start()
        try app.until { app.lines.contains { $0.hasPrefix("Big ") && $0.contains("failed") } }
        let line = try #require(app.lines.first { $0.hasPrefix("Big ") && $0.contains("failed") })
        #expect(line.contains("of memory, over its limit of 20 MiB, and was ended"), "\(line)")
        try app.until { app.said("Small  | full") }
        #expect(!app.said("Small    failed"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    /// Both limits hold at once, from its first line on.
    @Test(.promise("M.17")) func filesBeyondTheLimitCannotBeOpened() throws {
        let script = """
            until [ "$(ulimit -Hn)" = 20 ]; do :; done
            for file in /proc/self/exe; do exec 9<$file && echo opened 9; done
            exec 19<$0 && echo opened 19; (exec 20<$0) 2>/dev/null || echo refused 20; exec cat <&3
            """
        let app = try UpProcess(
            "{app: test, modules: {A: {run: [bash.sh], start: async, limits: {files: 20}, stop: 100ms}}}")
        defer { app.cleanUp() }
        guard access("/bin/bash", X_OK) == 0 else { try Test.cancel("a plain sh has no descriptors over 9") }
        try app.write("bash.sh", "#!/bin/bash\n\(script)\n", mode: 0o755)
        try app.start()
        try app.until { app.said("A      | refused 20") }
        #expect(app.said("A      | opened 9") && app.said("A      | opened 19"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.19")) func failedAndHangingStartsAreToldWithTheirStep() throws {
        let modules = ["Fails", "Hangs", "Later", "Again"]
        try withShortStartup { startup in
            let app = try FixtureApp(
                """
                  Fails: {run: [MODULE], env: {FIXTURE: fails in setUp}, restart: never}
                  Hangs: {run: [MODULE], env: {FIXTURE: hangs in setUp}, restart: never, provides: [Hangs]}
                  Later: {run: [MODULE], env: {FIXTURE: hangs in initialize}, restart: never}
                  Again: {run: [MODULE], env: {FIXTURE: fails in setUp}, backoff: {first: 1ms, most: 1ms, reset: 1s}}
                """, extra: "startup: \(startup)")
            defer { app.cleanUp() }
            try app.start()
            try app.running.until { modules.allSatisfy { app.line(of: $0, "failed: ") != nil } }
            // The launcher either learns it from the bus and ends the module, or reads it in the
            // module's last output. Either may come first.
            func told(_ module: String) -> String {
                app.running.lines.filter { $0.hasPrefix("\(module) ") }.joined(separator: "\n")
            }
            guard app.isInTime(hanging: modules), !told("Later").contains("setUp within") else { return false }
            #expect(told("Fails").contains(/its setUp failed|the disk is away/))
            #expect(told("Hangs").contains(/answer (module\/)?setUp within [0-9]+ m?s/))
            #expect(told("Later").contains(/answer (module\/)?initialize within [0-9]+ m?s/))
            #expect(app.line(of: "Again", "failed: ")?.contains("that was the 10th time in a row") == true)
            let refusal = try app.tool().refused("Hangs/echo", with: "unavailable")
            // Or the launcher has meanwhile reported how the process ended.
            #expect(refusal.message.contains(/setUp|before it was ready/), "\(refusal.message)")
            try app.end()
            return true
        }
    }
}
