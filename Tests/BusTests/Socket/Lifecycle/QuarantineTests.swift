import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// Deaths are counted per action. An action that was the only open one at three deaths is
/// quarantined.
@Suite(.timeLimit(.hang))
struct QuarantineTests {
    /// A test's bus, the launcher that it plays, and an operator's tool that asks.
    private struct Cast {
        let bus: TestBus
        let launcher: RawPeer
        let hand: RawPeer
        /// A process id that no process has.
        static let nobody: JSON = .integer(Int64(Int32.max))

        /// The module's next process says hello and becomes ready.
        /// - Parameter vouches: how often the launcher vouches for it first. It vouches again if
        ///   the row has changed.
        func arrive(byHand: Bool = false, vouches: Int = 1, hello: JSON = [:]) throws -> RawPeer {
            let token = JSON.string("token-\(Loop.nanoseconds)")
            let pid = JSON.integer(Int64(getpid()))
            // The same process id again would not count as a new process.
            try launcher.asked("bus/vouch", ["module": "Store", "token": "none", "pid": Self.nobody])
            for _ in 0..<vouches {
                try launcher.asked(
                    "bus/vouch", ["module": "Store", "token": token, "pid": pid, "byHand": .bool(byHand)])
            }
            let interfaces: JSON = hello["interfaces"] ?? ["Store": [:], "More": [:]]
            return try bus.module(
                "Store", ["token": token, "interfaces": interfaces, "observes": hello["observes"] ?? []])
        }

        /// A process dies with these calls open at it.
        @discardableResult
        func die(of actions: String..., hello: JSON = [:]) throws -> RawPeer {
            let store = try arrive(hello: hello)
            let ids = try actions.map { try hand.call($0) }
            for action in actions { try store.expectCall(action) }
            store.close()
            for id in ids { try hand.expectError(to: id, "died", ran: "maybe") }
            return store
        }

        func row() throws -> JSON {
            let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
            return try #require(rows.first { $0["name"]?.string == "Store" })
        }

        var quarantined: [String] {
            get throws { try row()["setAside"]?.array?.compactMap { $0["action"]?.string } ?? [] }
        }

        /// Lets time pass, by a call that is never answered.
        func pass(_ milliseconds: Int64) throws {
            let id = try hand.call("Clock/never", nil, ["deadline": .integer(milliseconds)])
            try hand.expectError(to: id, "deadline-exceeded")
        }
    }

    private func run(
        reset: UInt64 = 60_000, executable: Bool = false, _ change: (inout AppTable) -> Void = { _ in },
        _ test: (Cast) throws -> Void
    ) throws {
        let table = AppTable.testing(
            .manual("Store", provides: ["Store"]) { row in
                row.start = .async
                row.backoffReset = reset
                row.urls = [.init(host: "store", path: "/write", to: "Store/write")]
            }, .manual("Clock", provides: ["Clock"]), .manual("Hand", rank: 2)
        ) { change(&$0) }
        func play(_ bus: TestBus) throws {
            _ = try bus.provider("Clock", "Clock")
            try test(Cast(bus: bus, launcher: try bus.launcher(), hand: try bus.module("Hand")))
        }
        if executable {
            try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker"), play)
        } else {
            try MemoryBus.run(table, play)
        }
    }

    @Test(.promise("6.7", "R.12")) func theOnlyActionOpenAtThreeDeathsIsRefusedAndTheRestContinues() throws {
        try run { cast in
            for _ in 0..<3 { try cast.die(of: "Store/write") }
            // The module is down, and the refusal waits for nothing.
            let refused = try cast.hand.expectError(to: try cast.hand.call("Store/write"), "unavailable", ran: "no")
            for part in ["Store/write is quarantined", "Store died 3 times", "strata restart Store", " 60 s"] {
                #expect(refused.message.contains(part), "\(refused.message)")
            }
            let waiting = try cast.hand.call("Store/read")
            let store = try cast.arrive()
            try store.reply(to: try store.expectCall("Store/read"))
            try cast.hand.expectReply(to: waiting)
            // The same holds with the suffix, for an operator, and if the module is ready.
            try cast.hand.expectError(to: try cast.hand.call("StoreRouter/write"), "unavailable", ran: "no")
            let tool = try cast.bus.operator()
            try tool.expectError(to: try tool.call("Store/write"), "unavailable", ran: "no")
            try store.expectNothing()
            #expect(try cast.quarantined == ["Store/write"])
        }
    }

    @Test(.promise("6.7")) func severalCallsOfOneActionAreOne() throws {
        try run { cast in
            for _ in 0..<3 { try cast.die(of: "Store/write", "Store/write", "Store/write") }
            #expect(try cast.quarantined == ["Store/write"])
        }
    }

