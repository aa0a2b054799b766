import StrataCore
import StrataTesting
import Testing

/// Rows with replicas in an app with nodes: other nodes see one module, and its node chooses the replica. `Worker` has
/// two in tokyo, and `Pool` two in berlin.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeReplicaTests {
    private static func table() -> AppTable {
        .twoNodes { table in
            table.join = 600_000
            for (name, node) in [("Worker", "tokyo"), ("Pool", "berlin")] {
                for number in 1...2 {
                    let replica = ReplicaName(row: name, number: number)
                    table.modules.append(
                        .manual(replica.description, provides: ["\(name)Work"]) {
                            ($0.replica, $0.placement) = (replica, .on([node]))
                        })
                }
            }
        }
    }

    private struct App {
        let nodes: TestNodes
        /// In berlin, as the pool.
        let notes: RawPeer
        let pool: [RawPeer]
        /// In tokyo, as the workers.
        let index: RawPeer
        let workers: [RawPeer]

        /// Waits until tokyo's broker has handled what Notes has sent.
        func settle() throws {
            let id = try notes.call("Index/settle")
            try index.reply(to: try index.find(["kind": "call", "to": "Index/settle"]))
            try notes.expectReply(to: id)
        }
    }

    private func run(isJoined: Bool = true, _ hello: JSON = [:], _ test: (App) throws -> Void) throws {
        try TestNodes.run(Self.table(), isJoined: isJoined) { nodes in
            let offer: JSON = ["interfaces": ["Index": [:]], "observes": ["pool.done"]]
            try test(
                App(
                    nodes: nodes, notes: try nodes.berlin.module("Notes"),
                    pool: try (1...2).map { try nodes.berlin.module("Pool~\($0)") },
                    index: try nodes.tokyo.module("Index", offer), workers: try nodes.tokyo.workers(1...2, hello)))
        }
    }

    @Test(.promise("N.53")) func anotherNodesCallsAreSharedByTheReplicas() throws {
        try run { app in
            var free: [Int] = []
            for number in 1...2 as ClosedRange<Int64> {
                let id = try app.notes.call("WorkerWork/run", .integer(number))
                try app.settle()
                let (worker, call) = try app.workers.taken("WorkerWork/run", .integer(number))
                #expect(call["from"] == "Notes" && call["node"] == "berlin")
                free.append(worker)
                guard number == 2 else { continue }
                try app.workers[worker].reply(to: call, "done")
                try app.notes.expectReply(to: id, body: "done")
            }
            #expect(free.sorted() == [0, 1])
            try app.notes.call("WorkerWork/run")
            try app.settle()
            #expect(try app.workers.taken("WorkerWork/run").index == free[1])
        }
    }

    @Test(.promise("N.53")) func aKeyMeansOneReplicaWhereverTheCallIsMade() throws {
        try run { app in
            for key in (1...8).map({ JSON.string("k\($0)") }) {
                var owners: Set<Int> = []
                for caller in [app.notes, app.index, app.notes] {
                    try caller.call("WorkerWork/run", nil, ["key": key])
                    try caller.settle()
                    try app.settle()
                    owners.insert(try app.workers.taken("WorkerWork/run").index)
                }
                #expect(owners.count == 1)
            }
        }
    }

    /// The key waits with its call.
    @Test(.promise("N.53")) func aKeyOutlastsTheWaitForItsNode() throws {
        try run(isJoined: false) { app in
            for _ in 1...4 { try app.notes.call("WorkerWork/run", nil, ["key": "k"]) }
            try app.nodes.join()
            var counts = [0, 0]
            for _ in 0..<100 where counts[0] + counts[1] < 4 {
                try app.settle()
                for (place, worker) in app.workers.enumerated() {
                    counts[place] += try worker.drain().filter { $0["to"] == "WorkerWork/run" }.count
                }
            }
            #expect(counts.sorted() == [0, 4])
        }
    }

    @Test(.promise("N.53")) func anInstanceStaysWithOneReplica() throws {
        try run(["interfaces": ["WorkerWork": ["instances": "multiple"]]]) { app in
            for worker in app.workers { worker.answersLifecycle = false }
            for number in 1...2 {
                let id = try app.notes.call("bus/create", ["interface": "WorkerWork"])
                try app.settle()
                let (owner, question) = try app.workers.taken("module/create")
                try app.workers[owner].reply(to: question)
                try app.notes.expectReply(to: id, body: ["instance": .string("WorkerWork#\(number)")])
                for _ in 1...3 {
                    try app.notes.call("WorkerWork#\(number)/add")
                    try app.settle()
                    let to = try #require(question.json["instance"]?.string)
                    #expect(try app.workers.taken("\(to)/add").index == owner)
                }
            }
        }
    }

    @Test(.promise("N.53")) func aReplicaIsNamedFromAnotherNode() throws {
        try run(["observes": ["note"]]) { app in
            for number in [2, 1] {
                try app.notes.call("WorkerWork~\(number)/run")
                try app.settle()
                #expect(try app.workers.taken("WorkerWork/run").index == number - 1)
                let id = try app.notes.report("note", to: "Worker~\(number)")
                let notice = try app.workers[number - 1].expectNotice("note")
                #expect(notice["from"] == "Notes" && notice["node"] == "berlin")
                try app.workers[number - 1].reply(to: notice)
                try app.notes.expectReply(to: id, body: ["observers": 1])
            }
            try app.notes.refused("WorkerWork~3/run", with: "unavailable", ran: "no")
            let id = try app.notes.report("note", to: "Worker~3")
            try app.notes.expectError(to: id, "unknown-module", ran: "no")
            let error = try app.notes.refused("WorkerWork~2@tokyo/run", with: "unknown-interface", ran: "no")
            #expect(error.message.contains("leave the node out"))
        }
    }

    @Test(.promise("N.53")) func aReplicaThatIsNamedIsNotWaitedFor() throws {
        try run(isJoined: false) { app in
            try app.notes.refused("WorkerWork~1/run", with: "unavailable", ran: "no")
        }
    }

    @Test(.promise("N.53")) func theRowIsReadyWhileOneOfItsReplicasIs() throws {
        try run { app in
            func expectState(_ word: String) throws {
                try app.settle()
                let rows = try app.notes.asked("bus/modules")["modules"]?.array ?? []
                #expect(rows.first { $0["name"] == "Worker" }?["state"]?.string == word)
            }
            try expectState("ready")
            app.workers[0].close()
            try app.index.settle()
            try expectState("ready")
            app.workers[1].close()
            try app.index.settle()
            try expectState("elsewhere")
        }
    }

    @Test(.promise("N.54")) func aReplicaIsItsRowToOtherNodes() throws {
        try run { app in
            for replica in app.pool {
                let id = try replica.call("Index/find")
                let call = try app.index.expectCall("Index/find", nil, ["from": "Pool", "node": "berlin"])
                try app.index.reply(to: call, ["found": 1])
                try replica.expectReply(to: id, body: ["found": 1])
            }
        }
    }

    /// The requests of one replica are its own, although the other node knows no replicas.
    @Test(.promise("N.54")) func aReplicasEndEndsItsRequestsAlone() throws {
        try run { app in
            let calls = try app.pool.map { replica in
                try replica.call("Index/find")
                return try app.index.expectCall("Index/find")
            }
            app.pool[0].close()
            try app.index.expect(["kind": "cancel", "id": calls[0].number])
            try app.index.reply(to: calls[1], "found")
            try app.pool[1].expect(["kind": "reply"], body: "found")
            try app.index.expectNothing()
        }
    }

    @Test(.promise("N.54")) func broadcastsComeFromTheRowAndEachReplicaRetainsItsOwn() throws {
        try run { app in
            try NodeNoticeTests.waitUntilObserved("pool.done", by: app.pool[0])
            try app.settle()
            _ = try app.index.drain()
            for (number, replica) in app.pool.enumerated() {
                let body = JSON.integer(Int64(number))
                try replica.expectReply(to: try replica.broadcast("pool.done", body, ["retain": true]))
                let notice = try app.index.expectNotice("pool.done", body)
                #expect(notice["from"] == "Pool" && notice["node"] == "berlin")
            }
            try app.index.asked("bus/observe", ["name": "pool.done"])
            for number in 0...1 as ClosedRange<Int64> {
                let notice = try app.index.expectNotice("pool.done", .integer(number))
                #expect(notice["from"] == "Pool" && notice["retained"] == true)
            }
        }
    }
}
