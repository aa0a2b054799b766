import Glibc
import StrataCore
import StrataManifest
import Testing

@testable import StrataLauncher

/// How a launcher keeps the link of its node. A script plays `strata-link`.
@Suite(.timeLimit(.hang))
struct LinkKeeperTests {
    /// A launcher of the node berlin, whose link is a script.
    private func app(_ script: String) throws -> LauncherFixture {
        let app = try LauncherFixture()
        app.runs(on: "berlin", of: "berlin", "tokyo")
        try app.link(script)
        return app
    }

    /// The vouches for links, in order.
    private func vouches(_ app: LauncherFixture) -> [JSON] {
        app.broker.calls.filter { $0.action == "vouch" && $0.body["link"] == true }.map(\.body)
    }

    @Test(.promise("M.152")) func itGetsItsConfigurationOnceTheBrokerKnowsIt() throws {
        let app = try app("echo $0 $*; cat <&4; echo; exec cat <&3")
        app.federation?.files = .init(key: "/etc/strata/test.nk")
        app.federation?.lost = 7_000
        app.broker.held = ["vouch"]
        try app.start()
        try app.until { app.said("link   | \(app.folder)/strata-link --configuration 4") }
        #expect(!app.said("nats://"))
        app.broker.held = []
        try app.until { app.said("nats://") }
        let line = try #require(app.lines.first { $0.contains("nats://") })
        let json = try JSON(parsing: String(line.drop { $0 != "{" }))
        let vouch = try #require(vouches(app).first)
        #expect(json["token"] == vouch["token"] && json["token"]?.string?.count == 32)
        #expect(vouch["startTicks"]?.integer ?? 0 > 0)
        #expect(json["app"] == "test" && json["node"] == "berlin" && json["nodes"] == ["tokyo"])
        #expect(json["servers"] == ["nats://localhost"] && json["key"] == "/etc/strata/test.nk" && json["ca"] == nil)
        #expect(json["lost"] == 7_000 && json["window"] == 4_194_304 && json["unguarded"] == false)
        #expect(json["socket"]?.string == app.broker.path)
        try app.end()
    }

    @Test(.promise("M.153")) func aKilledLinkIsStartedAgainAndItsEndIsToldOnce() throws {
        let app = try app("kill -9 $$")
        try app.start()
        try app.until { vouches(app).count >= 4 }
        #expect(Set(vouches(app).map { $0["token"]?.string }).count == vouches(app).count)
        let line = "no other node can be reached while the link isn't running: it ended with signal 9 (Killed)"
        #expect(app.lines.count { $0.contains(line) } == 1)
        try app.end()
    }

    @Test(.promise("M.153")) func aMissingProgramIsToldOnceAndTriedAgain() throws {
        let app = try app("exec cat <&3")
        let path = "\(app.folder)/strata-link"
        unlink(path)
        try app.module("Near")
        try app.start()
        try app.until { app.said("no other node can be reached while the link isn't running: \(path) isn't there") }
        try app.getReady("Near")
        try app.link("exec cat <&3")
        try app.until { vouches(app).count == 1 }
        #expect(app.lines.count { $0.contains("isn't there") } == 1)
        try app.end()
    }

    @Test(.promise("M.153")) func aLinkIsStartedAgainForTheNextBroker() throws {
        let app = try app("cat <&4 >/dev/null; exec cat <&3")
        try app.start()
        try app.until { vouches(app).count == 1 }
        app.broker.die()
        try app.until { app.said("no connection to the broker") }
        let pid = try #require(vouches(app)[0]["pid"]?.integer.flatMap { Int32(exactly: $0) })
        kill(pid, SIGKILL)
        try app.until { app.said("signal 9") }
        try app.broker.listen()
        try app.until { vouches(app).count == 2 }
        #expect(vouches(app)[1]["pid"] != vouches(app)[0]["pid"])
        try app.end()
    }

    @Test(.promise("M.154")) func aReloadRestartsItIfFederationHasChanged() throws {
        let app = try app("trap 'echo told to end; exit 0' TERM; cat <&4; echo; while read line <&3; do :; done")
        try app.start()
        try app.until { app.said("nats://localhost") }
        _ = try app.ask("reload").get()
        #expect(vouches(app).count == 1)
        app.federation?.servers = ["nats://127.0.0.1"]
        _ = try app.ask("reload").get()
        try app.until { app.said("told to end") && app.said("nats://127.0.0.1") }
        #expect(vouches(app).count == 2)
        try app.end()
    }

    @Test(.promise("M.154")) func itEndsInOrderAfterTheModules() throws {
        let app = try app("trap 'echo link told; exit 0' TERM; echo link runs; while read line <&3; do :; done")
        try app.module(
            "Near", "trap 'echo module told; exit 0' TERM; echo module runs; while read line <&3; do :; done",
            stays: false)
        try app.start()
        try app.getReady("Near")
        try app.until { app.said("link runs") && app.said("module runs") }
        app.order("test")
        try app.until { app.ending != nil }
        let module = app.lines.firstIndex { $0.contains("module told") }
        let link = app.lines.firstIndex { $0.contains("link told") }
        #expect(try #require(module, "\(app.lines)") < #require(link, "\(app.lines)"))
        try app.end()
    }

    @Test(.promise("M.154")) func aLinkThatDoesNotEndIsKilled() throws {
        let app = try app("trap '' TERM; echo link runs; while :; do sleep 0.1; done")
        try app.start()
        try app.until { app.said("link runs") }
        let pid = try #require(vouches(app).first?["pid"]?.integer.flatMap { Int32(exactly: $0) })
        try app.end()
        #expect(kill(pid, 0) != 0)
    }

    @Test(.promise("M.152")) func anAppWithoutServersOrOtherNodesHasNone() throws {
        for (node, nodes, servers) in [
            ("berlin", ["berlin"], ["nats://localhost"]), ("berlin", ["berlin", "tokyo"], []),
        ] {
            var table = AppTable(app: "test")
            (table.node, table.nodes) = (node, nodes.map { .init($0) })
            var federation = Federation()
            federation.servers = servers
            let manifest = Manifest(path: "a", folder: "/", table: table, processes: [], federation: federation)
            #expect(LinkSettings(manifest) == nil)
        }
    }
}
