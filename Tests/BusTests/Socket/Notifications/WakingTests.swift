import StrataCore
import StrataTesting
import Testing

/// The manifest's `wakes`: notices that start a module on demand are held for it. What other rows
/// miss is counted.
@Suite(.timeLimit(.hang))
struct WakingTests {
    private func table(
        wakes: [String] = ["changed"],
        _ observes: [AppTable.Observed] = [.init(name: "changed"), .init(name: "other")],
        with change: (inout AppTable) -> Void = { _ in }
    ) -> AppTable {
        .testing(
            .manual("Export", rank: 2, provides: ["Export"]) { row in
                row.start = .onDemand
                row.stop = 600_000
                row.observes = observes
                row.wakes = wakes
            }, .manual("Store"), .manual("Late", rank: 2), .manual("Clock", provides: ["Clock"]),
            with: change)
    }

    private struct Cast {
        let launcher: RawPeer, store: RawPeer, late: RawPeer
    }

    private func run(_ table: AppTable, _ test: (TestBus, Cast) throws -> Void) throws {
        try MemoryBus.run(table) { bus in
            try test(
                bus, Cast(launcher: try bus.launcher(), store: try bus.module("Store"), late: try bus.module("Late")))
        }
    }

    /// Connects the module; it isn't ready before `becomeReady`.
    private func arrive(_ bus: TestBus, _ hello: JSON = [:]) throws -> RawPeer {
        let token = try bus.vouch(for: "Export")
        let peer = try bus.connect("Export")
        let own: JSON = ["token": .string(token), "interfaces": ["Export": [:]]]
        try peer.hello("Export", own.with(hello))
        return peer
    }

    private func becomeReady(_ peer: RawPeer) throws {
        for step in ["setUp", "initialize"] { try peer.reply(to: try peer.expectCall("module/\(step)")) }
    }

    private func missed(_ bus: TestBus, _ name: String = "Export") throws -> Int64? {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        let missed = rows.first { $0["name"]?.string == name }?["missed"]
        #expect(missed != .null)
        return missed?.integer
    }

