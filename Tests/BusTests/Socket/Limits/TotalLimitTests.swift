import StrataCore
import StrataTesting
import Testing

/// The protocol's section 13: what may wait for all peers together. Frames to peers that read
/// nothing fill it. Peers that read continue.
@Suite(.timeLimit(.minutes(1)))
struct TotalLimitTests {
    private static let total = 2_000_000

    /// Sends calls of 30,000 bytes to a module that reads nothing, until one is refused.
    /// - Returns: the number of calls that were sent.
    @discardableResult
    private func fill(_ module: String, _ interface: String, _ bus: TestBus, from caller: RawPeer) throws -> Int {
        try bus.provider(module, interface).isPaused = true
        var count = 0
        while true {
            let id = try caller.call("\(interface)/act", .filler(30_000))
            try caller.settle()
            guard caller.inbox.contains(where: { $0.id == id }) else {
                count += 1
                continue
            }
            let error = try caller.expectError(to: id, "overloaded", ran: "no")
            #expect(error.message.contains("(limits.total)") && error.message.contains(module), "\(error)")
            return count
        }
    }

    /// Runs with three peers that read nothing: `Ant`, `Ant2` and `Bee`. They use up the total,
    /// so that a frame of 500,000 bytes has no room.
    private func run(_ test: (_ bus: TestBus, _ caller: RawPeer, _ last: RawPeer) throws -> Void) throws {
        try TestBus.run(.sixModules { $0.limits.total = Self.total }) { bus in
            let caller = try bus.module("Cat", ["observes": ["other"]])
            for (number, name) in ["Ant", "Ant2"].enumerated() { try fill(name, "Stuck\(number)", bus, from: caller) }
            // An empty queue takes what there is room for.
            let last = try bus.provider("Bee", "Last")
            last.isPaused = true
            try caller.call("Last/act", .filler(1_200_000))
            try caller.expectNothing()
            try test(bus, caller, last)
        }
    }

    @Test(.promise("13.22")) func onePeerThatReadsNothingLeavesMostOfTheTotalToOtherPeers() throws {
        try TestBus.run(.sixModules { $0.limits.total = Self.total }) { bus in
            let caller = try bus.module("Cat")
            let count = try fill("Ant", "Stuck", bus, from: caller)
            #expect(count * 30_000 < Self.total / 3, "\(count) calls")
            // Peers that read get frames of any size.
            let owner = try bus.provider("Bee", "Test")
            let body = JSON.filler(1_000_000)
            for _ in 0..<3 {
                let id = try caller.call("Test/act", body)
                try owner.reply(to: try owner.expectCall("Test/act", body), body)
                try caller.expectReply(to: id, body: body)
            }
        }
    }

    @Test(.promise("13.22")) func framesWithoutRoomAreRefusedAndShortQueuesContinue() throws {
        try run { bus, caller, _ in
            let owner = try bus.provider("Bee2", "Test", ["observes": ["asked"]])
            let large = try caller.refused("Test/act", .filler(500_000), with: "overloaded")
            #expect(large.message.contains("(limits.total)"), "\(large)")
            let report = try caller.report("asked", to: "Bee2", .filler(500_000))
            try caller.expectError(to: report, "overloaded", ran: "no")
            // Up to 64 KiB pass to each peer that reads.
            for _ in 0..<20 {
                let id = try caller.call("Test/act", .filler(60_000))
                try owner.reply(to: try owner.expectCall("Test/act"), .filler(60_000))
                try caller.expectReply(to: id, body: .filler(60_000))
            }
            #expect(try bus.state(of: "Bee2") == "ready")
        }
    }

    @Test(.promise("13.22")) func anAnswerThatFindsNoRoomHasRun() throws {
        try run { bus, caller, _ in
            let owner = try bus.provider("Bee2", "Test")
            let ids = try (0..<2).map { _ in try caller.call("Test/act") }
            let calls = try ids.map { _ in try owner.expectCall("Test/act") }
            try owner.reply(to: calls[0], .filler(500_000))
            let error = try caller.expectError(to: ids[0], "overloaded", ran: "yes")
            #expect(error.message.contains("(limits.total)"), "\(error)")
            try owner.partialReply(to: calls[1], .filler(500_000))
            try caller.expectError(to: ids[1], "overloaded", ran: "maybe")
            try owner.expect(["kind": "cancel", "id": calls[1].number])
        }
    }

    /// The observers are not to blame.
    @Test(.promise("13.22")) func aLargeBroadcastIsRefusedToItsSender() throws {
        try run { bus, caller, _ in
            let sender = try bus.module("Bee2")
            try sender.expectError(to: try sender.broadcast("other", .filler(500_000)), "overloaded", ran: "no")
            try sender.send(["kind": "broadcast", "name": "other"], body: .filler(500_000))
            try sender.expectRemark("overloaded")
            #expect(try sender.recipients(ofBroadcast: "nobody", .filler(500_000)) == 0)
            #expect(try sender.recipients(ofBroadcast: "other", .filler(60_000)) == 1)
            try caller.expectNotice("other", .filler(60_000))
            #expect(try sender.asked("bus/stats")["counters"]?["broadcasts"] == 2)
        }
    }

