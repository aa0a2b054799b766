import StrataCore
import StrataTesting
import Testing

/// The protocol's section 13: limits on bytes. Each has a message of its own, which names the
/// limit and its owner.
@Suite(.timeLimit(.hang))
struct ByteLimitTests {
    private static let queue = 300_000

    private func run(_ test: (TestBus, RawPeer, RawPeer) throws -> Void) throws {
        try TestBus.run(.sixModules { $0.limits.queue = Self.queue }) { bus in
            try test(bus, try bus.provider("Ant", "Test", ["observes": ["news"]]), try bus.module("Bee"))
        }
    }

    /// Fills the queue to a callee that reads nothing.
    /// - Returns: the number of calls that were accepted.
    private func fill(_ callee: RawPeer, from caller: RawPeer) throws -> Int {
        callee.isPaused = true
        let ids = try (0..<12).map { _ in try caller.call("Test/act", .filler(100_000)) }
        try caller.expectError(to: ids[11], "overloaded", ran: "no")
        try caller.settle()
        return ids.count - caller.inbox.filter { $0.code == "overloaded" }.count - 1
    }

    @Test(.promise("13.23")) func aCallNamesTheFullQueueAndItsOwner() throws {
        try run { bus, callee, caller in
            _ = try fill(callee, from: caller)
            let error = try caller.refused("Test/act", .filler(200_000), with: "overloaded")
            #expect(error.message.contains("(limits.queue)") && error.message.contains("Ant"), "\(error)")
        }
    }

    @Test(.promise("13.23")) func aReportNamesTheFullQueueAndItsOwner() throws {
        try run { bus, target, sender in
            _ = try fill(target, from: sender)
            let report = try sender.report("news", to: "Ant", .filler(200_000))
            let error = try sender.expectError(to: report, "overloaded", ran: "no")
            #expect(error.message.contains("(limits.queue)") && error.message.contains("Ant"), "\(error)")
        }
    }

    @Test(.promise("12.6", "13.24")) func aNoticeThatDoesNotFitNamesTheQueueOfTheSlowOne() throws {
        try TestBus.run(.sixModules { $0.limits.queue = Self.queue }) { bus in
            let slow = try bus.module("Cat", ["observes": ["news"]])
            let sender = try bus.module("Ant")
            slow.isPaused = true
            while try sender.recipients(ofBroadcast: "news", .filler(100_000)) == 1 {}
            slow.isPaused = false
            let error = try slow.expectEnd("slow-consumer")
            #expect(error.message.contains("(limits.queue)") && error.message.contains("Cat"), "\(error)")
            #expect(error.ran == "no")
        }
    }

    @Test(.promise("12.10", "13.25"), arguments: [true, false])
    func aReplyThatDoesNotFitNamesTheQueueOfTheCaller(isPartial: Bool) throws {
        try run { bus, callee, caller in
            let ids = try (0..<12).map { _ in try caller.call("Test/act") }
            let calls = try ids.map { _ in try callee.expectCall("Test/act") }
            caller.isPaused = true
            for call in calls {
                if isPartial {
                    try callee.partialReply(to: call, .filler(100_000))
                } else {
                    try callee.reply(to: call, .filler(100_000))
                }
            }
            try callee.settle()
            caller.isPaused = false
            let error = try caller.expectError(to: ids[11], "overloaded", ran: isPartial ? "maybe" : "yes")
            #expect(error.message.contains("(limits.queue)") && error.message.contains("Bee"), "\(error)")
        }
    }

