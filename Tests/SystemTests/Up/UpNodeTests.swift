import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// `strata up` of one node of an app with several.
@Suite(.timeLimit(.hang))
struct UpNodeTests {
    private static let manifest = """
        app: test
        nodes: {berlin: , tokyo: }
        federation: {servers: [tls://n1.example]}
        modules:
          Near: {node: berlin, run: [FIXTURE], provides: [Near]}
          Away: {node: tokyo, run: [FIXTURE], provides: [Away]}
          Each: {level: topout, node: all, run: [FIXTURE], provides: [Each], requires: [Away]}
        """

    private func app() throws -> UpProcess {
        try UpProcess(Self.manifest.replacing("FIXTURE", with: try BuiltExecutable.path("StrataFixture")))
    }

    @Test(.promise("M.146", "M.147")) func nodeRunsItsOwnRowsAndWaitsForNoOther() throws {
        let app = try app()
        defer { app.cleanUp() }
        try app.start("up", ["--node", "berlin"])
        try app.until { app.said("all 2 modules are ready") }
        #expect(app.said("test@berlin on \(app.socket)"))
        let tool = try RawPeer(path: app.socket, label: "tool")
        try tool.hello(role: "operator")
        let away = try tool.refused("Away/echo", 1, with: "unavailable")
        #expect(
            away.message.hasPrefix(
                "Away runs on the node tokyo, which can't be reached: tokyo has not been connected yet"))
        #expect(try tool.asked("Near/echo", 1) == 1)
        let inner = try tool.ask("Each/call", ["to": "Away/echo", "body": 2])
        #expect(inner.message.contains("which can't be reached"), "\(inner)")
        let start = try tool.refused("launcher/start", ["module": "Away"], with: "unavailable")
        #expect(start.message == "Away is on tokyo, and this is berlin: ask there")
        tool.close()
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    /// The variable is the launcher's alone: no module gets it.
    @Test(.promise("M.150", "M.151")) func variableChoosesAndTheSocketHasTheNodesName() throws {
        let app = try app()
        let folder = try TemporaryFolder()
        app.standardSocket = "\(folder.path)/strata/test@tokyo.sock"
        defer { app.cleanUp() }
        try app.start(environment: ["STRATA_NODE=tokyo", "XDG_RUNTIME_DIR=\(folder.path)"])
        try app.until { app.said("all 2 modules are ready") }
        #expect(app.said("test@tokyo on \(app.socket)"))
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.150"), arguments: ["up", "broker", "launch"])
    func withoutItsNodeNothingStarts(command: String) throws {
        let app = try app()
        defer { app.cleanUp() }
        try app.start(command)
        #expect(try app.ended() == .code(2))
        #expect(app.said("the app test has nodes: berlin, tokyo; say which one this machine is"), "\(app.lines)")
    }
}