    @Test(.promise("7.16", "7.17", "10.34"))
    func noticeStartsItAndComesWhenItIsReadyBeforeNewerOnes() throws {
        try run(table()) { bus, cast in
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1) == 1)
            let start = try cast.launcher.expectCall(
                "launcher/start", ["module": "Export", "reason": "a notification or an event in its wakes has come"],
                ["from": "bus"])
            try cast.store.broadcast("changed", 2, ["object": "o", "meta": ["m": 1], "trace": "t"])
            let call = try cast.store.call("Export/run")
            try cast.launcher.expectNothing()
            let export = try arrive(bus)
            // Hello's session isn't ready, so the newer one waits behind the older ones.
            try export.reply(to: try export.expectCall("module/setUp"))
            #expect(try cast.store.recipients(ofBroadcast: "changed", 3) == 1)
            // Another notice doesn't wait.
            #expect(try cast.store.recipients(ofBroadcast: "other", 4) == 1)
            let initialize = try export.expectCall("module/initialize")
            try export.expectNotice("other", 4, ["subscription": 2])
            try export.reply(to: initialize)
            let first = try export.expectNotice(
                "changed", 1, ["from": "Store", "level": "basic", "via": "broadcast", "subscription": 1])
            #expect(first["missed"] == nil && first["object"] == nil)
            try export.expectNotice("changed", 2, ["object": "o", "meta": ["m": 1], "trace": "t"])
            try export.expectNotice("changed", 3)
            try export.reply(to: try export.expectCall("Export/run"))
            try cast.store.expectReply(to: call)
            try cast.launcher.reply(to: start)
            try cast.store.broadcast("changed", 5)
            try export.expectCall("module/didStart")
            let last = try export.expectNotice("changed", 5)
            #expect(last["missed"] == nil)
            #expect(try missed(bus) == nil)
        }
    }

    /// Its own hello may name what its row observes, also twice.
    @Test(.promise("7.16")) func hellosObservationsOfTheSameTargetGetIt() throws {
        try run(table()) { bus, cast in
            try cast.store.broadcast("changed", 1)
            try cast.launcher.expectCall("launcher/start")
            let own: JSON = ["observes": ["changed", "changed", ["name": "changed", "object": "o"]]]
            let export = try arrive(bus, own)
            // The third is another target, which is observed from hello on.
            #expect(try cast.store.recipients(ofBroadcast: "changed", 2, ["object": "o"]) == 2)
            let setUp = try export.expectCall("module/setUp")
            try export.expectNotice("changed", 2, ["subscription": 3])
            try export.asked("bus/unobserve", ["subscription": 2])
            try export.reply(to: setUp)
            try export.reply(to: try export.expectCall("module/initialize"))
            try export.expectNotice("changed", 1, ["subscription": 1])
            try export.expectNotice("changed", 2, ["subscription": 1])
            try export.expectCall("module/didStart")
        }
    }

    @Test(.promise("7.17")) func atMostSoManyAreHeldAndTheOldestGo() throws {
        try run(table()) { bus, cast in
            for number in 1...70 as ClosedRange<Int64> { try cast.store.broadcast("changed", .integer(number)) }
            let export = try arrive(bus)
            try becomeReady(export)
            for number in 7...70 as ClosedRange<Int64> {
                let notice = try export.expectNotice("changed", .integer(number))
                #expect(notice["missed"]?.integer == (number == 7 ? 6 : nil))
            }
            #expect(try missed(bus) == 6)
            try cast.store.broadcast("changed", 71)
            try export.expectCall("module/didStart")
            #expect(try export.expectNotice("changed", 71)["missed"] == nil)
        }
    }

    @Test(.promise("7.17", "13.3")) func bytesOfARowAreBounded() throws {
        let table = table { $0.limits.queue = 10_000 }
        try run(table) { bus, cast in
            for number in 1...3 as ClosedRange<Int64> {
                try cast.store.broadcast(
                    "changed", .array([.integer(number), .string(String(repeating: "x", count: 4_000))]))
            }
            let long = JSON.string(String(repeating: "y", count: 20_000))
            let export = try arrive(bus)
            try export.reply(to: try export.expectCall("module/setUp"))
            let initialize = try export.expectCall("module/initialize")
            #expect(try cast.store.recipients(ofBroadcast: "changed", long) == 1)
            try export.reply(to: initialize)
            let notice = try export.expectNotice("changed", long)
            #expect(notice["missed"] == 3)
            #expect(try missed(bus) == 3)
        }
    }

    /// A row's 64 KiB are always taken; beyond them `total` decides.
    @Test(.promise("7.17")) func bytesOfAllCountToTheTotal() throws {
        let table = table { $0.limits.total = 200_000 }
        try run(table) { bus, cast in
            let body = JSON.string(String(repeating: "x", count: 60_000))
            #expect(try cast.store.recipients(ofBroadcast: "changed", body) == 1)
            #expect(try cast.store.recipients(ofBroadcast: "changed", body) == 1)
            #expect(try cast.store.recipients(ofBroadcast: "changed", body) == 0)
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1) == 0)
            let export = try arrive(bus)
            try becomeReady(export)
            for _ in 0..<2 { #expect(try export.expectNotice("changed", body)["missed"] == nil) }
            try export.expectCall("module/didStart")
            // What waited is let go of.
            #expect(try cast.store.recipients(ofBroadcast: "changed", body) == 1)
            #expect(try export.expectNotice("changed", body)["missed"] == 2)
        }
    }

    @Test(.promise("7.17")) func latestIsHeldAlone() throws {
        let observes: [AppTable.Observed] = [.init(name: "changed", keep: .latest), .init(name: "done")]
        try run(table(wakes: ["changed", "done"], observes)) { bus, cast in
            try cast.store.broadcast("changed", 1)
            try cast.store.broadcast("done", 2)
            try cast.store.broadcast("changed", 3)
            try cast.store.broadcast("changed", 4)
            let export = try arrive(bus)
            try becomeReady(export)
            #expect(try export.expectNotice("done", 2)["missed"] == nil)
            #expect(try export.expectNotice("changed", 4)["missed"] == 2)
            #expect(try missed(bus) == nil)
            #expect(try bus.operator().asked("bus/stats")["counters"]?["replaced"] == 2)
        }
    }

    /// Ways in which a start fails.
    enum Failure: CaseIterable { case refused, failed, launcherLeft }

    @Test(.promise("7.18"), arguments: Failure.allCases) func failedStartTellsTheGap(failure: Failure) throws {
        try run(table()) { bus, cast in
            for number in 1...3 as ClosedRange<Int64> { try cast.store.broadcast("changed", .integer(number)) }
            let start = try cast.launcher.expectCall("launcher/start")
            switch failure {
            case .refused: try cast.launcher.fail(start, "failed", "no such file")
            case .failed: try cast.launcher.asked("bus/moduleState", ["module": "Export", "state": "failed"])
            case .launcherLeft:
                cast.launcher.close()
                try bus.operator().settle()
            }
            try cast.store.settle()
            #expect(try missed(bus) == 3)
            if failure != .refused {
                #expect(try cast.store.recipients(ofBroadcast: "changed", 4) == 0)
                #expect(try missed(bus) == 4)
            }
            let export = try arrive(bus)
            try becomeReady(export)
            try export.expectCall("module/didStart")
            try cast.store.broadcast("changed", 5)
            #expect(try export.expectNotice("changed", 5)["missed"] == (failure == .refused ? 3 : 4))
            try cast.store.broadcast("changed", 6)
            #expect(try export.expectNotice("changed", 6)["missed"] == nil)
        }
    }

    @Test(.promise("7.16")) func nobodyWhoMayNotGetItIsWoken() throws {
        let observes: [AppTable.Observed] = [.init(name: "changed", object: "o")]
        try run(table(observes)) { bus, cast in
            #expect(try cast.late.recipients(ofBroadcast: "changed", 1, ["object": "o"]) == 0)
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1) == 0)
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1, ["object": "p"]) == 0)
            try cast.launcher.expectNothing()
            #expect(try missed(bus) == nil)
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1, ["object": "o"]) == 1)
            try cast.launcher.expectCall("launcher/start")
        }
    }

    @Test(.promise("10.40")) func whatOthersMissIsCounted() throws {
        let table = AppTable.testing(
            .eager("Cart", rank: 1) { $0.observes = [.init(name: "changed"), .init(name: "changed", object: "o")] },
            .manual("Store"))
        try MemoryBus.run(table) { bus in
            let store = try bus.module("Store")
            #expect(try missed(bus, "Cart") == nil)
            #expect(try store.recipients(ofBroadcast: "changed", 1) == 0)
            #expect(try store.recipients(ofBroadcast: "changed", 1, ["object": "o"]) == 0)
            #expect(try missed(bus, "Cart") == 3)
            let token = try bus.vouch(for: "Cart")
            let cart = try bus.module("Cart", ["token": .string(token)])
            #expect(try store.recipients(ofBroadcast: "changed", 2) == 1)
            #expect(try cart.expectNotice("changed", 2)["missed"] == nil)
            #expect(try missed(bus, "Cart") == 3)
            cart.close()
            try bus.waitUntil("Cart", is: "restarting")
            #expect(try store.recipients(ofBroadcast: "changed", 3) == 0)
            #expect(try missed(bus, "Cart") == 4)
        }
    }

    /// From its tearDown on, what wakes it belongs to the next process.
    @Test(.promise("7.16", "M.11"), arguments: [true, false]) func stoppedModuleIsStartedAgain(isIdle: Bool) throws {
        let table = table { $0.modules[0].idle = isIdle ? 60 : nil }
        try run(table) { bus, cast in
            let clock = try bus.provider("Clock", "Clock")
            try cast.store.broadcast("changed", 1)
            let start = try cast.launcher.expectCall("launcher/start")
            let export = try arrive(bus)
            try becomeReady(export)
            try cast.launcher.reply(to: start)
            try export.expectNotice("changed", 1)
            try export.reply(to: try export.expectCall("module/didStart"))
            if !isIdle { try cast.launcher.call("bus/retire", ["module": "Export"]) }
            let tearDown = try export.expectCall("module/tearDown")
            #expect(try cast.store.recipients(ofBroadcast: "changed", 2) == 1)
            #expect(try cast.store.recipients(ofBroadcast: "other", 3) == 1)
            try export.expectNotice("other", 3)
            try export.reply(to: tearDown)
            let stop = isIdle ? try cast.launcher.expectCall("launcher/stop") : nil
            if !isIdle { _ = try cast.launcher.next() }
            export.close()
            let again = try cast.launcher.expectCall("launcher/start", ["module": "Export"])
            try cast.launcher.asked("bus/moduleState", ["module": "Export", "state": "absent"])
            if let stop { try cast.launcher.reply(to: stop) }
            let next = try arrive(bus)
            try becomeReady(next)
            try cast.launcher.reply(to: again)
            #expect(try next.expectNotice("changed", 2)["missed"] == nil)
            try next.reply(to: try next.expectCall("module/didStart"))
            if isIdle { try next.expectCall("module/tearDown") }
            try clock.settle()
        }
    }

    @Test(.promise("7.16", "M.28")) func adaptersNameWakesIt() throws {
        let table = table(wakes: ["alias"], [.init(name: "alias")]) {
            $0.modules[1].provides = ["Store"]
            var adapter = AppTable.Adapter(name: "Shop", to: "Store")
            adapter.notices = [.init(from: "changed", to: "alias")]
            $0.adapters = [adapter]
        }
        try MemoryBus.run(table) { bus in
            let (launcher, store) = (try bus.launcher(), try bus.provider("Store", "Store"))
            #expect(try store.recipients(ofBroadcast: "changed", 1) == 1)
            try launcher.expectCall("launcher/start")
            let export = try arrive(bus)
            try becomeReady(export)
            try export.expectNotice("alias", 1)
        }
    }

    /// A broadcast to many is delivered in batches.
    @Test(.promise("7.16", "7.4")) func manyOthersDoNotMatter() throws {
        try run(table()) { bus, cast in
            for _ in 0..<200 { try cast.late.asked("bus/observe", ["name": "changed"]) }
            #expect(try cast.store.recipients(ofBroadcast: "changed", 1) == 201)
            try cast.launcher.expectCall("launcher/start")
            let export = try arrive(bus)
            try becomeReady(export)
            try export.expectNotice("changed", 1)
            let big = JSON.string(String(repeating: "x", count: 20_000))
            #expect(try cast.store.recipients(ofBroadcast: "changed", big) == 201)
            try export.expectCall("module/didStart")
            try export.expectNotice("changed", big)
        }
    }

    @Test(.promise("7.17", "M.33")) func reloadTakesEffectAtOnce() throws {
        try run(table()) { bus, cast in
            try cast.store.broadcast("changed", 1)
            try cast.launcher.expectCall("launcher/start")
            _ = try bus.reload(table(wakes: ["other"]))
            #expect(try cast.store.recipients(ofBroadcast: "changed", 2) == 0)
            #expect(try cast.store.recipients(ofBroadcast: "other", 3) == 1)
            let export = try arrive(bus)
            try becomeReady(export)
            try export.expectNotice("other", 3)
            try export.expectCall("module/didStart")
            try cast.store.broadcast("changed", 4)
            #expect(try export.expectNotice("changed", 4)["missed"] == nil)
            // The row is gone, with what it held.
            export.close()
            try bus.waitUntil("Export", is: "absent")
            try cast.store.broadcast("other", 5)
            _ = try bus.reload(table { $0.modules.removeFirst() })
            #expect(try cast.store.recipients(ofBroadcast: "other", 6) == 0)
        }
    }
}
