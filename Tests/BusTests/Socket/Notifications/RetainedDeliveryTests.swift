import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// How observers get what is retained: as their queues have room, in batches, and never an old one
/// after a newer one.
@Suite(.timeLimit(.hang))
struct RetainedDeliveryTests {
    /// Two senders may retain what a queue doesn't take.
    private static func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .sixModules { table in
            table.limits.queue = 400_000
            change(&table)
        }
    }

    private static func body(_ number: Int64) -> JSON { .array([.integer(number), .filler(60_000)]) }

    private func number(_ frame: ReceivedFrame) -> Int64? { frame.json.array?.first?.integer ?? frame.json.integer }

    /// Reads as many notices, and expects no other.
    private func notices(_ count: Int, of observer: RawPeer) throws -> [ReceivedFrame] {
        let came = try (0..<count).map { _ in try observer.find(["kind": "notice"]) }
        #expect(try observer.drain().filter { $0.kind == "notice" }.isEmpty)
        return came
    }

    /// Runs with 12 retained broadcasts of 60,000 bytes, and an observer that doesn't read.
    private func run(
        keep: String = "all",
        _ test: (_ memory: MemoryBus, _ senders: [RawPeer], _ observer: RawPeer, _ bus: TestBus) throws -> Void
    ) throws {
        let memory = MemoryBus(Self.table(), isLaunched: false)
        try TestBus(Self.table(), memory).run { bus in
            let senders = [try bus.module("Ant"), try bus.module("Ant2")]
            for number in 1...12 as ClosedRange<Int64> {
                let members: JSON = ["retain": true, "object": .string("\(number)")]
                let sender = senders[Int(number) % 2]
                try sender.expectReply(to: try sender.broadcast("a", Self.body(number), members))
            }
            let observer = try bus.module("Cat", ["observes": ["other"]])
            observer.isPaused = true
            try observer.call("bus/observe", ["name": "a", "keep": .string(keep)])
            try senders[0].settle()
            try test(memory, senders, observer, bus)
        }
    }

    @Test(.promise("7.29"), arguments: [true, false]) func aSlowReaderGetsAllWithRoomForNewerOnes(isShared: Bool) throws
    {
        try run { memory, senders, observer, _ in
            memory.broker.isShared = isShared
            for number in 100...102 as ClosedRange<Int64> {
                #expect(try senders[0].recipients(ofBroadcast: "other", Self.body(number)) == 1)
            }
            let came = try notices(15, of: observer).compactMap(number)
            #expect(came.filter { $0 < 100 } == Array(1...12) && came.filter { $0 >= 100 } == [100, 101, 102])
            #expect(memory.broker.bus.connections.inOrder.allSatisfy { $0.retainedWalks.isEmpty })
        }
    }

    @Test(.promise("7.29")) func whatIsReplacedOrForgottenMeanwhileDoesNotComeAfterwards() throws {
        try run { _, senders, observer, _ in
            #expect(try senders[1].recipients(ofBroadcast: "a", 11, ["retain": true, "object": "11"]) == 1)
            try senders[0].expect("bus/forget", ["name": "a", "object": "12"], gives: ["forgotten": 1])
            // These were too late to be queued: 7 and 9 end with their sender.
            senders[1].close()
            try senders[0].settle()
            var came: [ReceivedFrame] = []
            while came.last?["object"] != "10" { came.append(try observer.find(["kind": "notice"])) }
            #expect(try observer.drain().filter { $0.kind == "notice" }.isEmpty)
            let objects = came.compactMap { $0["object"]?.string }
            #expect(
                objects.suffix(2) == ["8", "10"] && !objects.contains("9") && !objects.contains("12"), "\(objects)")
            let newer = came.filter { $0["object"] == "11" }
            #expect(newer.map(\.json) == [11] && newer.allSatisfy { $0["retained"] == nil })
        }
    }

    @Test(.promise("7.29"), arguments: ["unobserve", "close"]) func anObserverThatEndsGetsNoMore(how: String) throws {
        try run { memory, senders, observer, _ in
            if how == "close" {
                observer.close()
            } else {
                observer.isPaused = false
                try observer.call("bus/unobserve", ["subscription": 2])
                #expect(try observer.drain().filter { $0.kind == "notice" }.count < 12)
            }
            try senders[0].settle()
            #expect(memory.broker.bus.connections.inOrder.allSatisfy { $0.retainedWalks.isEmpty })
            #expect(try senders[0].recipients(ofBroadcast: "a", 1) == 0)
        }
    }

    /// Each object's is of use, so none replaces another one.
    @Test(.promise("7.30")) func ofLatestOneWaitsAndNoneIsReplaced() throws {
        try run(keep: "latest") { memory, _, observer, _ in
            let peer = memory.broker.bus.connections.inOrder.first { $0.module?.name == "Cat" }
            // One is being written, and one waits.
            #expect(try #require(peer).outbox.pending < 2 * 61_000)
            let came = try notices(12, of: observer)
            #expect(came.map(number) == Array(1...12) && came.allSatisfy { $0["missed"] == nil })
        }
    }

    @Test(.promise("7.30")) func ofLatestANewerOneReplacesTheOneThatWaits() throws {
        try run(keep: "latest") { _, senders, observer, _ in
            for number in [13, 14] as [JSON] {
                #expect(try senders[0].recipients(ofBroadcast: "a", number, ["object": "new"]) == 1)
            }
            var came: [ReceivedFrame] = []
            while came.last?["object"] != "12" { came.append(try observer.find(["kind": "notice"])) }
            let place = try #require(came.firstIndex { $0["object"] == "new" })
            // A retained one waited, and 13.
            #expect(came[place].json == 14 && came[place]["missed"] == 2 && came.count == 12)
            #expect(came.indices.allSatisfy { $0 == place || came[$0]["missed"] == nil })
        }
    }

    @Test(.promise("7.31"), arguments: ["all", "latest"]) func theRestPassesToTheNextProgram(keep: String) throws {
        try run(keep: keep) { memory, senders, observer, bus in
            try memory.broker.replace()
            #expect(try senders[1].recipients(ofBroadcast: "b", 20, ["retain": true]) == 0)
            try memory.broker.replace()
            #expect(try notices(12, of: observer).map(number) == Array(1...12))
            let late = try bus.module("Cat2", ["observes": ["a", "b"]])
            #expect(try notices(13, of: late).map(number) == Array(1...12) + [20])
            // The accounts, the keys and the sessions continue too.
            try senders[0].expectError(
                to: try senders[0].broadcast("c", Self.body(21), ["retain": true]), "overloaded", ran: "no")
            try senders[0].expect("bus/forget", ["name": "a", "object": "2"], gives: ["forgotten": 1])
            senders[1].close()
            try senders[0].settle()
            try late.asked("bus/observe", ["name": "a"])
            #expect(try notices(5, of: late).map(number) == [4, 6, 8, 10, 12])
            senders[0].close()
            try bus.operator().settle()
            #expect(memory.broker.bus.retained.textBytes == 0 && memory.broker.bus.retained.all.isEmpty)
        }
    }

    /// The broker of another process, because the time between two batches is a round of its loop.
    @Test(.promise("7.29")) func manyGoInBatchesAndOtherPeersHaveTurns() throws {
        let table = AppTable.sixModules { $0.limits.retained = 10_000 }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let (sender, other) = (try bus.module("Ant"), try bus.module("Ant2"))
            for number in 0..<10_000 {
                try sender.send(["kind": "broadcast", "name": "a", "retain": true, "object": .string("\(number)")])
            }
            try sender.settle()
            let observer = try bus.module("Cat", ["observes": ["news"]])
            try bus.whileBrokerIsHalted {
                try observer.call("bus/observe", ["name": "a"])
                try other.send(["kind": "broadcast", "name": "news"])
            }
            try observer.find(["kind": "notice", "name": "a", "object": "9999"])
            let came = try observer.drain()
            let place = try #require(came.firstIndex { $0.name == "news" })
            #expect(place < 9_000 && came.count == 10_001, "\(place) of \(came.count)")
            #expect(came.filter { $0.name == "a" }.map { $0["object"] } == (0..<9_999).map { .string("\($0)") })
        }
    }

    /// The list drops what was replaced.
    @Test(.promise("7.25")) func manyReplacementsLeaveTheOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            var kept: [String] = []
            for round in 1...20 {
                for number in 0..<600 where number.isMultiple(of: round) {
                    let object = "\(number)"
                    try sender.send(["kind": "broadcast", "name": "a", "retain": true, "object": .string(object)])
                    kept.removeAll { $0 == object }
                    kept.append(object)
                }
            }
            try sender.settle()
            let came = try bus.module("Cat", ["observes": ["a"]]).drain()
            #expect(came.map { $0["object"]?.string ?? "" } == kept)
        }
    }
}
