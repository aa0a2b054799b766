import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 13: how much one module may retain.
@Suite(.timeLimit(.hang))
struct RetainedLimitTests {
    private func retain(_ name: String, _ body: JSON = 1, of peer: RawPeer) throws -> ReceivedFrame {
        try peer.answer(to: try peer.broadcast(name, body, ["retain": true]))
    }

    @Test(.promise("13.45", "10.14")) func atTheNumberOneMoreIsRefusedAndNobodyGetsIt() throws {
        let memory = MemoryBus(.sixModules { $0.limits.retained = 2 }, isLaunched: false)
        try TestBus(.sixModules { $0.limits.retained = 2 }, memory).run { bus in
            let (sender, other) = (try bus.module("Ant"), try bus.module("Ant2"))
            #expect(sender.welcome["limits"]?["retained"] == 2)
            let observer = try bus.module("Cat", ["observes": ["c"]])
            for name in ["a", "b"] { #expect(try retain(name, of: sender).kind == "reply") }
            let refusal = try retain("c", of: sender)
            #expect(refusal.code == "overloaded" && refusal.ran == "no")
            #expect(refusal.message.contains("limits.retained"), "\(refusal)")
            try sender.send(["kind": "broadcast", "name": "c", "retain": true])
            try sender.expectRemark("overloaded")
            try observer.expectNothing()
            // Another one of a key counts no more, and each module has its own limit.
            #expect(try retain("a", 2, of: sender).kind == "reply")
            #expect(try retain("c", of: other).kind == "reply")
            func used() throws -> [JSON?] {
                let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
                return ["Ant", "Ant2"].map { name in rows.first { $0["name"]?.string == name }?["usage"]?["retained"] }
            }
            #expect(try used() == [2, 1])
            try sender.asked("bus/forget", ["name": "a"])
            #expect(try retain("c", of: sender).kind == "reply")
            #expect(try used() == [2, 1])
        }
    }

    @Test(.promise("13.46")) func theBytesOfOneModuleAreBounded() throws {
        try MemoryBus.run(.sixModules { $0.limits.queue = 100_000 }) { bus in
            let sender = try bus.module("Ant")
            // A single one may exceed the limit.
            #expect(try retain("a", .filler(150_000), of: sender).kind == "reply")
            let refusal = try retain("b", of: sender)
            #expect(refusal.code == "overloaded" && refusal.message.contains("limits.queue"), "\(refusal)")
            #expect(try retain("a", .filler(160_000), of: sender).kind == "reply")
            #expect(try retain("a", .filler(60_000), of: sender).kind == "reply")
            #expect(try retain("b", .filler(30_000), of: sender).kind == "reply")
            #expect(try retain("b", .filler(45_000), of: sender).code == "overloaded")
            let observer = try bus.module("Cat", ["observes": ["b"]])
            #expect(try observer.expectNotice("b").body.count == 30_002)
        }
    }

    /// A hostile peer retains as much as it may, and `total` has all of it back when it ends.
    @Test(.promise("13.47", "13.21")) func whatIsRetainedCountsForAllPeersTogetherUntilItEnds() throws {
        let table = AppTable.sixModules { table in
            table.limits.total = 1 << 20
            table.guests = .init(rank: 0, most: 20)
        }
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            _ = try bus.operator()
            let before = memory.broker.bus.waitingBytes
            let guests = try (0..<10).map { try bus.module("Guest\($0)") }
            for guest in guests {
                for number in 0..<100 { _ = try retain("\(number)", .filler(40_000), of: guest) }
            }
            let used = memory.broker.bus.waitingBytes - before
            #expect(used > 300_000 && used <= (1 << 20) + 10 * (64 << 10), "\(used)")
            let refusal = try retain("more", .filler(40_000), of: guests[0])
            #expect(refusal.code == "overloaded" && refusal.message.contains("limits.total"), "\(refusal)")
            // Each may have 64 KiB.
            #expect(try retain("small", of: try bus.module("Late")).kind == "reply")
            for guest in guests { guest.close() }
            try bus.operator().settle()
            #expect(memory.broker.bus.retained.textBytes < 1_000)
            #expect(memory.broker.bus.waitingBytes - before < 1_000)
        }
    }
}