    @Test(.promise("7.13")) func manyRequestsDoNotMakeAnObserverFallBehind() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 2 * Self.queue }) { bus in
            let observer = try bus.provider("Cat", "Test", ["observes": ["news"]])
            let caller = try bus.module("Ant")
            let taken = try fill(observer, from: caller)
            let error = try caller.refused("Test/act", .filler(100_000), with: "overloaded")
            #expect(error.message.contains("may fill 300000 of 600000 (limits.queue)"), "\(error)")
            for _ in 0..<2 { #expect(try caller.recipients(ofBroadcast: "news", .filler(100_000)) == 1) }
            observer.isPaused = false
            for _ in 0..<taken { try observer.expectCall("Test/act") }
            for _ in 0..<2 { try observer.expectNotice("news") }
        }
    }

    @Test(.promise("13.26")) func anEmptyQueueTakesAFrameOverItsLimit() throws {
        try run { bus, callee, caller in
            let id = try caller.call("Test/act", .filler(3 * Self.queue))
            let call = try callee.expectCall("Test/act", .filler(3 * Self.queue))
            try callee.reply(to: call, .filler(4 * Self.queue))
            try caller.expectReply(to: id, body: .filler(4 * Self.queue))
        }
    }

    @Test(.promise("13.26")) func theBrokersOwnAnswersAlwaysFit() throws {
        try run { bus, callee, caller in
            let taken = try fill(callee, from: caller)
            let ping = try callee.call("bus/ping")
            let broadcast = try callee.broadcast("nobody")
            callee.isPaused = false
            try callee.expectReply(to: ping)
            try callee.expectReply(to: broadcast, body: ["recipients": 0])
            for _ in 0..<taken { try callee.expectCall("Test/act") }
        }
    }

    @Test(.promise("13.28")) func callsQueuedToAPeerNeverStopItFromBeingRead() throws {
        try run { bus, callee, caller in
            let observer = try bus.module("Cat", ["observes": ["alive"]])
            _ = try fill(callee, from: caller)
            for number in 0..<100 as Range<Int64> {
                try callee.send(["kind": "broadcast", "name": "alive"], body: .integer(number))
            }
            for number in 0..<100 as Range<Int64> { try observer.expectNotice("alive", .integer(number)) }
        }
    }

    @Test(.promise("13.27")) func aPeerThatDoesNotReadIsReadUpToItsNextRequest() throws {
        try run { bus, slow, caller in
            let observer = try bus.provider("Cat", "Big", ["observes": ["late"]])
            let asked = try (0..<2).map { _ in try caller.call("Test/act") }
            let calls = try asked.map { _ in try slow.expectCall("Test/act") }
            slow.isPaused = true
            let large = try slow.call("Big/act")
            try observer.reply(to: try observer.expectCall("Big/act"), .filler(10 * Self.queue))
            try observer.settle()
            // All in one chunk, so that the first reply is sent on when all frames were looked
            // at.
            try slow.send(
                bytes: FrameBytes.frame(["kind": "reply", "id": calls[0].number])
                    + FrameBytes.frame(["kind": "broadcast", "name": "late"])
                    + FrameBytes.frame(["kind": "reply", "id": calls[1].number]))
            try caller.expectReply(to: asked[0])
            try observer.expectNothing()
            try caller.expectNothing()
            slow.isPaused = false
            try slow.expectReply(to: large)
            try observer.expectNotice("late")
            try caller.expectReply(to: asked[1])
        }
    }

    @Test(.promise("13.20", "13.21")) func waitingBytesCountForTheirSender() throws {
        let table = AppTable.testing(
            .eager("Login", provides: ["Login"]), .manual("Hand", rank: 2), .manual("Hand2", rank: 2)
        ) {
            $0.limits.held = 100_000
            $0.limits.total = 400_000
        }
        try TestBus.run(table) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Hand")
            let other = try bus.module("Hand2")
            // A single request may exceed what one sender may have.
            let large = try caller.call("Login/act", .filler(300_000))
            let held = try caller.refused("Login/act", .filler(100), with: "overloaded")
            #expect(held.message.contains("(limits.held)") && held.message.contains("Hand"), "\(held)")
            let report = try caller.report("news", to: "Login")
            try caller.expectError(to: report, "overloaded", ran: "no")
            // Beyond the total, up to 64 KiB still wait.
            let total = try other.refused("Login/act", .filler(110_000), with: "overloaded")
            #expect(total.message.contains("(limits.total)"), "\(total)")
            try other.call("Login/act", .filler(60_000))
            try other.expectNothing()
            try caller.cancel(large)
            try caller.expectError(to: large, "cancelled", ran: "no")
            try caller.call("Login/act", .filler(100))
            try caller.expectNothing()
        }
    }

    @Test(.promise("2.4", "13.16")) func headersAndFramesAreAsLargeAsTheirOwnSettings() throws {
        let table = AppTable.sixModules {
            $0.limits.frame = 100_000
            $0.limits.header = 300
        }
        for (frame, header, limit) in [(100_001, 10, "100000"), (50_000, 301, "300")] as [(UInt32, UInt32, String)] {
            try TestBus.run(table) { bus in
                let peer = try bus.module("Ant")
                try peer.send(bytes: FrameBytes.lengths(frame: frame, header: header))
                let error = try peer.expectEnd("too-large")
                #expect(error.ran == "no" && error.message.contains(limit), "\(error)")
            }
        }
    }

    @Test(.promise("13.17")) func anAdaptedBodyNamesItsLimit() throws {
        let table = AppTable.testing(.manual("Owner", provides: ["Login"]), .manual("Hand")) { table in
            var show = AppTable.AdaptedAction(name: "show", to: "present")
            show.params = [.init(from: "message", to: "text")]
            var adapter = AppTable.Adapter(name: "NoteLogin", to: "Login")
            adapter.actions = [show]
            table.adapters = [adapter]
            table.limits.adapted = 1_000
        }
        try TestBus.run(table) { bus in
            let owner = try bus.provider("Owner", "Login")
            let caller = try bus.module("Hand")
            let error = try caller.refused("NoteLogin/show", ["message": .filler(1_000)], with: "too-large")
            #expect(error.message.contains("(limits.adapted)"), "\(error)")
            // A body that isn't renamed has only the limit of a frame.
            try caller.call("NoteLogin/other", .filler(5_000))
            try owner.expectCall("Login/other")
            try caller.call("Login/present", .filler(5_000))
            try owner.expectCall("Login/present")
        }
    }
}
