import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5, `replace: overlap`: a row's next process starts beside the one that
/// serves. It takes over in one step, and the old process finishes its work.
@Suite(.timeLimit(.hang))
struct OverlapTests {
    /// Shop is replaced with overlap. Cat of the last level uses it.
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Shop", rank: 1, provides: ["Shop"]) {
                $0.replace = .overlap
                $0.stop = 60_000
            }, .manual("Cat", rank: 2), .manual("Ant", rank: 0), with: change)
    }

    private static let hello: JSON = [
        "interfaces": ["Shop": [:], "Cart": ["instances": "multiple"]],
        "urls": [["host": "shop", "path": "/", "to": "Shop/show"]],
        "observes": ["news"], "events": ["x.y"],
    ]

    private func serving(_ bus: TestBus) throws -> OtherProcess {
        let shop = try bus.process(of: "Shop", Self.hello)
        try shop.peer.becomeReady()
        return shop
    }

    private func pid(_ bus: TestBus) throws -> Int64? {
        try bus.operator().asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Shop" }?["pid"]?.integer
    }

    // MARK: beside each other

    @Test(.promise("5.25")) func theOldOneServesUntilTheNewOneIsReady() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let (cat, ant) = (try bus.module("Cat", ["observes": ["shop.said"]]), try bus.module("Ant"))
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            let setUp = try new.peer.expectCall("module/setUp")
            #expect(try bus.state(of: "Shop") == "ready")
            #expect(try pid(bus) == Int64(old.pid))
            // Calls, notices, reports, events and URLs all go to the old process.
            let call = try cat.call("Shop/buy")
            try old.peer.reply(to: try old.peer.expectCall("Shop/buy"), "old")
            try cat.expectReply(to: call, body: "old")
            #expect(try ant.recipients(ofBroadcast: "news") == 1)
            try old.peer.expectNotice("news")
            let report = try cat.report("news", to: "Shop")
            try old.peer.reply(to: try old.peer.expectNotice("news"))
            try cat.expectReply(to: report, body: ["observers": 1])
            let event = try bus.operator().call("bus/emit", nil, ["name": "x.y"])
            try old.peer.reply(to: try old.peer.expectCall("module/event"), true)
            try bus.operator().expectReply(to: event)
            // The new process broadcasts under the same name.
            #expect(try new.peer.recipients(ofBroadcast: "shop.said") == 1)
            let notice = try cat.expectNotice("shop.said")
            #expect(notice["from"] == "Shop")
            try new.peer.reply(to: setUp)
            try new.peer.reply(to: try new.peer.expectCall("module/initialize"))
            try new.peer.reply(to: try new.peer.expectCall("module/didStart"))
            try new.peer.settle()
            #expect(try pid(bus) == Int64(new.pid))
            let next = try cat.call("Shop/buy")
            try new.peer.reply(to: try new.peer.expectCall("Shop/buy"), "new")
            try cat.expectReply(to: next, body: "new")
        }
    }

    @Test(.promise("10.11")) func aPlaceThatIsTakenBackEndsBothSessions() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            _ = try new.peer.expectCall("module/setUp")
            try bus.launcher().asked("bus/vouch", ["module": "Shop", "pid": 0])
            try old.peer.expectEnd("shutting-down")
            try new.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.25")) func everythingPassesTogetherWhenItIsReady() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let (cat, ant) = (try bus.module("Cat"), try bus.module("Ant"))
            let held = try cat.call("Shop/slow")
            let slow = try old.peer.expectCall("Shop/slow")
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            #expect(new.peer.lifecycle == ["setUp", "initialize", "didStart"])
            let call = try cat.call("Shop/buy")
            try new.peer.reply(to: try new.peer.expectCall("Shop/buy"), 1)
            try cat.expectReply(to: call, body: 1)
            let opened = try cat.open("test://shop/")
            try new.peer.reply(to: try new.peer.expectCall("Shop/show"), 2)
            try cat.expectReply(to: opened, body: 2)
            #expect(try ant.recipients(ofBroadcast: "news") == 1)
            try new.peer.expectNotice("news")
            let report = try cat.report("news", to: "Shop")
            try new.peer.reply(to: try new.peer.expectNotice("news"))
            try cat.expectReply(to: report, body: ["observers": 1])
            let event = try bus.operator().call("bus/emit", nil, ["name": "x.y"])
            try new.peer.reply(to: try new.peer.expectCall("module/event"), true)
            try bus.operator().expectReply(to: event)
            // The old process has one open call, answers it, and is torn down.
            #expect(!old.peer.lifecycle.contains("tearDown"))
            try old.peer.reply(to: slow, "late")
            try cat.expectReply(to: held, body: "late")
            try old.peer.expectEnd("shutting-down")
            #expect(old.peer.lifecycle.last == "tearDown")
            #expect(try bus.state(of: "Shop") == "ready")
        }
    }

    @Test(.promise("5.25")) func whatTheNewOneRegistersAndObservesInItsStartIsInForceLater() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let (cat, ant) = (try bus.module("Cat"), try bus.module("Ant"))
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            let setUp = try new.peer.expectCall("module/setUp")
            try new.peer.asked("bus/register", ["interfaces": ["Extra": [:]]])
            try new.peer.asked("bus/observe", ["name": "more"])
            try new.peer.refused(
                "bus/register", ["urls": [["host": "x", "path": "/", "to": "None/a"]]], with: "bad-params")
            try new.peer.refused("bus/unregister", ["interfaces": ["Extra": [:]]], with: "unavailable")
            try cat.refused("Extra/a", with: "unknown-interface")
            #expect(try ant.recipients(ofBroadcast: "more") == 0)
            new.peer.answersLifecycle = true
            try new.peer.reply(to: setUp)
            try new.peer.becomeReady()
            #expect(try ant.recipients(ofBroadcast: "more") == 1)
            try new.peer.expectNotice("more")
            let call = try cat.call("Extra/a")
            try new.peer.reply(to: try new.peer.expectCall("Extra/a"))
            try cat.expectReply(to: call)
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test func aNewLevelIsTheNewOnes() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let held = try bus.operator().call("Shop/slow")
            let slow = try old.peer.expectCall("Shop/slow")
            _ = try bus.reload(table { $0.modules[0].rank = 2 })
            let new = try bus.process(of: "Shop", Self.hello)
            #expect(new.peer.welcome["level"] == "topout")
            try new.peer.becomeReady()
            let levels = try bus.operator().asked("bus/levels")["levels"]?.array
            #expect(levels?[2]["modules"]?.array?.contains("Shop") == true)
            // The old process sends from its own level.
            let cat = try bus.module("Cat", ["observes": ["x"]])
            #expect(try old.peer.recipients(ofBroadcast: "x") == 1)
            #expect(try new.peer.recipients(ofBroadcast: "x") == 0)
            try cat.expectNotice("x")
            try old.peer.reply(to: slow)
            try bus.operator().expectReply(to: held)
        }
    }

    // MARK: the old one's end

    @Test(.promise("5.26")) func instancesStayWithTheOldOneUntilTheyAreReleased() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let cart = try cat.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            let call = try cat.call("\(cart)/add")
            try old.peer.reply(to: try old.peer.expectCall("\(cart)/add"), 1)
            try cat.expectReply(to: call, body: 1)
            let other = try cat.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""
            let second = try cat.call("\(other)/add")
            try new.peer.reply(to: try new.peer.expectCall("\(other)/add"), 2)
            try cat.expectReply(to: second, body: 2)
            #expect(!old.peer.lifecycle.contains("tearDown"))
            try cat.asked("bus/release", ["instance": .string(cart)])
            try old.peer.reply(to: try old.peer.expectCall("module/released", ["instance": .string(cart)]))
            try old.peer.expectEnd("shutting-down")
            #expect(old.peer.lifecycle.last == "tearDown")
            try cat.refused("\(cart)/add", with: "unknown-instance")
        }
    }

    @Test(.promise("5.26")) func instancesEndAtTheStopTime() throws {
        try TestBus.run(table { $0.modules[0].stop = 2_000 }) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let cart = try cat.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""
            old.peer.answersLifecycle = false
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            let call = try cat.call("\(cart)/add")
            try old.peer.reply(to: try old.peer.expectCall("\(cart)/add"), 1)
            try cat.expectReply(to: call, body: 1)
            // Its tearDown has a time of its own, and no more requests.
            let tearDown = try old.peer.expectCall("module/tearDown")
            try cat.refused("\(cart)/add", with: "unknown-instance")
            try old.peer.reply(to: tearDown)
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.26")) func theOldSessionEndsAtTheStopTime() throws {
        try TestBus.run(table { $0.modules[0].stop = 50 }) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let held = try cat.call("Shop/slow")
            try old.peer.expectCall("Shop/slow")
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            try cat.expectError(to: held, "replaced", ran: "maybe")
            try old.peer.expectEnd("shutting-down")
            #expect(old.peer.lifecycle.last == "tearDown")
        }
    }

    @Test(.promise("5.26")) func whoLeavesBeginsNothingNew() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let held = try cat.call("Shop/slow")
            let slow = try old.peer.expectCall("Shop/slow")
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            try old.peer.refused("bus/register", ["interfaces": ["X": [:]]], with: "shutting-down")
            try old.peer.refused("bus/observe", ["name": "x"], with: "shutting-down")
            try old.peer.refused("bus/mark", ["name": "x"], with: "shutting-down")
            // But it finishes its work, and may call other peers for it.
            try old.peer.asked("bus/ping")
            try old.peer.reply(to: slow, 1)
            try cat.expectReply(to: held, body: 1)
        }
    }

    @Test func severalFinishWhatTheyHave() throws {
        try TestBus.run(table()) { bus in
            let cat = try bus.module("Cat")
            var shop = try serving(bus)
            var held: [(call: UInt64, slow: ReceivedFrame, shop: OtherProcess)] = []
            for _ in 0..<9 {
                let call = try cat.call("Shop/slow")
                held.append((call, try shop.peer.expectCall("Shop/slow"), shop))
                shop = try bus.process(of: "Shop", Self.hello)
                try shop.peer.becomeReady()
            }
            // Eight processes may finish at a time. The ninth replacement ends the first one.
            try cat.expectError(to: held[0].call, "replaced", ran: "maybe")
            try held[0].shop.peer.expectEnd("shutting-down")
            for (number, each) in held.enumerated().dropFirst() {
                try each.shop.peer.reply(to: each.slow, .integer(Int64(number)))
                try cat.expectReply(to: each.call, body: .integer(Int64(number)))
                try each.shop.peer.expectEnd("shutting-down")
            }
        }
    }

    @Test func theAppsEndTearsItDownToo() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            try bus.module("Cat").call("Shop/slow")
            try old.peer.expectCall("Shop/slow")
            let new = try bus.process(of: "Shop", Self.hello)
            try new.peer.becomeReady()
            bus.beginShutDown()
            try old.peer.expectEnd("shutting-down")
            #expect(old.peer.lifecycle.last == "tearDown")
            #expect(new.peer.lifecycle.last == "tearDown")
        }
    }

    // MARK: what goes wrong

    @Test(.promise("5.27")) func aFailedStartLeavesTheOldOneWhereItIs() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat", ["events": ["app.moduleLost"]])
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            try new.peer.fail(try new.peer.expectCall("module/setUp"), "Shop.no-disk", "no disk")
            try new.peer.expectEnd("failed")
            let lost = try cat.expectCall("module/event", ["module": "Shop", "reason": "failed"])
            try cat.reply(to: lost)
            let call = try cat.call("Shop/buy")
            try old.peer.reply(to: try old.peer.expectCall("Shop/buy"), 1)
            try cat.expectReply(to: call, body: 1)
            // The launcher vouches for the old process again, and may try once more.
            try bus.vouch(for: "Shop", pid: old.pid)
            try old.peer.settle()
            let again = try bus.process(of: "Shop", Self.hello)
            try again.peer.becomeReady()
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.27")) func theOldOnesDeathMakesTheNewOneTheOnlyOne() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let (cat, ant) = (try bus.module("Cat"), try bus.module("Ant"))
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            let setUp = try new.peer.expectCall("module/setUp")
            old.die()
            try bus.operator().settle()
            #expect(try bus.state(of: "Shop") == "settingUp")
            // Its observations are in force now, and calls wait for it.
            #expect(try ant.recipients(ofBroadcast: "news") == 1)
            try new.peer.expectNotice("news")
            let call = try cat.call("Shop/buy")
            new.peer.answersLifecycle = true
            try new.peer.reply(to: setUp)
            try new.peer.becomeReady()
            try new.peer.reply(to: try new.peer.expectCall("Shop/buy"), 1)
            try cat.expectReply(to: call, body: 1)
        }
    }

    @Test(.promise("5.27")) func theNewOnesDeathChangesNothing() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            try new.peer.expectCall("module/setUp")
            new.die()
            let call = try cat.call("Shop/buy")
            try old.peer.reply(to: try old.peer.expectCall("Shop/buy"), 1)
            try cat.expectReply(to: call, body: 1)
        }
    }

    @Test func aStopEndsBoth() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            try new.peer.expectCall("module/setUp")
            try bus.launcher().asked("bus/retire", ["module": "Shop"])
            try new.peer.expectEnd("shutting-down")
            #expect(old.peer.lifecycle.last == "tearDown")
        }
    }

    @Test func aVouchForYetAnotherEndsTheOneThatStarts() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let second = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            try second.peer.expectCall("module/setUp")
            let third = try bus.process(of: "Shop", Self.hello)
            try second.peer.expectEnd("shutting-down")
            try third.peer.becomeReady()
            try old.peer.expectEnd("shutting-down")
        }
    }

    // MARK: who is let in

    @Test(.promise("5.25")) func anotherProcessWaitsForItsVouch() throws {
        try TestBus.run(table()) { bus in
            _ = try serving(bus)
            let new = try OtherProcess(bus, "Shop")
            let hello = try new.peer.sendHello("Shop", Self.hello.with("token", "mine"))
            try bus.launcher().settle()
            try bus.operator().settle()
            #expect(new.peer.inbox.isEmpty)
            try bus.vouch(for: "Shop", pid: new.pid, token: "mine")
            try new.peer.expectReply(to: hello)
            try new.peer.becomeReady()
        }
    }

    @Test func theVouchedProcessItselfIsNoSuccessor() throws {
        try TestBus.run(table()) { bus in
            let token = try bus.vouch(for: "Shop")
            let hello = Self.hello.with("token", .string(token))
            _ = try bus.module("Shop", hello)
            let second = try bus.connect()
            try second.expectRefusal(of: try second.sendHello("Shop", hello), "name-taken")
        }
    }

    @Test(.promise("5.24")) func underWaitAVouchEndsTheOldOne() throws {
        try TestBus.run(table { $0.modules[0].replace = .wait }) { bus in
            let old = try serving(bus)
            let new = try OtherProcess(bus, "Shop")
            let token = try bus.vouch(for: "Shop", pid: new.pid)
            try old.peer.expectEnd("shutting-down")
            try new.peer.hello("Shop", Self.hello.with("token", .string(token)))
            try new.peer.becomeReady()
        }
    }

    @Test func aResumedOneTakesOverAtOnce() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let new = try bus.process(of: "Shop", Self.hello.with("resumed", true))
            try new.peer.settle()
            #expect(new.peer.lifecycle.isEmpty)
            #expect(try pid(bus) == Int64(new.pid))
            try old.peer.expectEnd("shutting-down")
        }
    }
}

extension JSON {
    fileprivate func with(_ name: String, _ value: JSON) -> JSON {
        .object((object ?? []) + [.init(name, value)])
    }
}
