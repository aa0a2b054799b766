import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: what two processes of one module retain while one takes over from the other.
@Suite(.timeLimit(.hang))
struct RetainedOverlapTests {
    private static let offer: JSON = ["interfaces": ["Test": [:]]]

    private static func table(_ retained: AppTable.Retained = .session) -> AppTable {
        .testing(
            .manual("Ant", provides: ["Test"]) { row in
                row.replace = .overlap
                row.retained = retained
                row.stop = 600_000
            }, .manual("Bee", rank: 1), .manual("Cat", rank: 2))
    }

    /// What an observer that begins gets.
    private static func kept(_ observer: RawPeer) throws -> [JSON] {
        try observer.asked("bus/observe", ["name": "a"])
        return try observer.drain().map(\.json)
    }

    @Test(.promise("7.26", "5.27")) func aStartThatFailsChangesNothing() throws {
        try TestBus.run(Self.table()) { bus in
            let observer = try bus.module("Cat")
            let old = try bus.process(of: "Ant", Self.offer)
            try old.peer.becomeReady()
            try old.peer.broadcast("a", 1, ["retain": true])
            try old.peer.settle()
            let new = try bus.process(of: "Ant", Self.offer, answersLifecycle: false)
            let step = try new.peer.expectCall("module/setUp")
            try new.peer.broadcast("a", 2, ["retain": true])
            #expect(try new.peer.asked("bus/forget", ["name": "a"]) == ["forgotten": 1])
            try new.peer.broadcast("a", 3, ["retain": true])
            try new.peer.settle()
            #expect(try Self.kept(observer) == [1, 3])
            try new.peer.fail(step, "failed")
            try new.peer.expectEnd("failed")
            #expect(try Self.kept(observer) == [1])
        }
    }

    @Test(.promise("7.26", "5.25"), arguments: [AppTable.Retained.session, .app])
    func aProcessThatEndsItsWorkReplacesNothingNewer(retained: AppTable.Retained) throws {
        try TestBus.run(Self.table(retained)) { bus in
            let (caller, observer) = (try bus.module("Bee"), try bus.module("Cat"))
            let old = try bus.process(of: "Ant", Self.offer)
            try old.peer.becomeReady()
            try caller.call("Test/act")
            let served = try old.peer.find(["kind": "call", "to": "Test/act"])
            let new = try bus.process(of: "Ant", Self.offer)
            try new.peer.becomeReady()
            try new.peer.broadcast("a", 1, ["retain": true])
            try new.peer.settle()
            try old.peer.broadcast("a", 2, ["retain": true])
            try old.peer.settle()
            #expect(try Self.kept(observer) == [1, 2])
            try old.peer.reply(to: served)
            try old.peer.expectEnd("shutting-down")
            #expect(try Self.kept(observer) == [1])
        }
    }
}
