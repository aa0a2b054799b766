import StrataCore
import StrataTesting
import Testing

/// `replace: overlap`, if something ends while a successor starts.
@Suite(.timeLimit(.hang))
struct SuccessorEndTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Shop", rank: 2, provides: ["Shop"]) {
                $0.replace = .overlap
                $0.stop = 60_000
            }, .manual("Cat", rank: 2), .manual("Ant", rank: 0), .manual("Ant2", rank: 0), with: change)
    }

    private static let hello: JSON = ["interfaces": ["Shop": [:]]]

    private func serving(_ bus: TestBus, _ hello: JSON = hello) throws -> OtherProcess {
        let shop = try bus.process(of: "Shop", hello)
        try shop.peer.becomeReady()
        return shop
    }

    @Test(arguments: [true, false])
    func theAppsEndEndsASuccessorThatHasNotSaidAll(isServed: Bool) throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            cat.answersLifecycle = false
            let new = try bus.process(of: "Shop", Self.hello.with(["resumed": true, "more": true]))
            bus.beginShutDown()
            let tearDown = try cat.expectCall("module/tearDown")
            if !isServed { old.peer.close() }
            try? new.peer.send(["kind": "call", "id": 900, "to": "bus/register"], body: [:])
            try new.peer.expectEnd("shutting-down")
            try cat.reply(to: tearDown)
            try cat.expectEnd("shutting-down")
            try bus.waitUntilEnded()
        }
    }

    @Test func aRowThatIsTakenOutEndsItsSuccessorWithTheSessionThatServes() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            let setUp = try new.peer.expectCall("module/setUp")
            _ = try bus.reload(.testing(.manual("Cat", rank: 2), .manual("Ant", rank: 0)))
            old.peer.close()
            try new.peer.expectEnd("shutting-down")
            try? new.peer.reply(to: setUp)
            #expect(try bus.state(of: "Shop") == "unknown")
        }
    }

    @Test func aRowThatIsTakenOutEndsWhatStillFinishesWithIt() throws {
        try TestBus.run(table()) { bus in
            let old = try serving(bus)
            let cat = try bus.module("Cat")
            let id = try cat.call("Shop/slow")
            try old.peer.expectCall("Shop/slow")
            let new = try serving(bus)
            _ = try bus.reload(.testing(.manual("Cat", rank: 2), .manual("Ant", rank: 0)))
            new.peer.close()
            try old.peer.expectEnd("shutting-down")
            try cat.expectError(to: id, "replaced")
        }
    }

    /// The broadcast that ends the old process is still going out when the new process becomes
    /// ready.
    @Test func aSessionThatFallsBehindAsItIsReplacedLeavesTheNewOneServing() throws {
        let table = table {
            $0.limits.queue = 60_000
            $0.limits.observations = 2_000
        }
        let names: [JSON] = ["fill"] + Array(repeating: "news", count: 1_000)
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let old = try serving(bus, Self.hello.with(["observes": .array(names)]))
            let (ant, cat) = (try bus.module("Ant"), try bus.module("Cat"))
            old.peer.isPaused = true
            // Room for one more frame, but not for a thousand.
            func queued() throws -> Int64 {
                let modules = try bus.operator().asked("bus/modules")["modules"]?.array
                return modules?.first { $0["name"] == "Shop" }?["queued"]?.integer ?? 0
            }
            while try queued() < 20_000 { _ = try ant.recipients(ofBroadcast: "fill", .filler(15_000)) }
            let new = try bus.process(of: "Shop", Self.hello, answersLifecycle: false)
            try new.peer.reply(to: try new.peer.expectCall("module/setUp"))
            let initialize = try new.peer.expectCall("module/initialize")
            // Ant has sent much, so its turns come after those of the other peers.
            let light = try bus.module("Ant2")
            var news: UInt64 = 0
            try bus.whileBrokerIsHalted {
                news = try light.broadcast("news")
                try new.peer.reply(to: initialize)
            }
            let recipients = try light.expectReply(to: news).json["recipients"]?.integer ?? 0
            #expect((1..<1_000).contains(recipients))
            try new.peer.reply(to: try new.peer.expectCall("module/didStart"))
            let id = try cat.call("Shop/buy")
            try new.peer.reply(to: try new.peer.expectCall("Shop/buy"), 1)
            try cat.expectReply(to: id, body: 1)
            try new.peer.expectNothing()
            #expect(try bus.state(of: "Shop") == "ready")
        }
    }
}
