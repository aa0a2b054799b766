import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// `bus/handOver`: the broker replaces its program in place, and no peer notices.
@Suite(.timeLimit(.hang))
struct HandOverTests {
    private func run(_ table: AppTable = .sixModules(), _ test: (TestBus) throws -> Void) throws {
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { try test($0) }
    }

    private func id(_ number: UInt64) -> JSON { .integer(Int64(number)) }

    @discardableResult
    private func handOver(_ bus: TestBus) throws -> JSON { try bus.operator().asked("bus/handOver") }

    @Test(.promise("R.20")) func openCallsStreamsAndReportsContinue() throws {
        try run { bus in
            let owner = try bus.provider("Ant", "Shop", ["observes": ["sold"]])
            let caller = try bus.module("Bee")
            let call = try caller.call("Shop/buy", 1, ["deadline": 60_000])
            let bought = try owner.expectCall("Shop/buy", 1)
            let child = try owner.call("Shop/inner", 2, ["parent": bought.number])
            let inner = try owner.expectCall("Shop/inner", 2)
            let stream = try caller.call("Shop/list", nil, ["credit": 2])
            let list = try owner.expectCall("Shop/list")
            try owner.reply(to: list, 1, ["more": true])
            try caller.expect(["kind": "reply", "id": id(stream), "more": true], body: 1)
            let report = try caller.report("sold", to: "Ant", 3)
            let notice = try owner.expectNotice("sold", 3, ["via": "report"])

            let answer = try handOver(bus)
            #expect(answer["connections"] == 3)
            // Including the hand-over's own request, and the notice beside its report.
            #expect(answer["requests"] == 6)

            try owner.reply(to: notice)
            try caller.expectReply(to: report, body: ["observers": 1])
            // One of the two credits is left, and another one is given.
            try owner.reply(to: list, 2, ["more": true])
            try caller.expect(["kind": "reply", "id": id(stream), "more": true], body: 2)
            try caller.credit(stream, 1)
            try owner.expect(["kind": "credit", "id": list.number, "credit": 1])
            try owner.reply(to: list, 3)
            try caller.expectReply(to: stream, body: 3)
            // A parent that ends takes its child with it.
            try caller.cancel(call)
            try caller.expectError(to: call, "cancelled", ran: "maybe")
            try owner.expect(["kind": "cancel", "id": bought.number])
            try owner.find(["kind": "cancel", "id": inner.number])
            try owner.expectError(to: child, "cancelled")
        }
    }

    @Test func namesObservationsAndInstancesStay() throws {
        try run { bus in
            let owner = try bus.module(
                "Ant",
                ["interfaces": ["Cart": ["instances": "multiple"], "Till": ["actions": ["ring": [:]]]]])
            let user = try bus.module("Bee", ["observes": ["price", ["name": "stock", "object": "pears"]]])
            let instance = try user.asked("bus/create", ["interface": "Cart"])["instance"]?.string ?? ""

            try handOver(bus)

            let add = try user.call("\(instance)/add", 1)
            try owner.reply(to: try owner.expectCall("\(instance)/add", 1))
            try user.expectReply(to: add)
            try bus.operator().refused("\(instance)/add", with: "unknown-instance")
            try user.refused("Till/close", with: "unknown-action")
            #expect(try owner.recipients(ofBroadcast: "price", 1) == 1)
            try user.expectNotice("price", 1, ["subscription": 1])
            #expect(try owner.recipients(ofBroadcast: "stock", 1, ["object": "apples"]) == 0)
            #expect(try owner.recipients(ofBroadcast: "stock", 2, ["object": "pears"]) == 1)
            try user.expectNotice("stock", 2, ["subscription": 2])
            // A name is still taken, and the next instance has another number.
            let other = try bus.connect("another Ant")
            try other.expectRefusal(of: try other.sendHello("Ant"), "name-taken")
            #expect(try user.asked("bus/create", ["interface": "Cart"])["instance"]?.string != instance)
            // An instance's owner is notified of its end.
            try user.asked("bus/release", ["instance": .string(instance)])
            try owner.expectCall("module/released", ["instance": .string(instance)])
        }
    }

