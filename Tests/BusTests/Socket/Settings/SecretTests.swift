import StrataCore
import StrataTesting
import Testing

/// What nobody but its module is shown: a secret.
@Suite(.timeLimit(.hang))
struct SecretTests {
    private func table(_ key: String = "hunter2") -> AppTable {
        SettingsTests.table { $0.modules[0].secrets = [.init("key", key)] }
    }

    /// Returns the frames that the tool's monitors got.
    private func seen(_ tool: RawPeer) throws -> [JSON] {
        try tool.broadcast("the end", nil, ["level": "basic"])
        var frames: [JSON] = []
        while !frames.contains(where: { $0["name"] == "the end" }) {
            frames += try tool.drain().filter(\.isPartial).map(\.json)
        }
        return frames
    }

    @Test(.promise("10.60")) func monitorShowsNoSecret() throws {
        try TestBus.run(table()) { bus in
            let tool = try bus.operator()
            _ = try bus.launcher()
            try tool.call("bus/monitor", ["bodies": true], ["credit": 1_000])
            let ant = try bus.module("Ant", SettingsTests.declared)
            #expect(try bus.reload(table("hunter3")).kind == "reply")
            try ant.fail(
                try ant.expectCall("module/settings"), "failed", "hunter3 is as bad as hunter2",
                body: "hunter3 and hunter2")
            let frames = try seen(tool)
            let shown: JSON = ["page": 20, "key": "‹secret›", "title": "Ants"]
            let bodies = frames.compactMap { $0["body"] }
            #expect(bodies.contains { $0["module"] == "Ant" && $0["settings"] == shown && $0["limits"] != nil })
            #expect(frames.contains { $0["to"] == "module/setUp" && $0["body"]?["settings"] == shown })
            #expect(frames.contains { $0["to"] == "module/settings" && $0["body"]?["settings"] == shown })
            #expect(bodies.contains("‹secret› and ‹secret›"))
            // The launcher's answer is the new table.
            let rows = bodies.compactMap { $0["modules"]?.array?.first }
            #expect(rows.contains { $0["secrets"] == ["key": "‹secret›"] })
            #expect(!"\(frames)".contains("hunter"), "\(frames)")
        }
    }

    /// The module may still have a secret that a reload has replaced, also for the next broker.
    @Test(.promise("10.60", "10.32")) func aReplacedBrokerShowsNoFormerSecret() throws {
        try TestBus.run(table(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let tool = try bus.operator()
            let ant = try bus.module("Ant", SettingsTests.declared)
            #expect(try bus.reload(table("hunter3")).kind == "reply")
            let change = try ant.expectCall("module/settings")
            try tool.expectReply(to: try tool.call("bus/handOver"))
            try tool.call("bus/monitor", ["bodies": true], ["credit": 1_000])
            try ant.fail(change, "failed", "hunter3 is as bad as hunter2", body: "hunter2")
            let frames = try seen(tool)
            #expect(frames.contains { $0["body"] == "‹secret›" }, "\(frames)")
            #expect(!"\(frames)".contains("hunter"), "\(frames)")
        }
    }

    /// A module may quote its settings when its start fails.
    @Test(.promise("10.60")) func failedStartShowsNoSecret() throws {
        try MemoryBus.run(table()) { bus in
            let tool = try bus.operator()
            let ant = try bus.connect("Ant")
            try ant.hello("Ant", SettingsTests.declared)
            let setUp = try ant.expectCall("module/setUp")
            let watch = try tool.call("bus/watch", nil, ["credit": 100])
            try ant.fail(setUp, "failed", "no login with hunter2")
            #expect(try ant.expectEnd("failed").message.contains("no login with ‹secret›"))
            let (modules, timeline) = (try tool.asked("bus/modules"), try tool.asked("bus/timeline"))
            #expect("\(modules)".contains("no login with ‹secret›"))
            #expect(!"\(modules) \(timeline)".contains("hunter2"))
            let changes = try tool.drain().filter { $0.id == watch }.map { "\($0.json)" }
            #expect(changes.contains { $0.contains("‹secret›") } && !changes.contains { $0.contains("hunter2") })
        }
    }
}
