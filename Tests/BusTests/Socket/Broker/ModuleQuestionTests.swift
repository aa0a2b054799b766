import StrataCore
import StrataTesting
import Testing

/// `bus/metrics` and `bus/contracts`: the broker asks a module with `module/metrics` or
/// `module/contracts`, and passes on the answer.
@Suite(.timeLimit(.hang))
struct ModuleQuestionTests {
    private static let questions = ["metrics", "contracts"]
    private let ant: JSON = ["module": "Ant"]

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func aModulesAnswerComesAsItIs(_ question: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Ant")
            let id = try bus.operator().call("bus/\(question)", ant, ["trace": "00-1-2-01", "deadline": 700])
            let asked = try module.expectCall("module/\(question)", nil, ["from": "bus", "trace": "00-1-2-01"])
            #expect(try #require(asked["deadline"]?.integer) <= 700)
            // The same bytes: the broker need not be able to read them.
            try module.send(header: #"{"kind":"reply","id":\#(asked.id)}"#, body: #"{ "a" : 1.50 } not JSON"#)
            let reply = try bus.operator().next()
            #expect(reply.matches(["kind": "reply", "id": .integer(Int64(id))]))
            #expect(String(decoding: reply.body, as: UTF8.self) == #"{ "a" : 1.50 } not JSON"#)
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func aModulesErrorComesToo(_ question: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Ant")
            let id = try bus.operator().call("bus/\(question)", ant)
            try module.fail(try module.expectCall("module/\(question)"), "unknown-action")
            try bus.operator().expectError(to: id, "unknown-action", ran: "no")
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func onlyOperatorsAskAndOnlyOfModulesThatAreReady(_ question: String) throws {
        try MemoryBus.run(.testing(.manual("Ant"), .manual("Bee"))) { bus in
            let module = try bus.module("Ant")
            for peer in [module, try bus.launcher()] { try peer.refused("bus/\(question)", ant, with: "forbidden") }
            let asking = try bus.operator()
            try asking.refused("bus/\(question)", ["module": "Nobody"], with: "unknown-module")
            try asking.refused("bus/\(question)", ["module": "Bee"], with: "unavailable")
            try asking.refused("bus/\(question)", [:], with: "bad-params")
            try asking.refused("bus/\(question)", ["module": 1], with: "bad-params")
            let bee = try bus.connect("Bee")
            try bee.hello("Bee")
            try bee.expectCall("module/setUp")
            try asking.refused("bus/\(question)", ["module": "Bee"], with: "unavailable")
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func cancellingTheRequestCancelsTheQuestion(_ question: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Ant")
            let asking = try bus.operator()
            for deadline in [0, 50] as [Int64] {
                let id = try asking.call("bus/\(question)", ant, deadline == 0 ? [:] : ["deadline": .integer(deadline)])
                let asked = try module.expectCall("module/\(question)")
                if deadline == 0 { try asking.cancel(id) }
                try asking.expectError(to: id, deadline == 0 ? "cancelled" : "deadline-exceeded", ran: "maybe")
                try module.expect(["kind": "cancel", "id": asked.number])
                // Its answer now belongs to no request.
                try module.reply(to: asked)
                try asking.expectNothing()
            }
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func aModulesEndEndsTheQuestion(_ question: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Ant")
            let id = try bus.operator().call("bus/\(question)", ant)
            try module.expectCall("module/\(question)")
            module.close()
            try bus.operator().expectError(to: id, "died", ran: "maybe")
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func anAnswerThatDoesNotFitIsAnError(_ question: String) throws {
        var table = AppTable.sixModules()
        table.limits.queue = 65_536
        try TestBus.run(table) { bus in
            let module = try bus.module("Ant")
            let asking = try bus.operator()
            asking.isPaused = true
            // The queue is not empty if answers wait in it that the kernel doesn't take.
            let first = try asking.call("bus/\(question)", ant)
            let second = try asking.call("bus/\(question)", ant)
            let large = JSON.filler(4 << 20)
            for _ in 0..<2 { try module.reply(to: try module.expectCall("module/\(question)"), large) }
            try module.settle()
            asking.isPaused = false
            try asking.expectReply(to: first)
            try asking.expectError(to: second, "overloaded", ran: "yes")
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func beingAskedIsNoUse(_ question: String) throws {
        let table = AppTable.testing(
            .manual("Login", rank: 1, provides: ["Login"]) { row in
                row.start = .onDemand
                row.idle = 1_000
            }, .manual("Clock", provides: ["Clock"]))
        try MemoryBus.run(table) { bus in
            _ = try bus.provider("Clock", "Clock")
            let launcher = try bus.launcher()
            let token = try bus.vouch(for: "Login")
            let module = try bus.provider("Login", "Login", ["token": .string(token)])
            module.answersLifecycle = false
            // It is asked all the time, and is stopped all the same.
            var isStopped = false
            for _ in 0..<20 where !isStopped {
                let time = try bus.operator().call("Clock/never", nil, ["deadline": 100])
                let id = try bus.operator().call("bus/\(question)", ["module": "Login"])
                let frame = try module.next()
                try module.reply(to: frame)
                isStopped = frame.to == "module/tearDown"
                if !isStopped { try bus.operator().expectReply(to: id) }
                try bus.operator().expectError(to: time, "deadline-exceeded")
            }
            #expect(isStopped)
            try launcher.expectCall("launcher/stop", ["module": "Login"])
        }
    }

    @Test(.promise("M.68", "10.53"), arguments: questions)
    func theQuestionPassesToTheNextProgram(_ question: String) throws {
        try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let module = try bus.module("Ant")
            let asking = try bus.operator()
            let id = try asking.call("bus/\(question)", ant)
            let asked = try module.expectCall("module/\(question)")
            try asking.asked("bus/handOver")
            try module.reply(to: asked, ["metrics": []])
            try asking.expectReply(to: id, body: ["metrics": []])
        }
    }
}
