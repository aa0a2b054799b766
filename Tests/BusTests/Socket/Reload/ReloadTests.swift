import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10, `reload`, and the manifest page's rules for it: who may ask, what
/// can't change, and what takes effect at once.
@Suite(.timeLimit(.hang))
struct ReloadTests: ReloadSuite {
    // MARK: who asks

    @Test(.promise("10.29")) func onlyOperatorsAndTheLauncherMayAsk() throws {
        try TestBus.run(table()) { bus in
            try bus.module("Bee").refused("bus/reload", with: "forbidden")
            let error = try bus.operator().refused("bus/reload", with: "unavailable")
            #expect(error.message.contains("no launcher"), "\(error.message)")
        }
    }

    @Test(.promise("10.29")) func theLauncherAsksItsOwnReload() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let id = try launcher.call("bus/reload")
            let question = try launcher.expect(["kind": "call", "to": "launcher/reload", "from": "bus"])
            try launcher.reply(to: question, table { $0.env = "other" }.json())
            try launcher.expectReply(to: id, body: [:])
            #expect(try bus.module("Bee").welcome["env"] == "other")
        }
    }

    @Test(.promise("10.29")) func aBadManifestChangesNothing() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let id = try tool.call("bus/reload")
            let question = try launcher.expectCall("launcher/reload")
            try launcher.fail(question, "bad-params", "strata.yaml:3: levels: no such level")
            let error = try tool.expectError(to: id, "bad-params", ran: "no")
            #expect(error.message.contains("strata.yaml:3"))
            #expect(try ant(bus).welcome["env"] == "test")
        }
    }

    @Test(.promise("M.33"), arguments: ["app", "levels", "group", "limits.frame", "limits.header"])
    func whatCanNotChangeIsNamed(_ key: String) throws {
        try MemoryBus.run(table()) { bus in
            let answer = try bus.reload(
                table {
                    $0.env = "other"
                    switch key {
                    case "app": $0.app = "another"
                    case "levels": $0.levels = ["basic", "topout", "middle"]
                    case "group": $0.group = 7
                    case "limits.frame": $0.limits.frame = 1 << 20
                    default: $0.limits.header = 8 << 10
                    }
                })
            #expect(answer["code"] == "bad-params")
            #expect(answer["message"]?.string?.contains(key) == true, "\(answer)")
            #expect(try bus.module("Bee").welcome["env"] == "test")
        }
    }

    @Test func aTableThatCanNotBeReadChangesNothing() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let id = try tool.call("bus/reload")
            try launcher.reply(to: try launcher.expectCall("launcher/reload"), ["app": 7])
            try tool.expectError(to: id, "bad-params", ran: "no")
            #expect(try bus.module("Bee").welcome["env"] == "test")
        }
    }

    @Test func whoAsksMeanwhileGetsTheNextReading() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let first = try tool.call("bus/reload")
            let question = try launcher.expectCall("launcher/reload")
            let second = try tool.call("bus/reload")
            let third = try tool.call("bus/reload")
            try tool.settle()
            try launcher.expectNothing()
            try launcher.reply(to: question, table { $0.env = "one" }.json())
            try tool.expectReply(to: first, body: [:])
            let next = try launcher.expectCall("launcher/reload")
            try launcher.reply(to: next, table { $0.env = "two" }.json())
            try tool.expectReply(to: second, body: [:])
            try tool.expectReply(to: third, body: [:])
            #expect(try bus.module("Bee").welcome["env"] == "two")
        }
    }

    /// The launcher puts the new manifest in force even if no request waits any more, and so does
    /// the broker.
    @Test func aReloadThatNobodyWaitsForAnyMoreTakesEffect() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let id = try tool.call("bus/reload")
            let question = try launcher.expectCall("launcher/reload")
            try tool.cancel(id)
            try tool.expectError(to: id, "cancelled", ran: "maybe")
            try launcher.reply(to: question, table { $0.env = "other" }.json())
            try launcher.settle()
            #expect(try bus.module("Bee").welcome["env"] == "other")
        }
    }

    @Test func theLaunchersDeathEndsIt() throws {
        try MemoryBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let first = try tool.call("bus/reload")
            try launcher.expectCall("launcher/reload")
            let second = try tool.call("bus/reload")
            try tool.settle()
            launcher.close()
            try tool.expectError(to: first, "unavailable", ran: "no")
            try tool.expectError(to: second, "unavailable", ran: "no")
        }
    }

    // MARK: what takes effect at once

    @Test(.promise("M.33")) func theCallPolicyHoldsAtOnce() throws {
        try MemoryBus.run(table()) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat"))
            try cat.asked("bus/ping")
            _ = try bus.reload(table { $0.calls = .declared })
            try cat.refused("Store/get", with: "undeclared")
            _ = try bus.reload(
                table {
                    $0.calls = .declared
                    $0.modules[2].requires = ["Store"]
                })
            let id = try cat.call("Store/get")
            try ant.reply(to: try ant.expectCall("Store/get"), 1)
            try cat.expectReply(to: id, body: 1)
        }
    }

    @Test func schemesURLsAndAdaptersHoldAtOnce() throws {
        try MemoryBus.run(table()) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat"))
            try cat.expectError(to: try cat.open("new://store/dump"), "unknown-scheme")
            try cat.refused("Need/read", with: "unknown-interface")
            _ = try bus.reload(
                table {
                    $0.schemes = ["new"]
                    $0.modules[0].urls = [.init(host: "store", path: "/dump", to: "Store/dump")]
                    var adapter = AppTable.Adapter(name: "Need", to: "Store")
                    adapter.actions = [.init(name: "read", to: "get")]
                    $0.adapters = [adapter]
                })
            let opened = try cat.open("new://store/dump")
            try ant.reply(to: try ant.expectCall("Store/dump"), 1)
            try cat.expectReply(to: opened, body: 1)
            let adapted = try cat.call("Need/read")
            try ant.reply(to: try ant.expectCall("Store/get"), 2)
            try cat.expectReply(to: adapted, body: 2)
            _ = try bus.reload(table())
            try cat.refused("Need/read", with: "unknown-interface")
            try cat.expectError(to: try cat.open("test://store/dump"), "unknown-host")
        }
    }

    @Test(.promise("13.41")) func limitsHoldAtOnce() throws {
        try MemoryBus.run(table()) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat"))
            _ = try bus.reload(table { $0.limits.calls = 1 })
            try cat.call("Store/get")
            try cat.refused("Store/get", with: "overloaded")
            _ = try bus.reload(table { $0.limits.calls = 2 })
            try cat.call("Store/get")
            try ant.expectCall("Store/get")
            try ant.expectCall("Store/get")
        }
    }

    @Test func aRowsNewObservationsComeAndItsOldOnesGo() throws {
        try MemoryBus.run(table { $0.modules[2].observes = [.init(name: "old")] }) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat", ["observes": ["own"]]))
            #expect(try ant.recipients(ofBroadcast: "old") == 1)
            _ = try bus.reload(table { $0.modules[2].observes = [.init(name: "new"), .init(name: "own")] })
            #expect(try ant.recipients(ofBroadcast: "old") == 0)
            #expect(try ant.recipients(ofBroadcast: "new") == 1)
            #expect(try ant.recipients(ofBroadcast: "own") == 1)
            try cat.expectNotice("old")
            try cat.expectNotice("new")
            try cat.expectNotice("own")
        }
    }

    /// What a module has ended stays ended.
    @Test(.promise("7.12")) func aReloadBringsBackNoObservationThatTheModuleEnded() throws {
        let observing = table { $0.modules[2].observes = [.init(name: "old"), .init(name: "kept")] }
        try MemoryBus.run(observing) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat", ["observes": ["old"]]))
            try cat.asked("bus/unobserve", ["subscription": 1])
            _ = try bus.reload(observing)
            #expect(try ant.recipients(ofBroadcast: "old") == 0)
            #expect(try ant.recipients(ofBroadcast: "kept") == 1)
            try cat.expectNotice("kept")
            // A row that newly observes it does so again.
            _ = try bus.reload(table { $0.modules[2].observes = [.init(name: "kept")] })
            _ = try bus.reload(observing)
            #expect(try ant.recipients(ofBroadcast: "old") == 1)
            try cat.expectNotice("old")
        }
    }

    @Test func trustAndEventsHoldAtOnce() throws {
        let authorized = table { $0.authorizer = "Nobody" }
        try MemoryBus.run(authorized) { bus in
            let ant = try bus.module(
                "Ant", ["interfaces": ["Store": ["actions": ["get": ["auth": true]]]]])
            let bee = try bus.module("Bee")
            try bee.refused("bus/emit", nil, ["name": "x.y"], with: "forbidden")
            let untrusted = try bee.call("Store/get", nil, ["auth": "skip"])
            try bee.expectError(to: untrusted, "forbidden")
            _ = try bus.reload(
                table {
                    $0.modules[1].trusted = true
                    $0.modules[1].emits = ["x.y"]
                })
            let trusted = try bee.call("Store/get", nil, ["auth": "skip"])
            try ant.reply(to: try ant.expectCall("Store/get"), 1)
            try bee.expectReply(to: trusted, body: 1)
            let emitted = try bee.call("bus/emit", nil, ["name": "x.y"])
            try bee.expectReply(to: emitted)
        }
    }
}
