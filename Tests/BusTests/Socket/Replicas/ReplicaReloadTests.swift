import StrataCore
import StrataTesting
import TestSupport
import Testing

/// Rows with replicas under a reload, as `strata scale` makes one, and under a hand-over.
@Suite(.timeLimit(.hang))
struct ReplicaReloadTests {
    @Test(.promise("10.61")) func moreReplicasServeAtOnceAndOneThatGoesFinishes() throws {
        func table(_ count: Int) -> AppTable { .replicas(count) { $0.start = .onDemand } }
        try TestBus.run(table(1)) { bus in
            func worker(_ number: Int) throws -> RawPeer {
                let token = try bus.vouch(for: "Worker~\(number)")
                return try bus.provider("Worker~\(number)", "Compute", ["token": .string(token)])
            }
            let first = try worker(1)
            let caller = try bus.module("Caller")
            #expect(try bus.reload(table(2)).kind == "reply")
            let second = try worker(2)
            let ids = [try caller.call("Compute/run", 1), try caller.call("Compute/run", 2)]
            try caller.settle()
            let calls = try [first, second].map { try $0.expectCall("Compute/run") }
            #expect(try bus.reload(table(1)).kind == "reply")
            // The second one gets nothing new, and what it has is answered.
            for _ in 1...3 { try caller.call("Compute/run", 3) }
            try caller.settle()
            #expect(try first.drain().filter { $0.kind == "call" }.count == 3)
            #expect(try second.drain().filter { $0["to"] == "Compute/run" }.isEmpty)
            try second.reply(to: calls[1])
            try caller.expectReply(to: ids[Int(calls[1].json.integer ?? 1) - 1])
        }
    }

    @Test(.promise("10.61")) func aRowMayGetReplicasAndLoseThem() throws {
        let plain = AppTable.testing(.manual("Worker", provides: ["Compute"]), .manual("Caller", rank: 2))
        try TestBus.run(plain) { bus in
            let caller = try bus.module("Caller")
            for table in [.replicas(2), plain, .replicas(1), plain] as [AppTable] {
                #expect(try bus.reload(table).kind == "reply")
                let name = table == plain ? "Worker" : "Worker~1"
                let worker = try bus.provider(name, "Compute")
                let id = try caller.call("Compute/run")
                try worker.reply(to: try worker.expectCall("Compute/run"))
                try caller.expectReply(to: id)
                worker.close()
                try caller.settle()
                try caller.refused("Compute/run", with: "unavailable")
            }
        }
    }

    @Test(.promise("10.61")) func anotherLevelHoldsFromTheNextSessionsOn() throws {
        let table = AppTable.replicas(2) {
            $0.rank = 1
        } with: {
            $0.calls = .layered
        }
        try TestBus.run(table) { bus in
            let workers = try bus.workers(1...2)
            let caller = try bus.provider("Ground", "Plain")
            try caller.refused("Compute/run", with: "level-violation")
            var lower = table
            for place in 0...1 { lower.modules[place].rank = 0 }
            #expect(try bus.reload(lower).kind == "reply")
            try caller.refused("Compute/run", with: "level-violation")
            for worker in workers { worker.close() }
            try caller.settle()
            let again = try bus.workers(1...2)
            try caller.call("Compute/run")
            try caller.settle()
            _ = try again.taken()
        }
    }

    @Test(.promise("10.61", "13.61")) func aRowThatLosesItsReplicasIsServedWhileTheyFinishEvenByAnotherProgram() throws
    {
        let plain = AppTable.testing(.manual("Worker", provides: ["Compute"]), .manual("Caller", rank: 2))
        let table = AppTable.replicas(2) { $0.start = .onDemand }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let url: JSON = ["urls": [["host": "h", "path": "/p", "to": "Compute/run"]]]
            let interfaces: JSON = ["interfaces": ["Compute": [:], "Extra": [:]]]
            let old = try (1...2).map { number in
                let token: JSON = ["token": .string(try bus.vouch(for: "Worker~\(number)"))]
                return try bus.module("Worker~\(number)", interfaces.with(url).with(token))
            }
            let caller = try bus.module("Caller")
            let open = try caller.call("Compute/run")
            try caller.settle()
            let (index, call) = try old.taken()
            #expect(try bus.reload(plain).kind == "reply")
            // What the row doesn't name is the old ones' until they end.
            let worker = try bus.provider("Worker", "Compute")
            try bus.operator().asked("bus/handOver")
            func isServed(by worker: RawPeer, extra: Bool = false) throws {
                for to in ["Compute/run"] + (extra ? ["Extra/go"] : []) {
                    let id = try caller.call(to)
                    try worker.reply(to: try worker.expectCall(to))
                    try caller.expectReply(to: id)
                }
                guard extra else { return }
                let id = try caller.open("test://h/p")
                try worker.reply(to: try worker.expectCall("Compute/run"))
                try caller.expectReply(to: id)
            }
            try isServed(by: worker)
            try old[index].reply(to: call)
            try caller.expectReply(to: open)
            for peer in old { peer.close() }
            try caller.settle()
            try isServed(by: worker)
            worker.close()
            try caller.settle()
            try isServed(by: try bus.module("Worker", interfaces.with(url)), extra: true)
        }
    }

    @Test(.promise("13.61")) func keysWaitingRequestsAndWhatIsSharedOutliveTheBrokersProgram() throws {
        let table = AppTable.replicas(3) { ($0.rank, $0.start) = (1, .onDemand) }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let (launcher, ground, caller) = (try bus.launcher(), try bus.module("Ground"), try bus.module("Caller"))
            let waiting = try (1...2 as ClosedRange<Int64>).map {
                try caller.call("Compute/run", .integer($0), ["key": "first"])
            }
            for _ in 1...3 { try launcher.reply(to: try launcher.expect(["kind": "call", "to": "launcher/start"])) }
            try bus.operator().asked("bus/handOver")
            let hello: JSON = ["observes": [["name": "work", "share": true]]]
            let workers = try (1...3).map { number in
                let name = "Worker~\(number)"
                return try bus.module(name, hello.with(["token": .string(try bus.vouch(for: name))]))
            }
            for (number, id) in zip(1...2 as ClosedRange<Int64>, waiting) {
                try workers[0].reply(to: try workers[0].expectCall("Compute/run", .integer(number)))
                try caller.expectReply(to: id)
            }
            func owners() throws -> [Int] {
                try (1...20).map { key in
                    try caller.call("Compute/run", nil, ["key": .string("k\(key)")])
                    try caller.settle()
                    let (index, call) = try workers.taken()
                    try workers[index].reply(to: call)
                    try workers[index].settle()
                    return index
                }
            }
            let before = try owners()
            #expect(Set(before) == [0, 1, 2])
            try bus.operator().asked("bus/handOver")
            #expect(try owners() == before)
            for _ in 1...3 { #expect(try ground.recipients(ofBroadcast: "work") == 1) }
            #expect(try workers.map { try $0.drain().count { $0["name"] == "work" } } == [1, 1, 1])
        }
    }
}