    @Test func partialFramesAndUnreadQueuesContinue() throws {
        try run { bus in
            let owner = try bus.provider("Ant", "Big")
            let slow = try bus.module("Bee")
            slow.isPaused = true
            let large = try slow.call("Big/act")
            let body = JSON.filler(3_000_000)
            try owner.reply(to: try owner.expectCall("Big/act"), body)
            try owner.settle()
            // A quarter of a small frame, and of a large one.
            let small = FrameBytes.frame(["kind": "call", "id": 900, "to": "bus/ping"])
            try owner.send(bytes: Array(small.prefix(small.count / 4)))
            let huge = FrameBytes.frame(["kind": "call", "id": 901, "to": "bus/ping"], body: .filler(2_000_000))
            let sender = try bus.module("Cat")
            try sender.send(bytes: Array(huge.prefix(huge.count / 4)))
            try bus.operator().settle()

            try handOver(bus)
            try handOver(bus)

            try owner.send(bytes: Array(small.dropFirst(small.count / 4)))
            try owner.expectReply(to: 900)
            try sender.send(bytes: Array(huge.dropFirst(huge.count / 4)))
            try sender.expectReply(to: 901)
            slow.isPaused = false
            try slow.expectReply(to: large, body: body)
            try slow.settle()
        }
    }

