import StrataCore
import StrataTesting
import Testing

/// What an old process learns under `replace: overlap` when another one has taken over, and what
/// happens to its requests at its end.
@Suite(.timeLimit(.minutes(1)))
struct RetiringTests {
    private func table(stop: UInt64) -> AppTable {
        .testing(
            .eager("Shop", rank: 1, provides: ["Shop"]) {
                $0.replace = .overlap
                $0.stop = stop
            }, .manual("Cat", rank: 2))
    }

    private static let hello: JSON = ["interfaces": ["Shop": [:]], "observes": ["news"], "retiring": true]
    private static let unaware: JSON = ["interfaces": ["Shop": [:]], "observes": ["news"]]

    /// Returns an old process that no longer answers its life cycle, and the process that has
    /// taken over.
    private func replaced(
        _ bus: TestBus, hello: JSON = hello, before: (RawPeer) throws -> Void = { _ in }
    ) throws -> (old: OtherProcess, new: OtherProcess) {
        let old = try bus.process(of: "Shop", hello)
        try old.peer.becomeReady()
        try before(old.peer)
        old.peer.answersLifecycle = false
        let new = try bus.process(of: "Shop", Self.hello)
        try new.peer.becomeReady()
        return (old, new)
    }

    @Test(.promise("M.31")) func theOldProcessIsNotifiedOfTheTakeover() throws {
        try TestBus.run(table(stop: 60_000)) { bus in
            let (old, new) = try replaced(bus)
            let retiring = try old.peer.expectCall(
                "module/retiring", nil, ["from": "bus", "deadline": 60_000, "credit": 0])
            #expect(!new.peer.lifecycle.contains("retiring"))
            // Its requests may have it as parent, and wait for no start.
            try old.peer.asked("bus/ping", nil, ["parent": .integer(Int64(retiring.id))])
            // It has nothing else to do, and is torn down when it answers.
            try old.peer.expectNothing()
            try old.peer.reply(to: retiring)
            try old.peer.reply(to: try old.peer.expectCall("module/tearDown"))
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("M.31")) func aClientThatDoesNotKnowItGoesOnAsBefore() throws {
        try TestBus.run(table(stop: 60_000)) { bus in
            let cat = try bus.module("Cat")
            var held: UInt64 = 0
            let (old, _) = try replaced(bus) { old in
                held = try cat.call("Shop/slow")
                try old.settle()
            }
            let slow = try old.peer.expectCall("Shop/slow")
            try old.peer.fail(try old.peer.expectCall("module/retiring"), "unknown-action")
            try old.peer.expectNothing()
            try old.peer.reply(to: slow, 1)
            try cat.expectReply(to: held, body: 1)
            try old.peer.reply(to: try old.peer.expectCall("module/tearDown"))
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("M.31")) func aModuleWhoseHelloLacksRetiringIsNotNotified() throws {
        try TestBus.run(table(stop: 60_000)) { bus in
            let (old, _) = try replaced(bus, hello: Self.unaware)
            try old.peer.reply(to: try old.peer.expectCall("module/tearDown"))
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("12.25", "M.31", "R.19")) func aStreamThatIsOpenAtItsEndIsReplaced() throws {
        try TestBus.run(table(stop: 100)) { bus in
            let cat = try bus.module("Cat")
            var stream: UInt64 = 0
            let (old, new) = try replaced(bus) { old in
                stream = try cat.call("Shop/prices", nil, ["deadline": 0, "credit": 4])
                let call = try old.expectCall("Shop/prices")
                try old.partialReply(to: call, 1)
            }
            // It answers neither this nor its tearDown, and has `stop` for each.
            try old.peer.expectCall("module/retiring")
            try old.peer.find(["kind": "call", "to": "module/tearDown"])
            try cat.expect(["kind": "reply", "more": true], body: 1)
            let error = try cat.expectError(to: stream, "replaced", ran: "maybe")
            #expect(error.message.contains("process \(new.pid) took over as Shop"), "\(error.message)")
            try old.peer.expectEnd("shutting-down")
            let errors = try bus.operator().asked("bus/stats")["errors"]
            #expect(errors?["replaced"] == 1 && errors?["died"] == nil, "\(errors ?? .null)")
        }
    }

    @Test(.promise("M.31")) func aReportThatIsOpenAtItsEndIsReplaced() throws {
        try TestBus.run(table(stop: 100)) { bus in
            let cat = try bus.module("Cat")
            var report: UInt64 = 0
            let (old, _) = try replaced(bus) { old in
                report = try cat.report("news", to: "Shop")
                try old.expectNotice("news")
            }
            try cat.expectError(to: report, "replaced", ran: "maybe")
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("12.25", "M.31")) func oneThatEndsByItselfHasDied() throws {
        try TestBus.run(table(stop: 60_000)) { bus in
            let cat = try bus.module("Cat")
            var held: UInt64 = 0
            let (old, _) = try replaced(bus) { old in
                held = try cat.call("Shop/slow")
                try old.expectCall("Shop/slow")
            }
            old.die()
            try cat.expectError(to: held, "died", ran: "maybe")
        }
    }

    @Test(.promise("12.25", "M.31")) func itEndsItsStreamsAsReplacedItself() throws {
        try TestBus.run(table(stop: 60_000)) { bus in
            let cat = try bus.module("Cat")
            var (early, late): (UInt64, UInt64) = (0, 0)
            var slow: ReceivedFrame?
            let (old, new) = try replaced(bus) { old in
                early = try cat.call("Shop/early")
                // Before that, a module may not send this code.
                try old.fail(try old.expectCall("Shop/early"), "replaced")
                try cat.expectError(to: early, "failed", ran: "yes")
                late = try cat.call("Shop/late")
                slow = try old.expectCall("Shop/late")
            }
            try old.peer.fail(try #require(slow), "replaced", "ask again")
            #expect(try cat.expectError(to: late, "replaced", ran: "yes").message == "ask again")
            let call = try cat.call("Shop/early")
            try new.peer.fail(try new.peer.expectCall("Shop/early"), "replaced")
            try cat.expectError(to: call, "failed", ran: "yes")
        }
    }
}
