import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// Peers that ask for more than their share: the effect on other peers, and the errors that they
/// get themselves. `scripts/bench --overload` measures the speed.
@Suite(.timeLimit(.hang))
struct OverloadTests {
    private static let news: JSON = ["kind": "broadcast", "name": "news"]

    /// A few frames of a flood come before a light peer's frame, not 64 KiB of them.
    @Test(.promise("13.34")) func aLightPeerComesBeforeTheRestOfAFlood() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            let flooding = try bus.module("Ant")
            let light = try bus.module("Ant2")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let flood = Array(repeatElement(FrameBytes.frame(Self.news), count: 2_000).joined())
            // The time that turns take decides which peer is light. So a busy machine may need
            // some tries.
            var fewest = Int.max
            for _ in 0..<50 where fewest > 100 {
                try light.settle()
                try flooding.send(bytes: flood)
                try flooding.settle()
                try light.settle()
                _ = try observer.drain()
                try bus.whileBrokerIsHalted {
                    try flooding.send(bytes: flood)
                    try light.send(Self.news)
                }
                for peer in [flooding, light] { try peer.settle() }
                let senders = try observer.drain().map(\.from)
                try #require(senders.count == 2_001)
                fewest = min(fewest, senders.firstIndex(of: "Ant2") ?? .max)
            }
            #expect(fewest <= 100, "\(fewest) frames of the flood came first")
        }
    }

    /// A peer that sends a burst waits for a few turns of 64 KiB, not for one turn of each
    /// flooding peer.
    @Test(.promise("13.35")) func aRoundHasFewTurnsOfHeavyPeers() throws {
        let table = AppTable.testing([.manual("Cat", rank: 2), .manual("New")]) { $0.guests = .init(rank: 1, most: 20) }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let crowd = try (0..<12).map { try bus.module("Many\($0)") }
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let frame = FrameBytes.frame(Self.news)
            let flood = Array(repeatElement(frame, count: 2_000).joined())
            // Their first floods show what they are like. Each flood is longer than a turn.
            try #require(flood.count > ReadBuffer.turn)
            for peer in crowd { try peer.send(bytes: flood) }
            for _ in 0..<crowd.count * 2_000 { try observer.expectNotice("news") }
            let new = try bus.module("New")
            try bus.whileBrokerIsHalted {
                for peer in crowd { try peer.send(bytes: flood) }
                try new.send(Self.news)
            }
            let senders = try (0...crowd.count * 2_000).map { _ in try observer.expectNotice("news").from }
            let before = senders.firstIndex(of: "New") ?? .max
            #expect(before * frame.count <= TurnShares.mostRead + 2 * ReadBuffer.turn, "\(before) came first")
        }
    }

    /// Sessions that end together end a few per round, even if no peer was light before.
    @Test(.promise("13.36")) func manySessionsThatEndAtOnceDelayNoPeer() throws {
        let most = 200
        let table = AppTable.testing([.manual("Cat", rank: 2), .manual("New")]) {
            $0.guests = .init(rank: 1, most: most)
        }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let crowd = try (0..<most).map { try bus.module("Many\($0)") }
            let observer = try bus.module("Cat", ["observes": ["news"], "events": ["app.moduleLost"]])
            let new = try bus.module("New")
            try bus.whileBrokerIsHalted {
                for peer in crowd { peer.close() }
                try new.send(Self.news)
            }
            var ended = 0
            while try observer.next().kind == "call" { ended += 1 }
            #expect(ended <= 2 * TurnShares.mostRead / TurnShares.endCost, "\(ended) sessions ended first")
        }
    }

    /// The loop doesn't report peers that wait for their turns. None is forgotten, even if it
    /// closes as soon as it has sent everything.
    @Test(.promise("13.35")) func manyFloodingPeersAreAllReadToTheirLastFrame() throws {
        let table = AppTable.testing([.manual("Cat", rank: 2), .manual("Light")]) {
            $0.guests = .init(rank: 1, most: 20)
        }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let crowd = try (0..<12).map { try bus.module("Many\($0)") }
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let light = try bus.module("Light")
            let flood = Array(repeatElement(FrameBytes.frame(Self.news), count: 2_000).joined())
            for (isLightThere, areClosed) in [(true, false), (false, false), (true, true)] {
                for _ in 0..<(isLightThere ? 20 : 0) { try light.settle() }
                try bus.whileBrokerIsHalted {
                    for peer in crowd { try peer.send(bytes: flood) }
                    if areClosed { for peer in crowd { peer.close() } }
                }
                var heard: [String: Int] = [:]
                for _ in 0..<crowd.count * 2_000 { heard[try observer.expectNotice("news").from, default: 0] += 1 }
                #expect(heard.count == crowd.count && heard.values.allSatisfy { $0 == 2_000 }, "\(heard)")
            }
        }
    }

    /// Even while the broker's last frames to it are not read.
    @Test(.promise("13.39")) func whoIsEndedFreesItsPlaceAtOnce() throws {
        try TestBus.run(
            .sixModules {
                $0.limits.queue = 100_000
                $0.limits.connections = 18
            }
        ) { bus in
            let sender = try bus.module("Ant")
            let slow = try bus.module("Cat", ["observes": ["news"]])
            slow.isPaused = true
            while try sender.recipients(ofBroadcast: "news", .filler(20_000)) == 1 {}
            _ = try bus.module("Bee")
            slow.isPaused = false
            try slow.expectEnd("slow-consumer")
        }
    }

    @Test(.promise("13.40")) func aByteAtATimeEndsAsBadFrameAndDelaysNoPeer() throws {
        try TestBus.run(.sixModules { $0.assembly = 200 }) { bus in
            let owner = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let slow = try bus.module("Cat")
            let frame = FrameBytes.frame(["kind": "call", "id": 7, "to": "Test/act"])
            // Send one byte for each call of the other peers, as long as bytes are accepted.
            var sent = 0
            while sent < frame.count - 1, !slow.inbox.contains(where: { $0.code == "bad-frame" }) {
                try? slow.send(bytes: [frame[sent]])
                sent += 1
                let clock = try caller.call("Test/act", nil, ["deadline": 20])
                try owner.expectCall("Test/act")
                try caller.expectError(to: clock, "deadline-exceeded")
                try owner.expect(["kind": "cancel"])
            }
            let error = try slow.expectEnd("bad-frame")
            #expect(error.message.contains("200 ms"), "\(error)")
            try bus.waitUntil("Cat", is: "absent")
        }
    }

    @Test(.promise("13.3")) func tenThousandObservationsGetEachBroadcastOnce() throws {
        let table = AppTable.testing([.manual("Ant")]) { $0.guests = .init(rank: 2, most: 10) }
        try TestBus.run(table) { bus in
            let names: [JSON] = Array(repeating: "news", count: 1_000)
            let observers = try (0..<10).map { try bus.module("Many\($0)", ["observes": .array(names)]) }
            let sender = try bus.module("Ant")
            #expect(try sender.recipients(ofBroadcast: "news") == 10_000)
            for observer in observers {
                let notices = try observer.drain()
                #expect(Set(notices.compactMap { $0["subscription"]?.integer }).count == 1_000)
                #expect(notices.count == 1_000)
            }
            // Each has its own limit, and the error names the peer.
            for _ in 0..<24 { try observers[3].asked("bus/observe", ["name": "more"]) }
            let error = try observers[3].refused("bus/observe", ["name": "more"], with: "overloaded")
            #expect(error.message.contains("Many3") && error.message.contains("(limits.observations)"), "\(error)")
        }
    }

    @Test(.promise("13.24")) func aSlowObserverIsEndedEachTimeAndTheOthersGetAll() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 100_000 }) { bus in
            let sender = try bus.module("Ant")
            let good = try bus.module("Bee", ["observes": ["news"]])
            var sent: Int64 = 0
            for round in 1...3 as ClosedRange<Int64> {
                let slow = try bus.module("Cat", ["observes": ["news"]])
                slow.isPaused = true
                // Until it has exceeded the limit: then it gets no more.
                while try sender.recipients(ofBroadcast: "news", .array([.integer(sent), .filler(20_000)])) == 2 {
                    sent += 1
                    try good.settle()
                }
                sent += 1
                slow.isPaused = false
                let error = try slow.expectEnd("slow-consumer")
                #expect(error.message.contains("Cat fell behind"), "\(error)")
                let tool = try bus.connect("tool")
                try tool.hello(role: "operator")
                #expect(try tool.asked("bus/stats")["counters"]?["slowConsumers"] == .integer(round))
                tool.close()
            }
            let numbers = try good.drain().compactMap { $0.json.array?.first?.integer }
            #expect(numbers == Array(0..<sent))
        }
    }

    /// The queues to peers that read nothing are freed with them.
    @Test(.promise("13.26")) func largeFramesThatWaitAreWholeAndInOrder() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            // More than a socket holds, in sizes around the limit from which bodies aren't
            // copied.
            callee.isPaused = true
            let sizes = [70_000, 300_000, 1_000_000, 5_000_000, 200, 65_536, 262_144, 1_000_000]
            let ids = try sizes.map { try caller.call("Test/act", .filler($0)) }
            try caller.settle()
            callee.isPaused = false
            for (id, size) in zip(ids, sizes) {
                let call = try callee.expectCall("Test/act", .filler(size))
                try callee.reply(to: call, .filler(size + 1))
                try caller.expectReply(to: id, body: .filler(size + 1))
            }
        }
    }
}
