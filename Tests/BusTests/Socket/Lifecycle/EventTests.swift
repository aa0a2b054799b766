import StrataCore
import StrataTesting
import Testing

/// The protocol's section 11: whom an event reaches, and how long it has.
@Suite(.timeLimit(.hang))
struct EventTests {
    @Test(.promise("11.12"), arguments: [(nil, 5_000), (0, 5_000), (700, 700)] as [(Int64?, Int64)])
    func eachListenerHasTheEmitsDeadlineForItself(given: Int64?, most: Int64) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let listeners = try ["Ant", "Bee"].map { try bus.module($0, ["events": ["e"]]) }
            let tool = try bus.operator()
            var header: [JSON.Member] = [.init("name", "e"), .init("meta", ["policy": "any"])]
            if let given { header.append(.init("deadline", .integer(given))) }
            let id = try tool.call("bus/emit", nil, .object(header))
            for listener in listeners {
                let call = try listener.expectCall("module/event", nil, ["from": "bus", "name": "e"])
                let deadline = call["deadline"]?.integer ?? -1
                #expect(deadline <= most && deadline >= most - 600, "\(deadline)")
                try listener.reply(to: call, false)
            }
            try tool.expectReply(to: id, body: ["answer": false])
        }
    }

    @Test(.promise("10.28", "11.12")) func anEventReachesReadyModulesThatDeclaredItAlone() throws {
        let table = AppTable.testing(.eager("Login"), .manual("Ant"), .manual("Bee"), .manual("Cat"))
        try TestBus.run(table) { bus in
            let launcher = try bus.launcher()
            let token = try bus.vouch(for: "Login")
            let retired = try bus.module("Login", ["token": .string(token), "events": ["e"]])
            retired.answersLifecycle = false
            try launcher.call("bus/retire", ["module": "Login"])
            try retired.expectCall("module/tearDown")
            let starting = try bus.connect()
            try starting.hello("Ant", ["events": ["e"]])
            try starting.expectCall("module/setUp")
            _ = try bus.module("Bee", ["events": ["other"]])
            let ready = try bus.module("Cat", ["events": ["e"]])
            let tool = try bus.operator()
            let id = try tool.call("bus/emit", nil, ["name": "e", "meta": ["policy": "all"]])
            try ready.reply(to: try ready.expectCall("module/event"), true)
            try tool.expectReply(
                to: id, body: ["answer": true, "answers": [["module": "Cat", "answer": true]]])
            for peer in [retired, starting] { try peer.expectNothing() }
        }
    }

    @Test(.promise("10.28")) func noticesReachARetiredModule() throws {
        let table = AppTable.testing(.eager("Login", rank: 1), .manual("Ant"))
        try MemoryBus.run(table) { bus in
            let launcher = try bus.launcher()
            let token = try bus.vouch(for: "Login")
            let retired = try bus.module("Login", ["token": .string(token), "observes": ["news"]])
            retired.answersLifecycle = false
            try launcher.call("bus/retire", ["module": "Login"])
            try retired.expectCall("module/tearDown")
            #expect(try bus.module("Ant").recipients(ofBroadcast: "news") == 1)
            try retired.expectNotice("news")
        }
    }
}
