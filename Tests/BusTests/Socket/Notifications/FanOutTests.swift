import StrataCore
import StrataTesting
import Testing

/// Broadcasts to so many observations that they go out in batches.
@Suite(.timeLimit(.hang))
struct FanOutTests {
    private static let news: JSON = ["kind": "broadcast", "name": "news"]
    /// Guests observe, `Ant` and `Ant2` of the first level broadcast, and `Bee` calls.
    private static let table = AppTable.testing([.manual("Ant"), .manual("Ant2"), .manual("Bee")]) {
        $0.guests = .init(rank: 2, most: 10)
    }

    /// Connects peers with 1,000 observations of "news" each. Each provides an interface of its
    /// own name.
    private static func observers(_ count: Int, _ bus: TestBus) throws -> [RawPeer] {
        let names: [JSON] = Array(repeating: "news", count: 1_000)
        return try (0..<count).map {
            try bus.module("Many\($0)", ["observes": .array(names), "interfaces": .object([.init("Many\($0)", [:])])])
        }
    }

    /// Runs a test in which the broker reads everything that peers have sent in one round, in
    /// this order. No notice has gone out by then.
    private static func halted(_ test: (TestBus) throws -> Void) throws {
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker"), test)
    }

    @Test func otherPeersAreServedBetweenBatches() throws {
        try Self.halted { bus in
            let sender = try bus.module("Ant")
            let asking = try bus.module("Bee")
            let observers = try Self.observers(5, bus)
            try bus.whileBrokerIsHalted {
                try sender.send(Self.news)
                try asking.call("Many4/act")
            }
            // It is the first frame that arrived, before a thousand notices.
            try observers[4].reply(to: observers[4].expectCall("Many4/act"))
            for observer in observers {
                for _ in 0..<1_000 { try observer.expectNotice("news") }
            }
        }
    }

    @Test func theSendersNextFrameComesAfterTheBroadcast() throws {
        try TestBus.run(Self.table) { bus in
            let sender = try bus.module("Ant")
            let observers = try Self.observers(3, bus)
            for _ in 0..<3 {
                try sender.send(Self.news)
                try sender.call("Many2/act")
                for _ in 0..<1_000 { try observers[2].expectNotice("news") }
                try observers[2].reply(to: observers[2].expectCall("Many2/act"))
                _ = try sender.next()
            }
            for observer in observers[..<2] { #expect(try observer.drain().count == 3_000) }
        }
    }

    @Test func allObserversSeeThoseOfTwoSendersInOneOrder() throws {
        try TestBus.run(Self.table) { bus in
            let senders = try ["Ant", "Ant2"].map { try bus.module($0) }
            let observers = try Self.observers(2, bus)
            let few = try bus.module("Few", ["observes": ["news", "rare"]])
            for number in 0..<10 as Range<Int64> {
                for sender in senders {
                    try sender.send(Self.news, body: .integer(number))
                    // The one to a single observer must not overtake either.
                    try sender.send(["kind": "broadcast", "name": "rare"], body: .integer(number))
                }
            }
            for sender in senders { try sender.settle() }
            let order = try few.drain().map { "\($0.from) \($0.name) \($0.json)" }
            #expect(order.count == 40)
            for observer in observers {
                let seen = try observer.drain().map { "\($0.from) \($0.name) \($0.json)" }
                #expect(seen.count == 20_000)
                let runs = seen.enumerated().filter { $0.offset % 1_000 == 0 }.map(\.element)
                #expect(runs == order.filter { $0.contains("news") })
                #expect(Set(seen.enumerated().map { $0.element == runs[$0.offset / 1_000] }) == [true])
            }
            for sender in senders {
                let name = sender === senders[0] ? "Ant " : "Ant2 "
                let own = order.filter { $0.hasPrefix(name) }
                #expect(own == (0..<10).flatMap { ["\(name)news \($0)", "\(name)rare \($0)"] })
            }
        }
    }

    @Test func aSenderThatClosesAtOnceHasSaidAllOfIt() throws {
        try Self.halted { bus in
            let senders = try ["Ant", "Ant2"].map { try bus.module($0) }
            let observers = try Self.observers(2, bus)
            try bus.whileBrokerIsHalted {
                for sender in senders {
                    for _ in 0..<3 { try sender.send(Self.news) }
                    sender.close()
                }
            }
            for name in ["Ant", "Ant2"] { try bus.waitUntil(name, is: "absent") }
            for observer in observers { #expect(try observer.drain().count == 6_000) }
        }
    }

    @Test func nothingComesAfterTheAnswerToUnobserve() throws {
        try Self.halted { bus in
            let sender = try bus.module("Ant")
            let observers = try Self.observers(3, bus)
            let subscription = try #require(observers[2].welcome["subscriptions"]?.array?.last)
            var asked: (UInt64, UInt64) = (0, 0)
            try bus.whileBrokerIsHalted {
                asked.0 = try sender.broadcast("news")
                asked.1 = try observers[2].call("bus/unobserve", ["subscription": subscription])
            }
            try observers[2].expectReply(to: asked.1)
            #expect(try sender.expectReply(to: asked.0).json["recipients"] == 2_999)
            let notices = try observers[2].drain().filter { $0.kind == "notice" }
            #expect(notices.count == 999)
            #expect(notices.allSatisfy { $0["subscription"] != subscription })
        }
    }

    @Test func anObserverThatEndsMidwayCostsTheOthersNothing() throws {
        var table = Self.table
        // At some point, the notices that the kernel doesn't take exceed the limit.
        table.limits.queue = 60_000
        try TestBus.run(table) { bus in
            let sender = try bus.module("Ant")
            let observers = try Self.observers(3, bus)
            observers[1].isPaused = true
            var wasEnded = false
            for _ in 0..<40 where !wasEnded {
                let recipients = try sender.recipients(ofBroadcast: "news")
                wasEnded = recipients < 3_000
                if wasEnded {
                    // The broker waits 2 s for its last bytes to be read.
                    observers[1].isPaused = false
                    try observers[1].expectEnd("slow-consumer")
                }
                for observer in [observers[0], observers[2]] { #expect(try observer.drain().count == 1_000) }
            }
            #expect(wasEnded)
        }
    }

    @Test func adaptersNamesAreDeliveredToo() throws {
        var table = Self.table
        table.modules[0].provides = ["Login"]
        var adapter = AppTable.Adapter(name: "NoteLogin", to: "Login")
        adapter.notices = [.init(from: "news", to: "note.news")]
        table.adapters = [adapter]
        try TestBus.run(table) { bus in
            let sender = try bus.provider("Ant", "Login")
            let observers = try Self.observers(2, bus)
            let renamed = try bus.module("Renamed", ["observes": ["note.news"]])
            #expect(try sender.recipients(ofBroadcast: "news", 7) == 2_001)
            try renamed.expectNotice("note.news", 7)
            for observer in observers { #expect(try observer.drain().count == 1_000) }
        }
    }
}
