import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// `strata up --all-nodes`: three nodes of an app on this machine, with a real NATS server.
@Suite(.timeLimit(.hang))
struct UpAllNodesTests {
    private static let manifest = """
        app: test
        nodes: {berlin: {operates: true}, tokyo: , osaka: }
        modules:
          Near: {node: berlin, run: [FIXTURE], provides: [Near]}
          Away: {node: tokyo, run: [FIXTURE], provides: [Away]}
          Each: {level: topout, node: [berlin, osaka], run: [FIXTURE], provides: [Each], requires: [Away]}
        """

    @Test(.promise("M.156")) func anAppWithoutNodesIsRefused() throws {
        let app = try UpProcess("app: test\nmodules: {}\n")
        defer { app.cleanUp() }
        app.standardSocket = "\(app.folder)/none"
        try app.start("up", ["--all-nodes"])
        #expect(try app.ended() == .code(2))
        #expect(app.said("the app test has no nodes: run it with `strata up`"), "\(app.lines)")
    }

    @Test(.promise("M.156"), arguments: [["--node", "berlin"], ["--socket", "/tmp/s"]])
    func whatIsForOneNodeIsRefused(_ words: [String]) throws {
        let app = try UpProcess(Self.manifest)
        defer { app.cleanUp() }
        app.standardSocket = "\(app.folder)/none"
        try app.start("up", ["--all-nodes"] + words)
        #expect(try app.ended() == .code(2))
        #expect(app.said("--all-nodes"), "\(app.lines)")
    }

    #if STRATA_LINK
        /// All nodes, in a folder of their own.
        private final class Nodes {
            let app: UpProcess
            let folder: TemporaryFolder

            init() throws {
                app = try UpProcess(manifest.replacing("FIXTURE", with: try BuiltExecutable.path("StrataFixture")))
                folder = try TemporaryFolder()
                app.standardSocket = "\(folder.path)/strata/none"
                try start()
                try app.until { app.said("berlin | link   | tokyo is up") && app.said("osaka  | link   | tokyo is up") }
                try app.until { app.said("tokyo  | strata   the module is ready after") }
                try app.until { app.said("berlin | strata   all 2 modules are ready after") }
            }

            func start() throws {
                try app.start("up", ["--all-nodes"], environment: ["XDG_RUNTIME_DIR=\(folder.path)"])
            }

            func socket(_ node: String) -> String { "\(folder.path)/strata/test@\(node).sock" }

            /// The process of a program that belongs to a node: its launcher, or a child of that.
            func process(_ node: String, _ program: String? = nil) -> Int32? {
                guard let launcher = app.children().first(where: { words($0).contains(node) }) else { return nil }
                guard let program else { return launcher }
                return children(launcher).first { words($0).first?.hasSuffix(program) == true }
            }

            func server() -> Int32? { app.children().first { words($0).first?.hasSuffix("nats-server") == true } }

            /// All processes of the app but the first.
            func all() -> [Int32] { app.children().flatMap { [$0] + children($0) } }

            private func children(_ pid: Int32) -> [Int32] {
                UpProcess.text(of: "/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { Int32($0) }
            }

            private func words(_ pid: Int32) -> [String] {
                UpProcess.text(of: "/proc/\(pid)/cmdline").split(separator: "\0").map(String.init)
            }

            /// Asks tokyo's module from berlin, until it answers.
            func asks() throws {
                let tool = try RawPeer(path: socket("berlin"), label: "tool")
                defer { tool.close() }
                try tool.hello(role: "operator")
                try app.until {
                    let answer = try? tool.ask("Away/echo", 7)
                    return answer?.kind == "reply" && answer?.json == 7
                }
            }

            func end() {
                app.cleanUp()
                rmdir("\(folder.path)/strata")
            }
        }

        @Test(.promise("M.156", "M.157")) func callsCrossAndComeBackAfterEachDeath() throws {
            let nodes = try Nodes()
            defer { nodes.end() }
            let app = nodes.app
            try nodes.asks()
            for (program, words) in [
                ("strata-link", "the link isn't running"), ("strata-broker", "the broker is back"),
            ] {
                let pid = try #require(nodes.process("tokyo", program))
                kill(pid, SIGKILL)
                try app.until { app.said(words) && nodes.process("tokyo", program).map { $0 != pid } == true }
                try nodes.asks()
            }
            kill(try #require(nodes.server()), SIGKILL)
            try app.until { app.said("nats-server ended with signal 9 (Killed); it is started again") }
            try nodes.asks()
            // A second run would share sockets and keys.
            let second = try UpProcess(Self.manifest)
            defer { second.cleanUp() }
            second.standardSocket = "\(second.folder)/none"
            try second.start("up", ["--all-nodes"], environment: ["XDG_RUNTIME_DIR=\(nodes.folder.path)"])
            #expect(try second.ended() == .code(3))
            #expect(second.said("all nodes of test run already"), "\(second.lines)")
            app.signal(SIGINT)
            #expect(try app.ended() == .code(0))
            #expect(!app.isThere("\(nodes.folder.path)/strata/test.nodes"))
        }

        @Test(.promise("M.157")) func aNodeThatIsKilledLeavesTheOthers() throws {
            let nodes = try Nodes()
            defer { nodes.end() }
            kill(try #require(nodes.process("osaka")), SIGKILL)
            try nodes.app.until { nodes.app.said("the node osaka ended with signal 9 (Killed)") }
            try nodes.asks()
            nodes.app.signal(SIGTERM)
            #expect(try nodes.app.ended() == .code(0))
        }

        @Test(.promise("M.157")) func nothingOutlivesTheProcessThatStartedAll() throws {
            let nodes = try Nodes()
            defer { nodes.end() }
            let all = nodes.all()
            #expect(all.count > 9)
            nodes.app.signal(SIGKILL)
            _ = try nodes.app.ended()
            try nodes.app.until { !all.contains(where: UpProcess.lives) }
            // What it left behind isn't in the next one's way.
            try nodes.start()
            try nodes.app.until { nodes.app.lines.count { $0.contains("nats-server is at") } == 2 }
            nodes.app.signal(SIGINT)
            #expect(try nodes.app.ended() == .code(0))
        }
    #endif
}