    @Test(.promise("6.7")) func neitherCountsIfTwoActionsWereOpen() throws {
        try run { cast in
            for _ in 0..<4 { try cast.die(of: "Store/write", "Store/read") }
            for _ in 0..<2 { try cast.die(of: "Store/write") }
            #expect(try cast.quarantined == [])
            try cast.die(of: "Store/write")
            #expect(try cast.quarantined == ["Store/write"])
        }
    }

    @Test(.promise("6.7"), .enabled(if: !TestBus.isHandedOverEachRound, "8 MiB would be written down in each round"))
    func undeliveredCallsDoNotCount() throws {
        try run({ $0.limits.queue = 64 << 20 }) { cast in
            for _ in 0..<3 {
                let store = try cast.arrive()
                let write = try cast.hand.call("Store/write")
                try store.expectCall("Store/write")
                // Far more than a socket takes, so the next call stays queued.
                let large = try cast.hand.call("Store/write", .filler(8 << 20))
                let queued = try cast.hand.call("Store/read")
                try cast.hand.settle()
                store.close()
                try cast.hand.expectError(to: write, "died", ran: "maybe")
                try cast.hand.expectError(to: large, "died", ran: "no")
                try cast.hand.expectError(to: queued, "died", ran: "no")
            }
            #expect(try cast.quarantined == ["Store/write"])
        }
    }

    @Test(.promise("6.10")) func whatTheAuthorizerAllowsMeanwhileIsRefusedToo() throws {
        let listed: JSON = ["interfaces": ["Store": ["actions": ["write": ["auth": true]]]]]
        let change: (inout AppTable) -> Void = {
            $0.authorizer = "Door"
            $0.modules.append(.manual("Door", provides: ["Door"]))
        }
        try run(change) { cast in
            let door = try cast.bus.provider("Door", "Door")
            for round in 1...3 {
                let store = try cast.arrive(hello: listed)
                let id = try cast.hand.call("Store/write")
                try door.reply(to: try door.expectCall("Door/authorize"), ["allow": true])
                try store.expectCall("Store/write")
                let later = try cast.hand.call("Store/write")
                let question = try door.expectCall("Door/authorize")
                store.close()
                try cast.hand.expectError(to: id, "died", ran: "maybe")
                if round < 3 {
                    try cast.hand.cancel(later)
                    try door.expect(["kind": "cancel"])
                }
                try door.reply(to: question, ["allow": true])
                try cast.hand.expectError(
                    to: later, round < 3 ? "cancelled" : "unavailable", ran: round < 3 ? nil : "no")
            }
        }
    }

    @Test(.promise("6.10")) func aURLThatLeadsThereIsUnavailableAndCanOpenSaysSo() throws {
        try run { cast in
            for _ in 0..<3 {
                let store = try cast.arrive()
                let id = try cast.hand.open("test://store/write")
                try store.expectCall("Store/write")
                store.close()
                try cast.hand.expectError(to: id, "died", ran: "maybe")
            }
            for isReady in [false, true] {
                let store = isReady ? try cast.arrive() : nil
                let id = try cast.hand.open("test://store/write")
                try cast.hand.expectError(to: id, "unavailable", ran: "no")
                let can = try cast.hand.asked("bus/canOpen", ["url": "test://store/write"])
                #expect(can.matches(["open": false, "to": "Store/write", "reason": "unavailable"]), "\(can)")
                try store?.expectNothing()
            }
        }
    }

    @Test(.promise("6.8")) func itMayBeCalledAgainWhenResetHasPassed() throws {
        try run(reset: 4_000) { cast in
            for _ in 0..<3 { try cast.die(of: "Store/write") }
            let store = try cast.arrive()
            try cast.hand.expectError(to: try cast.hand.call("Store/write"), "unavailable", ran: "no")
            try cast.pass(4_100)
            #expect(try cast.quarantined == [])
            #expect(try cast.hand.asked("bus/canOpen", ["url": "test://store/write"])["open"] == true)
            let id = try cast.hand.call("Store/write")
            try store.reply(to: try store.expectCall("Store/write"))
            try cast.hand.expectReply(to: id)
        }
    }

