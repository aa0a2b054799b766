import StrataCore
import StrataTesting
import Testing

/// The protocol's section 11: events and their policies.
@Suite(.timeLimit(.hang))
struct EmitTests {
    private func three(_ test: (RawPeer, [RawPeer]) throws -> Void) throws {
        try MemoryBus.run(.sixModules { $0.modules[0].emits = ["feed.full"] }) { bus in
            let listeners = try ["Cat", "Ant", "Bee"].map {
                try bus.module($0, ["events": ["feed.full", "app.reload"]])
            }
            _ = try bus.module("Bee2")
            try test(try bus.operator(), [listeners[1], listeners[2], listeners[0]])
        }
    }

    private func emit(_ peer: RawPeer, _ policy: JSON? = nil, _ members: JSON = [:]) throws -> UInt64 {
        var header: [JSON.Member] = [.init("name", "feed.full")]
        if let policy { header.append(.init("meta", ["policy": policy])) }
        return try peer.call("bus/emit", ["n": 1], .object(header + (members.object ?? [])))
    }

    @Test(.promise("10.8", "11.13", "I.3"), arguments: [nil, "notify"] as [JSON?])
    func notifyCallsAllAndAnswersTrue(policy: JSON?) throws {
        try three { tool, listeners in
            let id = try emit(tool, policy)
            let calls = try listeners.map {
                try $0.expectCall("module/event", ["n": 1], ["name": "feed.full", "from": "bus"])
            }
            try listeners[1].reply(to: calls[1], "b")
            try listeners[0].reply(to: calls[0], false)
            try listeners[2].fail(calls[2], "Cat.broken")
            try tool.expectReply(
                to: id,
                body: [
                    "answer": true,
                    "answers": [
                        ["module": "Ant", "answer": false], ["module": "Bee", "answer": "b"],
                        ["module": "Cat", "code": "Cat.broken"],
                    ],
                ])
        }
    }

    @Test(
        .promise("11.13"),
        arguments: [([true, true, true], true), ([true, false, true], false), ([true, 1, true], false)]
            as [([JSON], Bool)])
    func allIsTrueWhereEveryAnswerIs(answers: [JSON], expected: Bool) throws {
        try three { tool, listeners in
            let id = try emit(tool, "all")
            for (listener, answer) in zip(listeners, answers) {
                try listener.reply(to: try listener.expectCall("module/event"), answer)
            }
            try tool.expectReply(to: id, body: ["answer": .bool(expected)])
        }
    }

    @Test(.promise("11.13", "I.3")) func anyStopsAtTheFirstTrueInStartOrder() throws {
        try three { tool, listeners in
            let id = try emit(tool, "any")
            let first = try listeners[0].expectCall("module/event")
            for other in listeners[1...] { try other.expectNothing() }
            try listeners[0].reply(to: first, false)
            try listeners[1].reply(to: try listeners[1].expectCall("module/event"), true)
            try tool.expectReply(
                to: id,
                body: [
                    "answer": true,
                    "answers": [["module": "Ant", "answer": false], ["module": "Bee", "answer": true]],
                ])
            try listeners[2].expectNothing()
        }
    }

    @Test(.promise("11.14")) func aListenerThatDiesOrHangsLosesOnlyItsOwnAnswer() throws {
        try three { tool, listeners in
            let id = try emit(tool, "all", ["deadline": 1_500])
            try listeners[0].reply(to: try listeners[0].expectCall("module/event"), true)
            try listeners[1].expectCall("module/event")
            listeners[1].close()
            try listeners[2].expectCall("module/event")
            try tool.expectReply(
                to: id,
                body: [
                    "answer": false,
                    "answers": [
                        ["module": "Ant", "answer": true], ["module": "Bee", "code": "died"],
                        ["module": "Cat", "code": "deadline-exceeded"],
                    ],
                ])
        }
    }

