import Glibc
import StrataTesting
import TestSupport
import Testing

/// `strata dev`, with a `swift` that copies each `.c` file to a program, unless one says `broken`.
@Suite(.timeLimit(.hang))
struct DevCommandTests {
    private let app: UpProcess

    init() throws {
        app = try UpProcess(Self.manifest)
        try write("A", "first")
        try write("B", "first")
        try app.write("Package.swift", "", mode: 0o600)
        try app.write(
            "swift",
            """
            #!/bin/sh
            cd "$3"
            for file in *.c; do
                if grep broken $file; then exit 1; fi
                cmp -s $file ${file%.c} && continue
                cp $file new
                chmod 700 new
                mv new ${file%.c}
            done

            """, mode: 0o700)
        for name in ["A", "B"] { app.owns(name) }
    }

    private static let manifest = """
        app: devtest
        modules:
          A: {run: [A], provides: [A]}
          B: {level: topout, run: [B], provides: [B]}

        """

    /// Writes the source of a program, which is a module that says which version it is.
    private func write(_ module: String, _ version: String) throws {
        try app.write(
            "\(module).c", "#!/bin/sh\necho version \(version)\nexec '\(try BuiltExecutable.path("StrataFixture"))'\n",
            mode: 0o600)
    }

    private func start(_ more: String...) throws { try app.start("dev", more, path: "\(app.folder):/usr/bin:/bin") }

    private func readyCount(_ module: String) -> Int {
        app.lines.count { $0.hasPrefix("\(module) ") && $0.contains("ready after") }
    }

    private func end() throws {
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
        #expect(app.said("nothing of it is left"))
    }

    @Test(.promise("M.159")) func whatChangesIsBuiltAndRestarted() throws {
        defer { app.cleanUp() }
        try start()
        try app.until { app.said("all 2 modules are ready") && app.said("dev      built in") }
        try write("B", "second")
        try app.until { app.said("B      | version second") && readyCount("B") == 2 }
        #expect(app.said("dev      B.c changed") && app.said("dev      restarting B"))
        // A new row, whose program is built before the manifest comes into force.
        app.owns("C")
        try write("C", "first")
        try app.write("strata.yaml", Self.manifest + "  C: {level: topout, run: [C], provides: [C]}\n", mode: 0o600)
        try app.until { readyCount("C") == 1 }
        #expect(readyCount("A") == 1)
        #expect(!app.lines.contains { $0.contains("it ended with") }, "\(app.lines)")
        try end()
    }

    @Test(.promise("M.160")) func errorsAreShownAndChangeNothing() throws {
        defer { app.cleanUp() }
        try start()
        try app.until { app.said("all 2 modules are ready") }
        try write("A", "broken")
        try app.until { app.said("dev      the build failed (exit code 1)") }
        #expect(app.said("echo version broken") && app.said("the app runs as it was"))
        try app.write("strata.yaml", "app: devtest\nmodules: [\n", mode: 0o600)
        try app.until { app.said("dev      \(app.manifest):") }
        try app.write("strata.yaml", Self.manifest, mode: 0o600)
        try app.until { app.said("the manifest was read again") }
        try write("A", "third")
        try app.until { app.said("A      | version third") && readyCount("A") == 2 }
        #expect(readyCount("B") == 1)
        try end()
    }

    @Test(.promise("M.160")) func whatIsWrongAtTheStartIsWaitedFor() throws {
        defer { app.cleanUp() }
        try app.write("strata.yaml", "app: devtest\nmodules: [\n", mode: 0o600)
        try write("A", "broken")
        try start()
        try app.until { app.said("dev      the app starts when this is mended") }
        try app.write("strata.yaml", Self.manifest, mode: 0o600)
        try app.until { app.said("dev      the build failed (exit code 1)") }
        try write("A", "second")
        try app.until { app.said("all 2 modules are ready") }
        #expect(app.said("A      | version second"))
        try end()
    }

    @Test(.promise("M.159")) func oneNodeOfAnAppWithSeveralIsRun() throws {
        defer { app.cleanUp() }
        try start("--node", "rome")
        try app.until { app.said("all 2 modules are ready") || app.said("dev      the app starts when this is mended") }
        #expect(app.lines.contains { $0.contains("has no nodes") }, "\(app.lines)")
        let nodes = "nodes: {rome: , oslo: }\nfederation: {servers: [tls://n1.example]}\n"
        try app.write(
            "strata.yaml",
            Self.manifest.replacing("run: [A]", with: "node: rome, run: [A]").replacing(
                "run: [B]", with: "node: oslo, run: [B]") + nodes, mode: 0o600)
        try app.until { app.said("A        ready after") || app.said("A      ready after") }
        #expect(app.said("devtest@rome on"), "\(app.lines)")
        try write("A", "second")
        try app.until { app.said("A      | version second") }
        #expect(!app.lines.contains { $0.hasPrefix("B ") }, "\(app.lines)")
        try end()
    }

    @Test(.promise("M.160")) func theAppEndsWithItAndItWithTheApp() throws {
        defer { app.cleanUp() }
        try start()
        try app.until { app.said("all 2 modules are ready") }
        let second = try ChildProgram(
            try BuiltExecutable.path("strata"), ["dev", app.manifest, "--socket", app.socket],
            environment: ["PATH": "\(app.folder):/usr/bin:/bin"])
        #expect(try second.wait() == .exit(3) && second.outputText.contains("runs on"), "\(second.outputText)")
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        _ = try tool.asked("launcher/down")
        #expect(try app.ended() == .code(0))

        try start()
        try app.until { app.lines.count { $0.contains("all 2 modules are ready") } == 2 }
        app.signal(SIGKILL)
        #expect(try app.ended() == .signal(SIGKILL))
        try app.until { !app.isThere(app.socket) }
    }
}