    @Test(.promise("6.12")) func theNextBrokerKnowsWhatWasOpenAndWhatIsQuarantined() throws {
        try run(executable: true) { cast in
            for _ in 0..<2 { try cast.die(of: "Store/write") }
            let store = try cast.arrive()
            let id = try cast.hand.call("Store/write")
            try store.expectCall("Store/write")
            try cast.bus.operator().asked("bus/handOver")
            store.close()
            try cast.hand.expectError(to: id, "died", ran: "maybe")
            #expect(try cast.quarantined == ["Store/write"])
            try cast.bus.operator().asked("bus/handOver")
            #expect(try cast.row()["lastDeath"]?["actions"] == ["Store/write"])
            try cast.hand.expectError(to: try cast.hand.call("Store/write"), "unavailable", ran: "no")
        }
    }

    @Test(.promise("6.8")) func deathsFurtherApartThanResetDoNotCount() throws {
        try run(reset: 250) { cast in
            for _ in 0..<4 {
                try cast.die(of: "Store/write")
                try cast.pass(150)
            }
            #expect(try cast.quarantined == [])
        }
    }

    @Test(.promise("6.8")) func onlyAPersonsRestartEndsTheQuarantine() throws {
        try run { cast in
            for _ in 0..<3 { try cast.die(of: "Store/write") }
            var store = try cast.arrive()
            try cast.hand.expectError(to: try cast.hand.call("Store/write"), "unavailable", ran: "no")
            store.close()
            store = try cast.arrive(byHand: true)
            let id = try cast.hand.call("Store/write")
            try store.reply(to: try store.expectCall("Store/write"))
            try cast.hand.expectReply(to: id)
            #expect(try cast.quarantined == [])
            store.close()
            // The count started again, too.
            for _ in 0..<2 { try cast.die(of: "Store/write") }
            #expect(try cast.quarantined == [])
        }
    }

    @Test func aRowThatChangesBeforeTheHelloLeavesAPersonsStartOne() throws {
        try run { cast in
            for _ in 0..<3 { try cast.die(of: "Store/write") }
            #expect(try cast.quarantined == ["Store/write"])
            _ = try cast.arrive(byHand: true, vouches: 2)
            #expect(try cast.quarantined == [])
        }
    }

    @Test(.promise("6.9")) func aModuleThatIsStoppedReplacedOrEndedByTheBrokerHasNotDied() throws {
        try run { cast in
            for kind in ["retired", "vouched anew", "garbage"] {
                for _ in 0..<3 {
                    let store = try cast.arrive()
                    let id = try cast.hand.call("Store/write")
                    try store.expectCall("Store/write")
                    switch kind {
                    case "retired":
                        try cast.launcher.asked("bus/retire", ["module": "Store"])
                        store.close()
                    case "vouched anew":
                        try cast.launcher.asked("bus/vouch", ["module": "Store", "token": "none", "pid": Cast.nobody])
                    default: try store.send(bytes: [0, 0, 0, 1, 0, 0, 0, 0], inPiecesOf: 8)
                    }
                    try cast.hand.expectError(to: id, "died", ran: "maybe")
                }
                #expect(try cast.quarantined == [], "\(kind)")
            }
        }
    }

    @Test(.promise("6.11")) func requestsThatWereOpenAtADeathAreReported() throws {
        try run { cast in
            let watch = try cast.hand.call("bus/watch", nil, ["credit": 1_000])
            try cast.die(of: "Store/write", "Store/read", "More/x", "Store/write")
            let text = "4 calls were open: Store/write, Store/read, More/x"
            let row = try cast.row()
            #expect(row["reason"]?.string == "closed; \(text)")
            #expect(row["lastDeath"]?["actions"] == ["Store/write", "Store/read", "More/x"])
            #expect(row["lastDeath"]?["calls"] == 4)
            let change: JSON = ["module": "Store", "state": "restarting", "reason": .string("closed; \(text)")]
            _ = try cast.hand.find(["kind": "reply", "id": .integer(Int64(watch))], body: change)
            // The launcher's reason is added to it.
            try cast.launcher.asked(
                "bus/moduleState", ["module": "Store", "state": "restarting", "reason": "signal 11"])
            #expect(try cast.row()["reason"]?.string == "signal 11; \(text)")
            // The text is about this death alone.
            let store = try cast.arrive()
            try cast.launcher.asked("bus/retire", ["module": "Store"])
            store.close()
            try cast.bus.waitUntil("Store", is: "absent")
            #expect(try cast.row()["reason"]?.string == "closed")
        }
    }