    @Test func waitingRequestsStartsAndDeadlinesContinue() throws {
        let table = AppTable.testing(
            .manual("Bee"), .eager("Late", provides: ["Late"]) { $0.start = .async },
            .manual("Gate", provides: ["Gate"])
        ) { $0.authorizer = "Gate" }
        try run(table) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.provider("Bee", "Till", ["events": ["shift.ended"]])
            let gate = try bus.module(
                "Gate", ["interfaces": ["Gate": [:], "Safe": ["actions": ["open": ["auth": true]]]]])
            let first = try caller.call("Late/act", 1)
            let second = try caller.call("Late/act", 2)
            let safe = try caller.call("Safe/open", 3)
            let question = try gate.expectCall("Gate/authorize", 3, ["from": "bus"])
            let brief = try caller.call("Till/hang", nil, ["deadline": 1_500])
            try caller.expectCall("Till/hang")
            let event = try bus.operator().call(
                "bus/emit", nil, ["name": "shift.ended", "meta": ["policy": "all"]])
            let ended = try caller.find(["kind": "call", "to": "module/event", "name": "shift.ended"])
            let token = try bus.vouch(for: "Late")
            let late = try bus.connect("Late")
            try late.hello("Late", ["token": .string(token), "interfaces": ["Late": [:]]])
            let setUp = try late.expectCall("module/setUp")

            let waiting = try bus.connect("another tool")
            try waiting.hello(role: "operator")
            try waiting.asked("bus/handOver")

            try caller.expectError(to: brief, "deadline-exceeded", ran: "maybe")
            try caller.reply(to: ended, true)
            try bus.operator().expectReply(to: event, body: ["answer": true])
            try gate.reply(to: question, ["allow": true])
            try gate.reply(to: try gate.expectCall("Safe/open", 3), 4)
            try caller.expectReply(to: safe, body: 4)
            try late.reply(to: setUp)
            try late.reply(to: try late.expectCall("module/initialize"))
            for (id, body) in [(first, 1), (second, 2)] as [(UInt64, JSON)] {
                try late.reply(to: try late.find(["kind": "call", "to": "Late/act"], body: body), body)
                try caller.expectReply(to: id, body: body)
            }
            try launcher.asked("bus/moduleState", ["module": "Late", "state": "starting", "reason": "a test"])
        }
    }

    @Test func watchesAndMonitorsContinue() throws {
        try run { bus in
            let tool = try bus.operator()
            let watch = try tool.call("bus/watch", nil, ["credit": 100])
            let monitor = try tool.call("bus/monitor", ["name": "price"], ["credit": 100])
            try tool.settle()
            let other = try bus.connect("another tool")
            try other.hello(role: "operator")
            try other.asked("bus/handOver")
            _ = try tool.drain()
            let ant = try bus.module("Ant")
            try ant.broadcast("price", 1)
            try tool.find(["kind": "reply", "id": id(watch)], body: ["module": "Ant", "state": "ready"])
            try tool.find(["kind": "reply", "id": id(monitor)], body: ["kind": "broadcast", "name": "price"])
            let counters = try tool.asked("bus/stats")["counters"]
            #expect((counters?["broadcasts"]?.integer ?? 0) == 1)
            #expect((counters?["calls"]?.integer ?? 0) > 5)
        }
    }

    /// Frames that monitors should still get are sent before the hand-over.
    @Test(.promise("10.22")) func notesPassOn() throws {
        try run { bus in
            let tool = try bus.operator()
            let ant = try bus.module("Ant")
            let monitor = try tool.call("bus/monitor", ["name": "price", "bodies": true], ["credit": 1_000])
            try tool.settle()
            for number in 0..<300 as Range<Int64> { try ant.broadcast("price", .integer(number)) }
            try ant.settle()
            try bus.launcher().asked("bus/handOver")
            try ant.broadcast("price", 300)
            for number in 0...300 as ClosedRange<Int64> {
                let frame = try tool.find(["kind": "reply", "id": id(monitor)], body: ["name": "price"])
                #expect(frame.json["body"]?.integer == number && frame.json["missed"] == nil)
            }
        }
    }

    @Test func theLaunchersReportsAreKept() throws {
        try run(.testing(.eager("Ant"))) { bus in
            let launcher = try bus.launcher()
            try launcher.asked(
                "bus/moduleState", ["module": "Ant", "state": "restarting", "reason": "it fell over"])
            let token = try bus.vouch(for: "Ant", token: "secret")
            try launcher.asked("bus/handOver")
            let row = try bus.operator().asked("bus/modules")["modules"]?.array?.first
            #expect(row?["state"] == "restarting")
            #expect(row?["reason"] == "it fell over")
            let stranger = try bus.connect("a stranger")
            try stranger.expectRefusal(of: try stranger.sendHello("Ant", ["token": "guessed"]), "forbidden")
            let ant = try bus.module("Ant", ["token": .string(token)])
            try ant.settle()
            // There is still one launcher.
            let second = try bus.connect("a second launcher")
            try second.refused("bus/hello", ["protocol": 1, "role": "launcher"], with: "name-taken")
        }
    }

    /// Frames that arrive while the next program starts slowly are read before a module is blamed
    /// for not answering.
    @Test func aSlowNextProgramBlamesNoModule() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (program, mark, go) = ("\(folder.path)/strata-broker", "\(folder.path)/begun", "\(folder.path)/go")
        let real = try BuiltExecutable.path("strata-broker")
        // It passes itself off as the script, which is the next program then.
        let wait = "[ $1 = --resume ] && { : > '\(mark)'; until [ -e '\(go)' ]; do sleep 0.01; done; }"
        let script = "#!/bin/bash\n\(wait)\nexec -a \"$0\" '\(real)' \"$@\"\n"
        try WrittenProgram.write(script, to: program)
        let table = AppTable.testing(.manual("Login") { $0.ping = 5_000 })
        try TestBus.run(table, executable: program) { bus in
            let launcher = try bus.launcher()
            let token = try bus.vouch(for: "Login")
            let login = try bus.module("Login", ["token": .string(token)])
            login.answersLifecycle = false
            let ping = try login.expectCall("module/ping")
            let change = try bus.operator().call("bus/handOver")
            let limit = ContinuousClock.now + TestBus.patience
            while access(mark, F_OK) != 0, ContinuousClock.now < limit { sched_yield() }
            try login.reply(to: ping)
            // Its time passes while its answer is not read.
            let over = ContinuousClock.now + .milliseconds(5_100)
            while ContinuousClock.now < over { poll(nil, 0, 10) }
            try WrittenProgram.write("", to: go)
            let answer = try bus.operator().expectReply(to: change)
            #expect((answer.json["microseconds"]?.integer ?? 0) >= 5_100_000)
            try login.reply(to: try login.expectCall("module/ping"))
            try launcher.expectNothing()
            #expect(try bus.state(of: "Login") == "ready")
        }
    }

    @Test func modulesMayNotAskAndATestsThreadCanNot() throws {
        try run { try $0.module("Ant").refused("bus/handOver", with: "forbidden") }
        try TestBus.run(.sixModules()) { bus in
            guard !TestBus.isHandedOverEachRound else { return }
            try bus.operator().refused("bus/handOver", with: "unavailable")
        }
    }

    /// Fifty hand-overs under load: no connection drops and no call fails.
    @Test(.promise("R.20")) func fiftyHandOversUnderLoadLoseNothing() throws {
        try run { bus in
            let owner = try bus.provider("Ant", "Echo")
            let callers = [try bus.module("Bee"), try bus.module("Cat"), try bus.module("Bee2")]
            let observer = try bus.module("Cat2", ["observes": ["tick"]])
            let tool = try bus.operator()
            var (asked, ticks) = (0, Int64(0))
            for _ in 0..<50 {
                var open: [(RawPeer, UInt64, JSON)] = []
                for caller in callers {
                    for _ in 0..<20 {
                        asked += 1
                        open.append(
                            (caller, try caller.call("Echo/act", .integer(Int64(asked))), .integer(Int64(asked))))
                    }
                }
                let change = try tool.call("bus/handOver")
                for _ in 0..<5 {
                    ticks += 1
                    try owner.send(["kind": "broadcast", "name": "tick"], body: .integer(ticks))
                }
                for _ in open {
                    let call = try owner.expectCall("Echo/act")
                    try owner.reply(to: call, call.json)
                }
                for (caller, id, body) in open { try caller.expectReply(to: id, body: body) }
                try tool.expectReply(to: change)
            }
            for tick in 1...ticks { try observer.expectNotice("tick", .integer(tick)) }
            for peer in callers + [owner, observer, tool] { try peer.settle() }
        }
    }
}
