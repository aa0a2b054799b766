import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: observations, and how broadcasts are kept.
@Suite(.timeLimit(.hang))
struct BroadcastTests {
    @Test(.promise("7.3")) func anObjectFiltersWhereTheObservationGaveOne() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.module("Cat", ["observes": ["item", ["name": "item", "object": "a"]]])
            let subscriptions = observer.welcome["subscriptions"]?.array ?? []
            #expect(try sender.recipients(ofBroadcast: "item", 1, ["object": "a"]) == 2)
            #expect(try sender.recipients(ofBroadcast: "item", 2, ["object": "b"]) == 1)
            #expect(try sender.recipients(ofBroadcast: "item", 3) == 1)
            try observer.expectNotice("item", 1, ["object": "a", "subscription": subscriptions[0]])
            try observer.expectNotice("item", 1, ["object": "a", "subscription": subscriptions[1]])
            try observer.expectNotice("item", 2, ["object": "b", "subscription": subscriptions[0]])
            let last = try observer.expectNotice("item", 3, ["subscription": subscriptions[0]])
            #expect(last["object"] == nil)
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.11", "10.4")) func twoObservationsOfOneNameDeliverTwice() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observer = try bus.module("Cat")
            let one = try observer.asked("bus/observe", ["name": "news"])["subscription"]
            let other = try observer.asked("bus/observe", ["name": "news"])["subscription"]
            #expect(one != other && one != nil)
            #expect(try bus.module("Ant").recipients(ofBroadcast: "news") == 2)
            try observer.expectNotice("news", nil, ["subscription": one ?? .null])
            try observer.expectNotice("news", nil, ["subscription": other ?? .null])
            try observer.asked("bus/unobserve", ["subscription": one ?? .null])
            #expect(try bus.module("Bee").recipients(ofBroadcast: "news") == 1)
            try observer.expectNotice("news", nil, ["subscription": other ?? .null])
            try observer.expectNothing()
        }
    }

    @Test(.promise("5.14", "M.20")) func whatTheRowObservesIsInForceTogetherWithHellosOnce() throws {
        let table = AppTable.sixModules {
            $0.modules[4].observes = [.init(name: "news"), .init(name: "item", object: "a")]
        }
        try MemoryBus.run(table) { bus in
            let observer = try bus.module("Cat", ["observes": ["news"]])
            #expect(observer.welcome["subscriptions"]?.array?.count == 2)
            let sender = try bus.module("Ant")
            #expect(try sender.recipients(ofBroadcast: "news") == 1)
            #expect(try sender.recipients(ofBroadcast: "item", nil, ["object": "a"]) == 1)
        }
    }

    @Test(.promise("7.11")) func namesAreComparedByteByByteWithoutWildcards() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observer = try bus.module("Cat", ["observes": ["news.*", "*", "News", "caf\u{E9}"]])
            let sender = try bus.module("Ant")
            for name in ["news.a", "news", "NEWS", "cafe\u{301}"] {
                #expect(try sender.recipients(ofBroadcast: name) == 0)
            }
            #expect(try sender.recipients(ofBroadcast: "caf\u{E9}") == 1)
            try observer.expectNotice("caf\u{E9}")
            try observer.expectNothing()
        }
    }

    @Test(.promise("4.4")) func aBroadcastWithoutIDIsNotAnswered() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let sender = try bus.module("Ant")
            try sender.send(["kind": "broadcast", "name": "news"], body: ["n": 1])
            try sender.expectNothing()
            try observer.expectNotice("news", ["n": 1])
        }
    }

    @Test(.promise("7.4", "R.4")) func allObserversSeeAllBroadcastsInOneOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observers = try ["Cat", "Cat2"].map { try bus.module($0, ["observes": ["a", "b"]]) }
            let senders = try ["Ant", "Ant2", "Bee"].map { try bus.module($0) }
            for round in 0..<40 as Range<Int64> {
                for sender in senders {
                    try sender.send(["kind": "broadcast", "name": round % 2 == 0 ? "a" : "b"], body: .integer(round))
                }
            }
            for sender in senders { try sender.settle() }
            let seen = try observers.map { try $0.drain().map { "\($0.from) \($0.name) \($0.json)" } }
            #expect(seen[0].count == 120)
            #expect(seen[0] == seen[1])
        }
    }

    @Test(.promise("5.12", "7.11", "I.8")) func observationsEndWithTheirPeer() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            observer.close()
            try bus.waitUntil("Cat", is: "absent")
            #expect(try sender.recipients(ofBroadcast: "news") == 0)
        }
    }

    @Test(.promise("6.6")) func noticesFlowFromHelloOn() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.connect("Cat")
            try observer.hello("Cat", ["observes": ["news"]])
            #expect(try sender.recipients(ofBroadcast: "news") == 1)
            // It has answered no step of its start.
            try observer.find(["kind": "notice", "name": "news"])
        }
    }

    @Test(.promise("1.9", "7.13", "R.5")) func anObserverThatKeepsAllAndFallsBehindIsEnded() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let sender = try bus.module("Ant")
            let slow = try bus.module("Cat", ["observes": ["news"]])
            let quick = try bus.module("Cat2", ["observes": ["news"]])
            slow.isPaused = true
            var reached = 2
            var sent = 0
            while reached == 2, sent < 100 {
                reached = try sender.recipients(ofBroadcast: "news", .filler(40_000))
                sent += 1
            }
            #expect(reached == 1, "\(sent) broadcasts were taken")
            for _ in 0..<sent { try quick.expectNotice("news") }
            try quick.expectNothing()
            slow.isPaused = false
            let error = try slow.expectEnd("slow-consumer")
            #expect(error.message.contains("Cat"))
            // Notices that had not begun are dropped. Those that arrived are whole and in order.
            #expect(slow.inbox.count < sent)
            #expect(try sender.asked("bus/stats")["counters"]?["slowConsumers"] == 1)
            _ = try bus.module("Cat")
        }
    }

    @Test(.promise("7.14", "R.5")) func aLatestObservationHasOneWaitingNoticeThatCountsTheMissedOnes() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.module("Cat", ["observes": [["name": "state", "keep": "latest"]]])
            observer.isPaused = true
            let sent = 60
            for number in 1...sent {
                let body: JSON = ["n": .integer(Int64(number)), "text": .filler(40_000)]
                #expect(try sender.recipients(ofBroadcast: "state", body) == 1)
            }
            observer.isPaused = false
            let came = try observer.drain()
            let numbers = came.map { Int($0.json["n"]?.integer ?? 0) }
            let missed = came.map { Int($0["missed"]?.integer ?? 0) }
            #expect(numbers.last == sent)
            #expect(numbers == numbers.sorted())
            #expect(came.count < sent)
            // Every broadcast arrived, or was counted just before the next one.
            #expect(missed.reduce(came.count, +) == sent)
            for index in came.indices.dropFirst() {
                #expect(numbers[index] - numbers[index - 1] - 1 == missed[index])
            }
            #expect(try sender.recipients(ofBroadcast: "state", ["n": 0]) == 1)
            #expect(try observer.expectNotice("state", ["n": 0])["missed"] == nil)
        }
    }

    @Test(.promise("7.14")) func aLatestNoticeThatFindsNoRoomWaitsUntilThereIsSome() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.provider("Cat", "Test", ["observes": [["name": "state", "keep": "latest"]]])
            observer.isPaused = true
            // Calls fill the observer's queue, and smaller ones its last bytes.
            var calls = 0
            for size in [50_000, 10_000, 1_000] {
                var id = try sender.call("Test/act", .filler(size))
                while try !sender.isAnswered(id) {
                    calls += 1
                    id = try sender.call("Test/act", .filler(size))
                }
                try sender.expectError(to: id, "overloaded", ran: "no")
            }
            for number in 1...5 as ClosedRange<Int64> {
                #expect(
                    try sender.recipients(ofBroadcast: "state", ["n": .integer(number), "text": .filler(2_000)]) == 1)
            }
            observer.isPaused = false
            for _ in 0..<calls { try observer.expectCall("Test/act") }
            let notice = try observer.expectNotice("state", ["n": 5])
            #expect(notice["missed"] == 4)
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.5")) func aLargeBroadcastReachesAllWhole() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observers = try ["Bee", "Bee2", "Cat", "Cat2"].map { try bus.module($0, ["observes": ["news"]]) }
            let body: JSON = .filler(3_000_000)
            #expect(try sender.recipients(ofBroadcast: "news", body) == 4)
            for observer in observers { #expect(try observer.expectNotice("news").json == body) }
        }
    }

    @Test(
        .promise("10.4"),
        arguments: [
            ["name": ""], [:], ["name": 5], ["name": "a", "keep": "some"], "news",
        ] as [JSON])
    func anInvalidObservationIsBadParams(body: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.refused("bus/observe", body, with: "bad-params")
            try peer.refused("bus/unobserve", ["subscription": 99], with: "bad-params")
        }
    }

    @Test func moreObservationsThanAllowedAreOverloaded() throws {
        try MemoryBus.run(.sixModules { $0.limits.observations = 2 }) { bus in
            let peer = try bus.module("Cat", ["observes": ["a"]])
            let second = try peer.asked("bus/observe", ["name": "b"])["subscription"]
            try peer.refused("bus/observe", ["name": "c"], with: "overloaded")
            try peer.asked("bus/unobserve", ["subscription": second ?? .null])
            try peer.asked("bus/observe", ["name": "c"])
        }
    }
}

extension RawPeer {
    /// Whether a request has its answer after a round trip.
    func isAnswered(_ id: UInt64) throws -> Bool {
        try settle()
        return inbox.contains { $0.id == id }
    }
}
