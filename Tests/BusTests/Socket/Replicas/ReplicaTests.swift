import StrataCore
import Testing

@testable import StrataTesting

/// Rows with replicas: which one gets a request, and what a death of one costs.
@Suite(.timeLimit(.hang))
struct ReplicaTests {
    @Test(.promise("6.51")) func aCallGoesToTheReadyReplicaWithTheFewestOpenRequests() throws {
        try TestBus.run(.replicas()) { bus in
            let workers = try bus.workers(1...3)
            let caller = try bus.module("Caller")
            // Three calls go to three replicas; the fourth to the one that has answered.
            var open: [Int: ReceivedFrame] = [:]
            for number in 1...3 as ClosedRange<Int64> {
                try caller.call("Compute/run", .integer(number))
                try caller.settle()
                let (index, call) = try workers.taken()
                #expect(open.updateValue(call, forKey: index) == nil && call["from"] == "Caller")
            }
            for free in [1, 0, 2] {
                try workers[free].reply(to: try #require(open[free]))
                try workers[free].settle()
                try caller.call("Compute/run")
                try caller.settle()
                let (index, call) = try workers.taken()
                #expect(index == free)
                open[free] = call
            }
        }
    }

    @Test(.promise("6.52")) func requestsWithOneKeyGoToOneReplicaAsLongAsItLives() throws {
        try TestBus.run(.replicas()) { bus in
            var workers = Dictionary(uniqueKeysWithValues: zip(1...3, try bus.workers(1...3)))
            let (caller, other) = (try bus.module("Caller"), try bus.module("Caller2"))
            /// Calls with each key, and says which replica got it.
            func ask(from caller: RawPeer) throws -> [String: Int] {
                var found: [String: Int] = [:]
                for key in (1...30).map({ "k\($0)" }) {
                    try caller.call("Compute/run", nil, ["key": .string(key)])
                    try caller.settle()
                    for (number, worker) in workers {
                        for call in try worker.drain() where call["to"] == "Compute/run" {
                            #expect(found.updateValue(number, forKey: key) == nil)
                            try worker.reply(to: call)
                            try worker.settle()
                        }
                    }
                }
                return found
            }
            let owners = try ask(from: caller)
            // Whoever calls, and however much is open elsewhere.
            #expect(try ask(from: other) == owners)
            #expect(owners.count == 30 && Set(owners.values) == [1, 2, 3])
            // Its death moves its keys alone, and a new process gets none back that others have by then.
            workers.removeValue(forKey: 2)?.close()
            try caller.settle()
            let after = try ask(from: caller)
            #expect(after.filter { owners[$0.key] != 2 } == owners.filter { $0.value != 2 })
            #expect(after.count == 30 && !after.values.contains(2))
            workers[2] = try bus.module("Worker~2")
            #expect(try ask(from: other) == after)
        }
    }

    @Test(.promise("6.52")) func aKeyHoldsForCallsThatWaitForTheirRowAndThenForTheAuthorizer() throws {
        let table = AppTable.replicas(2) {
            $0.start = .onDemand
        } with: {
            $0.authorizer = "Guard"
            $0.modules.append(.manual("Gate", provides: ["Guard"]))
        }
        try TestBus.run(table) { bus in
            let (launcher, gate) = (try bus.launcher(), try bus.provider("Gate", "Guard"))
            let caller = try bus.module("Caller")
            let ids = try (1...4).map { _ in try caller.call("Compute/run", nil, ["key": "k"]) }
            for _ in 1...2 { try launcher.reply(to: try launcher.expect(["kind": "call", "to": "launcher/start"])) }
            let hello: JSON = ["interfaces": ["Compute": ["actions": ["run": ["auth": true]]]]]
            let workers = try (1...2).map { number in
                let name = "Worker~\(number)"
                return try bus.module(name, hello.with(["token": .string(try bus.vouch(for: name))]))
            }
            for _ in ids { try gate.reply(to: try gate.expectCall("Guard/authorize"), ["allow": true]) }
            for peer in [gate, caller] { try peer.settle() }
            let counts = try workers.map { try $0.drain().count { $0["to"] == "Compute/run" } }
            #expect(counts.sorted() == [0, ids.count])
        }
    }

    @Test(.promise("6.53")) func aDeathEndsItsOwnRequestsAlone() throws {
        try TestBus.run(.replicas(2)) { bus in
            let workers = try bus.workers(1...2)
            let caller = try bus.module("Caller")
            let ids = [try caller.call("Compute/run", 1), try caller.call("Compute/run", 2)]
            try caller.settle()
            let calls = try workers.map { try $0.expectCall("Compute/run") }
            workers[0].close()
            let lost = calls[0].json == 1 ? ids[0] : ids[1]
            let error = try caller.expectError(to: lost, "died", ran: "maybe")
            #expect(error["message"]?.string?.contains("Worker~1") == true)
            try workers[1].reply(to: calls[1])
            try caller.expectReply(to: ids.first { $0 != lost }!)
            // The other one serves alone.
            for _ in 1...3 {
                let id = try caller.call("Compute/run")
                try workers[1].reply(to: try workers[1].expectCall("Compute/run"))
                try caller.expectReply(to: id)
            }
        }
    }

    @Test(.promise("6.54")) func requestsWaitForTheFirstReplicaThatIsReady() throws {
        try TestBus.run(.replicas(2) { $0.start = .onDemand }) { bus in
            let (launcher, caller) = (try bus.launcher(), try bus.module("Caller"))
            let ids = try (1...3 as ClosedRange<Int64>).map {
                try caller.call("Compute/run", .integer($0), ["key": "one"])
            }
            for number in 1...2 {
                let start = try launcher.expect(["kind": "call", "to": "launcher/start"])
                #expect(start.json["module"]?.string == "Worker~\(number)")
                try launcher.reply(to: start)
            }
            let worker = try bus.module("Worker~2", ["token": .string(try bus.vouch(for: "Worker~2"))])
            for number in 1...3 as ClosedRange<Int64> {
                try worker.reply(to: try worker.expectCall("Compute/run", .integer(number)))
            }
            for id in ids { try caller.expectReply(to: id) }
        }
    }

    @Test(.promise("6.54")) func requestsThatWaitEndWhenNoReplicaCanBeStarted() throws {
        try TestBus.run(.replicas(2) { $0.start = .onDemand }) { bus in
            let (launcher, caller) = (try bus.launcher(), try bus.module("Caller"))
            let id = try caller.call("Compute/run")
            for number in 1...2 {
                try launcher.reply(to: try launcher.expect(["kind": "call", "to": "launcher/start"]))
                #expect(try caller.drain().isEmpty)
                try launcher.asked(
                    "bus/moduleState", ["module": .string("Worker~\(number)"), "state": "failed", "reason": "no"])
            }
            let error = try caller.expectError(to: id, "unavailable", ran: "no")
            #expect(error["message"]?.string?.contains("Worker~1") == true, "\(error)")
            try caller.refused("Compute/run", with: "unavailable")
        }
    }

    @Test(.promise("6.54")) func aRequestForWhatNoReplicaBringsAnyMoreIsRefusedAndHoldsUpNobody() throws {
        try TestBus.run(.replicas(1) { $0.start = .onDemand }) { bus in
            let (launcher, caller) = (try bus.launcher(), try bus.module("Caller"))
            func worker(_ interfaces: JSON) throws -> RawPeer {
                try bus.module(
                    "Worker~1", ["token": .string(try bus.vouch(for: "Worker~1")), "interfaces": interfaces])
            }
            let old = try worker(["Compute": [:], "Extra": [:]])
            let retire = try launcher.call("bus/retire", ["module": "Worker~1"])
            try launcher.expectReply(to: retire)
            let extra = try caller.call("Extra/go", nil, ["key": "one"])
            let compute = try caller.call("Compute/run", nil, ["key": "two"])
            try caller.settle()
            old.close()
            try launcher.settle()
            try launcher.asked("bus/moduleState", ["module": "Worker~1", "state": "starting"])
            let new = try worker(["Compute": [:]])
            try new.reply(to: try new.expectCall("Compute/run"))
            try caller.expectReply(to: compute)
            #expect(try caller.answer(to: extra).kind == "error")
        }
    }

    @Test(.promise("6.57")) func anActionThatEndsOneReplicaAfterTheOtherIsQuarantinedAtAll() throws {
        try TestBus.run(.replicas(4)) { bus in
            let workers = try bus.workers(1...4)
            let caller = try bus.module("Caller")
            for _ in 1...3 {
                let id = try caller.call("Compute/poison")
                try caller.settle()
                let open = workers.filter { !$0.link.isAtEnd }
                let (index, _) = try open.taken("Compute/poison")
                open[index].close()
                try caller.expectError(to: id, "died")
            }
            let error = try caller.refused("Compute/poison", with: "unavailable")
            #expect(error.message.contains("quarantined"), "\(error.message)")
            let id = try caller.call("Compute/other")
            try caller.settle()
            let left = workers.filter { !$0.link.isAtEnd }
            let (index, call) = try left.taken("Compute/other")
            try left[index].reply(to: call)
            try caller.expectReply(to: id)
        }
    }

    @Test(.promise("7.33")) func aReportToTheRowGoesToOneAndToAReplicaToThatOne() throws {
        try TestBus.run(.replicas(2)) { bus in
            let workers = try bus.workers(1...2, ["observes": ["done"]])
            let caller = try bus.module("Caller")
            for name in ["Worker", "Worker~2", "Worker~1"] {
                let id = try caller.report("done", to: name)
                try caller.settle()
                let notices = try workers.map { try $0.drain().filter { $0.kind == "notice" } }
                #expect(notices.flatMap { $0 }.count == 1)
                if let replica = ReplicaName(name) { #expect(notices[replica.number - 1].count == 1) }
                for (worker, notices) in zip(workers, notices) {
                    for notice in notices { try worker.reply(to: notice) }
                }
                try caller.expectReply(to: id)
            }
            try caller.refused("bus/metrics", ["module": "Worker"], with: "forbidden")
            try caller.expectError(to: try caller.report("done", to: "Worker~3"), "unknown-module", ran: "no")
        }
    }

    @Test(.promise("7.32")) func oneOfThoseThatShareGetsABroadcastAndTheOthersGetTheirs() throws {
        try TestBus.run(.replicas(3) { $0.rank = 1 }) { bus in
            let ground = try bus.module("Ground")
            let workers = try bus.workers(1...3, ["observes": [["name": "work", "share": true], ["name": "news"]]])
            #expect(try ground.recipients(ofBroadcast: "news") == 3)
            for worker in workers { try worker.expectNotice("news") }
            for _ in 1...6 { #expect(try ground.recipients(ofBroadcast: "work") == 1) }
            let counts = try workers.map { try $0.drain().filter { $0["name"] == "work" }.count }
            #expect(counts == [2, 2, 2])
            // The one that the bus knows for all of them goes; the others share on.
            workers[0].close()
            try ground.settle()
            for _ in 1...4 { #expect(try ground.recipients(ofBroadcast: "work") == 1) }
            #expect(try workers[1...].map { try $0.drain().filter { $0["name"] == "work" }.count } == [2, 2])
        }
    }

    @Test(.promise("7.32")) func aBroadcastReachesOneThatSharesEvenIfTheFirstEndsMeanwhile() throws {
        let table = AppTable.replicas(2) {
            $0.rank = 1
        } with: {
            $0.limits.queue = 100_000
        }
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            let ground = try bus.module("Ground")
            let observes: JSON = ["observes": ["work", ["name": "work", "share": true]]]
            let (first, second) = (try bus.module("Worker~1", observes), try bus.module("Worker~2", observes))
            // The first one ends for its own notice, before the shared one's turn.
            first.isPaused = true
            try ground.settle()
            _ = try second.drain()
            var shared = 0
            for number in 1...8 as ClosedRange<Int64> {
                try ground.broadcast("work", [.integer(number), .filler(40_000)])
                try ground.settle()
                shared = try second.drain().count { $0["name"] == "work" && $0["subscription"] == 2 }
                #expect(try second.drain().isEmpty)
                if first.link.isAtEnd || shared > 0 && number > 4 { break }
            }
            #expect(shared == 1)
        }
    }

    @Test(.promise("6.55")) func aReplicaIsCalledByItsNumber() throws {
        try TestBus.run(.replicas(3)) { bus in
            let workers = try bus.workers(1...2)
            let caller = try bus.module("Caller")
            for _ in 1...3 {
                let id = try caller.call("Compute~2/run", 7)
                try workers[1].reply(to: try workers[1].expectCall("Compute/run", 7))
                try caller.expectReply(to: id)
            }
            try caller.refused("Compute~3/run", with: "unavailable")
            try caller.refused("Compute~9/run", with: "unavailable")
            try caller.refused("Nothing~1/run", with: "unknown-interface")
            for text in ["Compute~0/run", "Compute~/run", "Compute~01/run", "Compute~65/run", "Compute~1~2/run"] {
                try caller.refused(text, with: "unknown-interface")
            }
        }
    }

    @Test(.promise("3.15"), arguments: ["", String(repeating: "k", count: 65)]) func aKeyHas1To64Bytes(key: String)
        throws
    {
        try TestBus.run(.replicas()) { bus in
            let caller = try bus.module("Caller")
            try caller.call("Compute/run", nil, ["key": .string(key)])
            try caller.expectEnd("bad-header")
        }
    }

    @Test(.promise("3.15")) func aKeyOf64BytesPassesAndMeansNothingForAModuleWithoutReplicas() throws {
        try TestBus.run(.replicas(1)) { bus in
            let ground = try bus.provider("Ground", "Plain")
            let caller = try bus.module("Caller")
            let id = try caller.call("Plain/go", nil, ["key": .string(String(repeating: "k", count: 64))])
            let call = try ground.expectCall("Plain/go")
            #expect(call["key"] == nil)
            try ground.reply(to: call)
            try caller.expectReply(to: id)
        }
    }

    @Test(.promise("5.62")) func theRowItselfIsNoModuleAndNoGuestTakesAReplicasName() throws {
        try TestBus.run(
            .replicas(2) { _ in
            } with: {
                $0.guests = .init(rank: 2, most: 4)
            }
        ) { bus in
            let one = try bus.connect("one")
            try one.expectRefusal(of: try one.sendHello("Worker"), "unknown-module")
            let other = try bus.connect("other")
            let refusal = try other.expectError(to: try other.sendHello("Guest~1", [:]), "unknown-module", ran: "no")
            #expect(refusal["message"]?.string?.contains("replica") == true)
        }
    }

    @Test(.promise("6.56")) func instancesStayWithTheReplicaThatMadeThem() throws {
        try TestBus.run(.replicas(2) { $0.provides = ["Cart"] }) { bus in
            let workers = try bus.workers(1...2, ["interfaces": ["Cart": ["instances": "multiple"]]])
            let caller = try bus.module("Caller")
            let names = try (1...4).map { _ in
                try #require(try caller.asked("bus/create", ["interface": "Cart"])["instance"]?.string)
            }
            var owners: [Set<Int>] = []
            for name in names {
                var owner: Set<Int> = []
                for _ in 1...3 {
                    let id = try caller.call("\(name)/add", nil, ["key": "other"])
                    try caller.settle()
                    let (index, call) = try workers.taken("\(name)/add")
                    owner.insert(index)
                    try workers[index].reply(to: call)
                    try caller.expectReply(to: id)
                }
                owners.append(owner)
            }
            #expect(owners.allSatisfy { $0.count == 1 } && Set(owners.flatMap { $0 }) == [0, 1], "\(owners)")
        }
    }

    @Test func theirURLsAreListedOnceWhetherTheyRunOrNot() throws {
        try TestBus.run(.replicas { $0.urls = [.init(host: "sum", path: "/:n", to: "Compute/run")] }) { bus in
            let caller = try bus.module("Caller")
            func listed() throws -> JSON? {
                let all = try caller.asked("bus/interfaces")["interfaces"]?.array ?? []
                return all.first { $0["name"] == "Compute" }?["urls"]
            }
            let declared: JSON = ["host": "sum", "path": "/:n", "to": "Compute/run"]
            #expect(try listed() == .array([declared]))
            let own: JSON = ["host": "all", "path": "/", "to": "Compute/run"]
            _ = try bus.workers(1...2, ["urls": .array([own, declared])])
            #expect(try listed() == .array([own, declared]))
        }
    }
}