    /// It is in the broker's memory once.
    @Test(.promise("13.21")) func aBodyThatManyWaitForCountsOnce() throws {
        try TestBus.run(.sixModules { $0.limits.total = Self.total }) { bus in
            let sender = try bus.module("Ant")
            let observers = try ["Bee", "Bee2", "Cat", "Cat2"].map { try bus.module($0, ["observes": ["news"]]) }
            for observer in observers { observer.isPaused = true }
            #expect(try sender.recipients(ofBroadcast: "news", .filler(1_500_000)) == 4)
            // What waits for all of them is one body, and leaves no room for another.
            try sender.expectError(to: try sender.broadcast("news", .filler(1_500_000)), "overloaded", ran: "no")
            for observer in observers {
                observer.isPaused = false
                try observer.expectNotice("news", .filler(1_500_000))
            }
            for observer in observers { try observer.settle() }
            #expect(try sender.recipients(ofBroadcast: "news", .filler(1_500_000)) == 4)
        }
    }

    /// Requests that wait for a module and queued frames share one total.
    @Test(.promise("13.21")) func requestsThatWaitForAModuleCountToo() throws {
        let table = AppTable.testing(
            .eager("Login", provides: ["Login"]), .manual("Owner", provides: ["Test"]), .manual("Hand", rank: 2)
        ) { $0.limits.total = Self.total }
        try TestBus.run(table) { bus in
            _ = try bus.launcher()
            let hand = try bus.module("Hand")
            let owner = try bus.provider("Owner", "Test")
            let waits = try hand.call("Login/act", .filler(1_200_000))
            let error = try hand.refused("Test/act", .filler(1_000_000), with: "overloaded")
            #expect(error.message.contains("(limits.total)"), "\(error)")
            // And the other way round.
            try hand.cancel(waits)
            try hand.expectError(to: waits, "cancelled", ran: "no")
            owner.isPaused = true
            try hand.call("Test/act", .filler(1_200_000))
            try hand.refused("Login/act", .filler(1_000_000), with: "overloaded")
            // Beyond the total, a sender may have 64 KiB that wait.
            try hand.call("Login/act", .filler(790_000))
            try hand.refused("Login/act", .filler(20_000), with: "overloaded")
            let other = try bus.operator()
            try other.call("Login/act", .filler(60_000))
            try other.refused("Login/act", .filler(60_000), with: "overloaded")
        }
    }

    /// An app whose total is used up can be inspected, and ended.
    @Test(.promise("13.22")) func operatorsAndTheLauncherGetThrough() throws {
        try run { bus, _, _ in
            let (tool, launcher) = (try bus.operator(), try bus.launcher())
            #expect(try tool.asked("bus/modules")["modules"]?.array?.count == 6)
            let id = try tool.call("launcher/stop", ["module": "Ant"])
            let stop = try launcher.expectCall("launcher/stop")
            try launcher.asked("bus/vouch", ["module": "Ant", "token": "t", "pid": 1])
            try launcher.reply(to: stop)
            try tool.expectReply(to: id)
        }
    }

    /// Small frames, which are copied into the queue, count at the end of a round.
    @Test(.promise("13.21")) func smallFramesCountToo() throws {
        try TestBus.run(.sixModules { $0.limits.total = 400_000 }) { bus in
            let caller = try bus.module("Cat")
            let stuck = try bus.provider("Ant", "Stuck")
            stuck.isPaused = true
            var sent = 0
            while !caller.inbox.contains(where: { $0.code == "overloaded" }), sent < 4_000 {
                for _ in 0..<10 { try caller.call("Stuck/act", .filler(1_000)) }
                sent += 10
                try caller.settle()
            }
            #expect(caller.inbox.first?.message.contains("(limits.total)") == true, "\(sent) calls")
        }
    }

    /// Frames that were read, and peers that ended, no longer count.
    @Test(.promise("13.21")) func roomComesBack() throws {
        try run { bus, caller, last in
            let owner = try bus.provider("Bee2", "Test")
            try caller.refused("Test/act", .filler(500_000), with: "overloaded")
            last.close()
            try bus.waitUntil("Bee", is: "absent")
            _ = try caller.drain()
            let id = try caller.call("Test/act", .filler(1_000_000))
            try owner.reply(to: try owner.expectCall("Test/act"), .filler(1_000_000))
            try caller.expectReply(to: id, body: .filler(1_000_000))
        }
    }
}
