import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10, `reload`, and the manifest page's rules for it:
/// who may ask, what can't change, what takes effect at once and what later.
@Suite(.timeLimit(.minutes(1)))
struct ReloadTests {
    /// Ant of the first level provides Store, Cat of the last one calls.
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Ant", rank: 0, provides: ["Store"]), .manual("Bee", rank: 1), .manual("Cat", rank: 2),
            with: change)
    }

    private func ant(_ bus: TestBus) throws -> RawPeer { try bus.provider("Ant", "Store") }

    // MARK: who asks

    @Test func onlyOperatorsAndTheLauncherMayAsk() throws {
        try TestBus.run(table()) { bus in
            try bus.module("Bee").refused("bus/reload", with: "forbidden")
            let error = try bus.operator().refused("bus/reload", with: "unavailable")
            #expect(error.message.contains("no launcher"), "\(error.message)")
        }
    }

    @Test func theLauncherAsksItsOwnReload() throws {
        try TestBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let id = try launcher.call("bus/reload")
            let question = try launcher.expect(["kind": "call", "to": "launcher/reload", "from": "bus"])
            try launcher.reply(to: question, table { $0.env = "other" }.json())
            try launcher.expectReply(to: id, body: [:])
            #expect(try bus.module("Bee").welcome["env"] == "other")
        }
    }

    @Test func aBadManifestChangesNothing() throws {
        try TestBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let id = try tool.call("bus/reload")
            let question = try launcher.expectCall("launcher/reload")
            try launcher.fail(question, "bad-params", "strata.yaml:3: levels: no such level")
            let error = try tool.expectError(to: id, "bad-params", ran: "no")
            #expect(error.message.contains("strata.yaml:3"))
            #expect(try ant(bus).welcome["env"] == "test")
        }
    }

    @Test(arguments: ["app", "levels", "group", "limits.frame", "limits.header"])
    func whatCanNotChangeIsNamed(_ key: String) throws {
        try TestBus.run(table()) { bus in
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
        try TestBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let id = try tool.call("bus/reload")
            try launcher.reply(to: try launcher.expectCall("launcher/reload"), ["app": 7])
            try tool.expectError(to: id, "bad-params", ran: "no")
            #expect(try bus.module("Bee").welcome["env"] == "test")
        }
    }

    @Test func whoAsksMeanwhileGetsTheNextReading() throws {
        try TestBus.run(table()) { bus in
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

    /// The launcher puts the new manifest in force whoever still waits, and so does the broker.
    @Test func aReloadThatNobodyWaitsForAnyMoreTakesEffect() throws {
        try TestBus.run(table()) { bus in
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
        try TestBus.run(table()) { bus in
            let (launcher, tool) = (try bus.launcher(), try bus.operator())
            let first = try tool.call("bus/reload")
            try launcher.expectCall("launcher/reload")
            let second = try tool.call("bus/reload")
            try tool.settle()
            launcher.close()
            try tool.expectError(to: first, "unavailable", ran: "maybe")
            try tool.expectError(to: second, "unavailable", ran: "no")
        }
    }

    // MARK: what takes effect at once

    @Test func theCallPolicyHoldsAtOnce() throws {
        try TestBus.run(table()) { bus in
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
        try TestBus.run(table()) { bus in
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

    @Test func limitsHoldAtOnce() throws {
        try TestBus.run(table()) { bus in
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
        try TestBus.run(table { $0.modules[2].observes = [.init(name: "old")] }) { bus in
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

    @Test func trustAndEventsHoldAtOnce() throws {
        let authorized = table { $0.authorizer = "Nobody" }
        try TestBus.run(authorized) { bus in
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

    // MARK: rows that come and go

    @Test func aNewRowsModuleMayCome() throws {
        try TestBus.run(table()) { bus in
            let peer = try bus.connect()
            try peer.expectRefusal(of: try peer.sendHello("Dog", [:]), "unknown-module")
            _ = try bus.reload(table { $0.modules.append(.manual("Dog", rank: 1, provides: ["Bark"])) })
            let dog = try bus.provider("Dog", "Bark")
            #expect(dog.welcome["level"] == "middle")
            let cat = try bus.module("Cat")
            let id = try cat.call("Bark/loud")
            try dog.reply(to: try dog.expectCall("Bark/loud"), 1)
            try cat.expectReply(to: id, body: 1)
        }
    }

    @Test func aRemovedRowThatTheLauncherStartedIsLeftToIt() throws {
        let full = AppTable.testing(.eager("Old", rank: 0, provides: ["Past"]), .manual("Cat", rank: 2))
        try TestBus.run(full) { bus in
            let token = try bus.vouch(for: "Old")
            let old = try bus.module("Old", ["token": .string(token), "interfaces": ["Past": [:]]])
            let cat = try bus.module("Cat")
            let open = try cat.call("Past/get")
            let question = try old.expectCall("Past/get")
            _ = try bus.reload(.testing(.manual("Cat", rank: 2)))
            #expect(try bus.state(of: "Old") == "ready")
            try old.reply(to: question, 1)
            try cat.expectReply(to: open, body: 1)
            try bus.launcher().asked("bus/retire", ["module": "Old"])
            try cat.refused("Past/get", with: "unavailable")
            old.close()
            try bus.operator().settle()
            #expect(try bus.state(of: "Old") == "unknown")
            try cat.refused("Past/get", with: "unknown-interface")
        }
    }

    @Test func aRemovedRowThatWasStartedByHandIsTornDownAndEnded() throws {
        try TestBus.run(table()) { bus in
            let bee = try bus.module("Bee")
            _ = try bus.reload(.testing(.manual("Ant", provides: ["Store"]), .manual("Cat", rank: 2)))
            try bee.expectEnd("shutting-down")
            #expect(bee.lifecycle.last == "tearDown")
            let again = try bus.connect()
            try again.expectRefusal(of: try again.sendHello("Bee", [:]), "unknown-module")
        }
    }

    @Test func aSecondReloadTearsDownNothingTwice() throws {
        try TestBus.run(table()) { bus in
            let bee = try bus.module("Bee")
            bee.answersLifecycle = false
            let rest = AppTable.testing(.manual("Ant", provides: ["Store"]), .manual("Cat", rank: 2))
            _ = try bus.reload(rest)
            let tearDown = try bee.expectCall("module/tearDown")
            _ = try bus.reload(rest)
            try bee.settle()
            try bee.expectNothing()
            try bee.reply(to: tearDown)
            try bee.expectEnd("shutting-down")
        }
    }

    @Test func whatWaitsForARemovedRowIsUnavailable() throws {
        let full = AppTable.testing(.eager("Old", rank: 0, provides: ["Past"]), .manual("Cat", rank: 2))
        try TestBus.run(full) { bus in
            _ = try bus.launcher()
            let cat = try bus.module("Cat")
            let id = try cat.call("Past/get")
            try cat.settle()
            _ = try bus.reload(.testing(.manual("Cat", rank: 2)))
            try cat.expectError(to: id, "unavailable", ran: "no")
            try cat.refused("Past/get", with: "unknown-interface")
        }
    }

    // MARK: what takes effect later

    @Test func aChangedLevelIsPendingUntilTheNextStart() throws {
        try TestBus.run(table()) { bus in
            let bee = try bus.module("Bee", ["observes": ["x"]])
            let cat = try bus.module("Cat")
            _ = try bus.reload(table { $0.modules[1].rank = 2 })
            func row() throws -> JSON? {
                try bus.operator().asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Bee" }
            }
            #expect(try row()?["level"] == "middle")
            #expect(try row()?["pending"] == ["level"])
            // It is judged by the level that it started in.
            try cat.expectReply(to: try cat.report("y", to: "Bee"), body: ["observers": 0])
            bee.close()
            try bus.operator().settle()
            let again = try bus.module("Bee")
            #expect(again.welcome["level"] == "topout")
            #expect(try row()?["pending"] == nil)
            #expect(try row()?["level"] == "topout")
        }
    }

    @Test func whatTheLauncherSaysIsPendingIsShownUntilTheNextProcess() throws {
        try TestBus.run(.testing(.eager("Old"))) { bus in
            let pid = JSON.integer(Int64(getpid()))
            let vouch: JSON = ["module": "Old", "token": "t", "pid": pid]
            try bus.launcher().asked(
                "bus/vouch", ["module": "Old", "token": "t", "pid": pid, "pending": ["run", "env"]])
            let old = try bus.module("Old", ["token": "t"])
            func pending() throws -> JSON? {
                try bus.operator().asked("bus/modules")["modules"]?.array?.first?["pending"]
            }
            #expect(try pending() == ["run", "env"])
            try bus.launcher().asked("bus/vouch", vouch)
            #expect(try pending() == nil)
            try old.settle()
        }
    }

    // MARK: what one has and another gets

    @Test func anInterfaceThatBecomesARowsLeavesWhoHadIt() throws {
        let guests = table { $0.guests = .init(rank: 2, most: 2) }
        try TestBus.run(guests) { bus in
            let guest = try bus.provider("Visitor", "News")
            let cat = try bus.module("Cat")
            let open = try cat.call("News/get")
            let question = try guest.expectCall("News/get")
            let mine = table {
                $0.guests = .init(rank: 2, most: 2)
                $0.modules[1].provides = ["News"]
            }
            _ = try bus.reload(mine)
            try guest.reply(to: question, 1)
            try cat.expectReply(to: open, body: 1)
            try cat.refused("News/get", with: "unavailable")
            try guest.refused("bus/register", ["interfaces": ["News": [:]]], with: "forbidden")
            let bee = try bus.provider("Bee", "News")
            let id = try cat.call("News/get")
            try bee.reply(to: try bee.expectCall("News/get"), 2)
            try cat.expectReply(to: id, body: 2)
        }
    }

    @Test func whoWaitsForWhatIsAnothersNowIsToldWhose() throws {
        let rows = AppTable.testing(.eager("Old", provides: ["Past"]), .manual("Cat", rank: 2))
        try TestBus.run(rows) { bus in
            _ = try bus.launcher()
            let cat = try bus.module("Cat")
            let (call, creation) = (try cat.call("Past/get"), try cat.call("bus/create", ["interface": "Past"]))
            try cat.settle()
            _ = try bus.reload(.testing(.eager("Old"), .manual("Cat", rank: 2), .manual("Next", provides: ["Past"])))
            let token = try bus.vouch(for: "Old")
            _ = try bus.module("Old", ["token": .string(token)])
            for id in [call, creation] {
                let error = try cat.expectError(to: id, "unavailable", ran: "no")
                #expect(error.message.contains("Next"), "\(error.message)")
            }
        }
    }

    /// Its process may still bring it with `bus/register`.
    @Test func aLiveRowThatLacksWhatItNowProvidesIsNamed() throws {
        try TestBus.run(table()) { bus in
            let (bee, cat) = (try bus.module("Bee"), try bus.module("Cat"))
            _ = try bus.reload(table { $0.modules[1].provides = ["News"] })
            let error = try cat.refused("News/get", with: "unavailable")
            #expect(error.message.contains("strata restart Bee"), "\(error.message)")
            try bee.asked("bus/register", ["interfaces": ["News": [:]]])
            let id = try cat.call("News/get")
            try bee.reply(to: try bee.expectCall("News/get"), 2)
            try cat.expectReply(to: id, body: 2)
        }
    }

    @Test func anInterfaceThatIsNoRowsAnyMoreStaysItsSessions() throws {
        try TestBus.run(table()) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat"))
            _ = try bus.reload(table { $0.modules[0].provides = [] })
            let id = try cat.call("Store/get")
            try ant.reply(to: try ant.expectCall("Store/get"), 1)
            try cat.expectReply(to: id, body: 1)
            ant.close()
            try bus.operator().settle()
            try cat.refused("Store/get", with: "unknown-interface")
        }
    }

    @Test func guestsThatHaveNoPlaceAnyMoreAreEnded() throws {
        try TestBus.run(table { $0.guests = .init(rank: 2, most: 3) }) { bus in
            let first = try bus.module("One")
            let second = try bus.module("Two")
            let namesake = try bus.module("Dog")
            _ = try bus.reload(
                table {
                    $0.guests = .init(rank: 2, most: 1)
                    $0.modules.append(.manual("Dog"))
                })
            try namesake.expectEnd("shutting-down")
            try second.expectEnd("shutting-down")
            try first.settle()
            _ = try bus.module("Dog")
            _ = try bus.reload(table { $0.modules.append(.manual("Dog")) })
            try first.expectEnd("shutting-down")
        }
    }
}
