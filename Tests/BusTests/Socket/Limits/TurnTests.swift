import StrataCore
import StrataLoop
import StrataTesting
import Testing

@testable import StrataBus

/// The protocol's section 13: no peer keeps other peers waiting.
@Suite(.timeLimit(.hang))
struct TurnTests {
    @Test(.promise("13.30")) func atMost64KiBOfOnePeerAreReadBeforeTheNextOnesTurn() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            let flooding = try bus.module("Ant")
            let other = try bus.module("Ant2")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let header: JSON = ["kind": "broadcast", "name": "news"]
            let frame = FrameBytes.frame(header, body: .filler(1 << 10))
            let flood = Array(repeatElement(frame, count: 120).joined())
            // All of it is there before the other peer's frame, as far as a socket holds it.
            try bus.whileBrokerIsHalted {
                try flooding.send(bytes: flood)
                try other.send(header)
            }
            try flooding.settle()
            let senders = try observer.drain().map(\.from)
            #expect(senders.count == 121)
            let before = senders.firstIndex(of: "Ant2") ?? .max
            #expect(before <= (64 << 10) / (1 << 10), "\(before) frames of the flood came first")
        }
    }

    /// Nothing is known about a new connection. Many that come and go would otherwise have a turn
    /// each in every round.
    @Test func newConnectionsHaveOneTurnInARoundBesideALightPeer() throws {
        let table = AppTable.testing([.manual("Ant"), .manual("Bee")]) { $0.guests = .init(rank: 2, most: 80) }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let newcomers = try (0..<30).map { try bus.connect("newcomer \($0)") }
            let sender = try bus.module("Bee")
            let light = try bus.lightModule("Ant")
            var id: UInt64 = 0
            try bus.whileBrokerIsHalted {
                try light.call("bus/levels")
                for (number, newcomer) in newcomers.enumerated() {
                    try newcomer.call(
                        "bus/hello", ["protocol": 1, "module": .string("New\(number)"), "observes": ["news"]])
                }
                id = try sender.broadcast("news")
            }
            // Handled in the round in which all of them could be read.
            let recipients = try sender.expectReply(to: id).json["recipients"]?.integer ?? -1
            #expect((0...1).contains(recipients), "\(recipients) of them had their turns before")
            for newcomer in newcomers { try newcomer.find(["kind": "reply"]) }
        }
    }

    /// Peers that wait for their turns have them in rounds of a bounded size.
    @Test(.promise("13.35")) func aRoundGivesNoMoreTurnsThanItMayHave() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let loop = try Loop()
        let table = AppTable.testing([]) { $0.guests = .init(rank: 1, most: 20) }
        let broker = try Broker(loop, table: table, path: "\(folder.path)/bus")
        let crowd = try (0..<12).map { _ in try Socket.connect(loop, path: broker.listener?.path ?? "") }
        func send(_ bytes: [UInt8], by peer: Socket) {
            guard case .moved(bytes.count) = bytes.withUnsafeBytes({ peer.write($0) }) else {
                Issue.record("a socket did not take \(bytes.count) bytes")
                return
            }
        }
        /// Returns the frames that each round handles, until there are `sum` in all.
        func rounds(until sum: UInt64) throws -> [Int] {
            var rounds: [Int] = []
            while broker.bus.statistics.broadcasts < sum {
                let before = broker.bus.statistics.broadcasts
                loop.runOnce()
                rounds.append(Int(broker.bus.statistics.broadcasts - before))
                try #require(rounds.count < 1_000, "\(broker.bus.statistics.broadcasts) of \(sum)")
            }
            return rounds
        }
        for (number, peer) in crowd.enumerated() {
            let hello: JSON = ["protocol": 1, "module": .string("Many\(number)")]
            send(FrameBytes.frame(["kind": "call", "id": 1, "to": "bus/hello"], body: hello), by: peer)
        }
        let frame = FrameBytes.frame(["kind": "broadcast", "name": "news"])
        let flood = Array(repeatElement(frame, count: 2_000).joined())
        // Their first floods show what they are like.
        for peer in crowd { send(flood, by: peer) }
        _ = try rounds(until: 24_000)
        for peer in crowd { send(flood, by: peer) }
        let sizes = try rounds(until: 48_000).map { $0 * frame.count }
        // In addition, the queue has at least one turn, and frames that had begun before are
        // finished.
        let most = TurnShares.mostRead + ReadBuffer.turn + crowd.count * frame.count
        #expect(sizes.allSatisfy { $0 <= most }, "\(sizes)")
        for peer in crowd { peer.close() }
        broker.shutDown {}
        loop.run()
    }

    @Test(.promise("13.29")) func aFullQueueSlowsNoThirdParty() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 300_000 }) { bus in
            let slow = try bus.provider("Ant", "Slow", ["observes": ["done"]])
            let quick = try bus.provider("Ant2", "Quick")
            let caller = try bus.module("Bee")
            let third = try bus.module("Cat")
            slow.isPaused = true
            for _ in 0..<12 { try caller.call("Slow/act", .filler(100_000)) }
            try caller.find(["kind": "error", "code": "overloaded"])
            // Neither the peer that filled it nor any other peer waits for it.
            for peer in [caller, third] {
                for number in 0..<50 as Range<Int64> {
                    let id = try peer.call("Quick/act", .integer(number))
                    try quick.reply(to: try quick.expectCall("Quick/act", .integer(number)), .filler(10_000))
                    try peer.expectReply(to: id)
                }
            }
        }
    }

    /// While a peer isn't read, the time for a frame that it has begun stands still. Disabled if
    /// brokers are replaced, because writing 3 MB in each round takes longer.
    @Test(.promise("2.8"), .disabled(if: TestBus.isHandedOverEachRound))
    func theTimeOfAFrameDoesNotRunWhileItsPeerIsNotRead() throws {
        let table = AppTable.sixModules {
            $0.limits.queue = 300_000
            $0.assembly = 300
        }
        try TestBus.run(table) { bus in
            let slow = try bus.module("Ant")
            let owner = try bus.provider("Bee", "Big", ["observes": ["late"]])
            slow.isPaused = true
            let large = try slow.call("Big/act")
            try owner.reply(to: try owner.expectCall("Big/act"), .filler(3_000_000))
            try owner.settle()
            // Its next request stops the reading from it, with half a frame behind that request.
            let frame = FrameBytes.frame(["kind": "broadcast", "name": "late"])
            try slow.send(bytes: frame + frame.prefix(20))
            let clock = try owner.call("Big/clock", nil, ["deadline": 700])
            try owner.expectCall("Big/clock")
            try owner.expectError(to: clock, "deadline-exceeded")
            try owner.expect(["kind": "cancel"])
            try slow.send(bytes: Array(frame.dropFirst(20)))
            slow.isPaused = false
            try slow.expectReply(to: large)
            for _ in 0..<2 { try owner.expectNotice("late") }
        }
    }
}