    @Test(.promise("11.13")) func anUndeclaredEventIsTrueForAllAndFalseForAny() throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            try tool.expectReply(to: try emit(tool, "all"), body: ["answer": true, "answers": []])
            try tool.expectReply(to: try emit(tool, "any"), body: ["answer": false, "answers": []])
        }
    }

    @Test(.promise("11.11", "M.22")) func onlyThoseWhoseRowListsItMayEmit() throws {
        try three { tool, listeners in
            let ant = listeners[0]
            let id = try emit(ant)
            // The emitter is called, too.
            for listener in listeners { try listener.reply(to: try listener.expectCall("module/event"), true) }
            try ant.expectReply(to: id, body: ["answer": true])
            try listeners[1].expectError(to: try emit(listeners[1]), "forbidden", ran: "no")
        }
    }

    @Test(.promise("5.35")) func theLauncherEmitsEventsOfTheAppAlone() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let launcher = try bus.launcher()
            try launcher.asked("bus/emit", nil, ["name": "app.reload"])
            try launcher.refused("bus/emit", nil, ["name": "feed.full"], with: "forbidden")
        }
    }

    /// By then all listeners have handled the event.
    @Test(.promise("10.8")) func answersThatNoFrameHoldsAreOverloadedAndHaveRun() throws {
        try MemoryBus.run(
            .sixModules {
                $0.limits.frame = 2_048
                $0.limits.header = 1_024
            }
        ) { bus in
            let listeners = try ["Ant", "Bee"].map { try bus.module($0, ["events": ["feed.full"]]) }
            let tool = try bus.operator()
            for size in [900, 100] {
                let id = try emit(tool)
                for listener in listeners {
                    try listener.reply(to: try listener.expectCall("module/event"), .filler(size))
                }
                if size == 100 {
                    try tool.expectReply(to: id, body: ["answer": true])
                } else {
                    let error = try tool.expectError(to: id, "overloaded", ran: "yes")
                    #expect(error.message.contains("limits.frame"), "\(error)")
                }
            }
        }
    }

    @Test(.promise("11.15")) func anotherPolicyOrNoNameIsBadParams() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            try tool.expectError(to: try emit(tool, "most"), "bad-params", ran: "no")
            try tool.refused("bus/emit", nil, [:], with: "bad-params")
        }
    }

    /// The parent is a call, another event, or a report's notice.
    @Test(arguments: ["call", "event", "notice"])
    func anEventHasAtMostWhatAParentHasLeft(parent: String) throws {
        try MemoryBus.run(
            .sixModules {
                $0.modules[0].emits = ["feed.full"]
                $0.modules[0].provides = ["Feed"]
            }
        ) { bus in
            let ant = try bus.module(
                "Ant", ["interfaces": ["Feed": [:]], "events": ["app.reload"], "observes": ["news"]])
            let bee = try bus.module("Bee", ["events": ["feed.full"]])
            let tool = try bus.operator()
            let asked: UInt64
            switch parent {
            case "call": asked = try tool.call("Feed/fill", nil, ["deadline": 4_500])
            case "event": asked = try tool.call("bus/emit", nil, ["name": "app.reload", "deadline": 4_500])
            default: asked = try tool.report("news", to: "Ant", nil, ["deadline": 4_500])
            }
            let handled = try ant.next()
            for (given, most) in [(nil, 4_500), (1_000, 1_000), (60_000, 4_500)] as [(Int64?, Int64)] {
                let members: JSON = given.map { ["deadline": .integer($0)] } ?? [:]
                let id = try emit(ant, "any", .object((members.object ?? []) + [.init("parent", handled.number)]))
                let event = try bee.expectCall("module/event")
                let left = try #require(event["deadline"]?.integer)
                #expect(left <= most && left > 0, "\(event)")
                try bee.reply(to: event, true)
                try ant.expectReply(to: id)
            }
            try ant.reply(to: handled)
            try tool.expectReply(to: asked)
        }
    }
}