    @Test(.promise("6.11")) func theListOfWhatWasOpenIsBounded() throws {
        try run { cast in
            let store = try cast.arrive()
            for number in 0..<50 { _ = try cast.hand.call("Store/a\(number)") }
            try cast.hand.settle()
            for number in 0..<50 { try store.expectCall("Store/a\(number)") }
            store.close()
            try cast.bus.waitUntil("Store", is: "restarting")
            let reason = try #require(try cast.row()["reason"]?.string)
            #expect(
                reason.hasSuffix(
                    "50 calls were open: Store/a0, Store/a1, Store/a2, Store/a3, "
                        + "Store/a4, Store/a5, Store/a6, Store/a7 and 42 more"), "\(reason)")
        }
    }

    /// More names than are kept, of an interface that lists no actions.
    @Test(.promise("6.11"), .enabled(if: !TestBus.isHandedOverEachRound, "it takes 27,000 rounds"))
    func manyNamesOfActionsLeaveTheRightOneCounted() throws {
        try run({ $0.limits.calls = 100_000 }) { cast in
            for death in 1...3 {
                let store = try cast.arrive()
                _ = try cast.hand.call("Store/write")
                try store.expectCall("Store/write")
                // In two lives, so that numbers of names are reused.
                for first in stride(from: 0, to: death == 1 ? 0 : 9_000, by: 500) {
                    let numbers = first..<(first + 500)
                    let calls = numbers.map { number in
                        FrameBytes.frame(
                            [
                                "kind": "call", "id": .integer(Int64(100_000 + number)),
                                "to": .string("Store/a\(number)"),
                            ])
                    }
                    try cast.hand.send(bytes: Array(calls.joined()))
                    for number in numbers { try store.reply(to: try store.expectCall("Store/a\(number)")) }
                    for number in numbers { try cast.hand.expectReply(to: UInt64(100_000 + number)) }
                }
                store.close()
                try cast.bus.waitUntil("Store", is: "restarting")
            }
            #expect(try cast.quarantined == ["Store/write"])
        }
    }

    @Test(.promise("6.7")) func lifecycleStepsAndReportsAreNotActions() throws {
        try run { cast in
            for _ in 0..<4 {
                let store = try cast.arrive(hello: ["observes": ["news"]])
                let id = try cast.hand.report("news", to: "Store")
                _ = try store.expect(["kind": "notice", "name": "news"])
                store.close()
                _ = try cast.hand.answer(to: id)
            }
            #expect(try cast.row()["lastDeath"]?["calls"] == 0)
            #expect(try cast.quarantined == [])
        }
    }

    @Test(.promise("6.7")) func anInterfaceThatListsItsActionsIsTreatedAlike() throws {
        try run { cast in
            let listed: JSON = ["interfaces": ["Store": ["actions": ["write": [:], "read": [:]]]]]
            for _ in 0..<3 { try cast.die(of: "Store/write", hello: listed) }
            let store = try cast.arrive(hello: listed)
            try cast.hand.expectError(to: try cast.hand.call("Store/write"), "unavailable", ran: "no")
            let id = try cast.hand.call("Store/read")
            try store.reply(to: try store.expectCall("Store/read"))
            try cast.hand.expectReply(to: id)
        }
    }

    @Test(.promise("6.7")) func anAdapterLeadsToTheSameRefusal() throws {
        var adapter = AppTable.Adapter(name: "Keep", to: "Store")
        var action = AppTable.AdaptedAction(name: "put", to: "write")
        action.params = [.init(from: "a", to: "b")]
        adapter.actions = [action]
        try run({ $0.adapters = [adapter] }) { cast in
            for _ in 0..<3 {
                let store = try cast.arrive()
                let id = try cast.hand.call("Keep/put", ["a": 1])
                try store.expectCall("Store/write", ["b": 1])
                store.close()
                try cast.hand.expectError(to: id, "died", ran: "maybe")
            }
            for to in ["Keep/put", "Store/write"] {
                try cast.hand.expectError(to: try cast.hand.call(to, 1), "unavailable", ran: "no")
            }
        }
    }

    @Test(.promise("6.10")) func anAuthorizerThatDiesOfItsQuestionRefusesAtOnce() throws {
        let change: (inout AppTable) -> Void = { $0.authorizer = "Store" }
        try run(change) { cast in
            let guarded: JSON = ["interfaces": ["Guarded": ["actions": ["act": ["auth": true]]]]]
            cast.hand.close()
            let hand = try cast.bus.module("Hand", guarded)
            for _ in 0..<3 {
                let store = try cast.arrive()
                let id = try hand.call("Guarded/act")
                try store.expectCall("Store/authorize")
                store.close()
                try hand.expectError(to: id, "unauthorized", ran: "no")
            }
            let store = try cast.arrive()
            let refused = try hand.expectError(to: try hand.call("Guarded/act"), "unauthorized", ran: "no")
            #expect(refused.message.contains("Store/authorize is quarantined"), "\(refused.message)")
            try store.expectNothing()
        }
    }
}
