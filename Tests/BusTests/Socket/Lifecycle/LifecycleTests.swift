import StrataCore
import StrataTesting
import Testing

/// The protocol's section 11: the calls that one module gets, and what happens if it fails.
@Suite(.timeLimit(.hang))
struct LifecycleTests {
    @Test(.promise("5.28", "11.1", "I.1", "I.10")) func aModuleIsSetUpThenInitializedThenReadyThenStarted() throws {
        let table = AppTable.sixModules {
            $0.settings = ["a": 1]
            $0.launchOptions = ["b": 2]
        }
        try TestBus.run(table) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant")
            let context: JSON = ["env": "test", "settings": ["a": 1], "launchOptions": ["b": 2]]
            let setUp = try module.expectCall("module/setUp", context, ["from": "bus"])
            try module.expectNothing()
            #expect(try bus.state(of: "Ant") == "settingUp")
            try module.reply(to: setUp)
            let initialize = try module.expectCall("module/initialize")
            #expect(try bus.state(of: "Ant") == "initializing")
            try module.expectNothing()
            try module.reply(to: initialize)
            let didStart = try module.expectCall("module/didStart")
            // Ready comes before didStart.
            #expect(try bus.state(of: "Ant") == "ready")
            try module.reply(to: didStart)
            try module.expectNothing()
        }
    }

    @Test(.promise("11.3")) func aModuleThatLacksAStepHasDoneIt() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant")
            for step in ["setUp", "initialize", "didStart"] {
                try module.fail(try module.expectCall("module/\(step)"), "unknown-action")
            }
            try module.expectNothing()
            #expect(try bus.state(of: "Ant") == "ready")
        }
    }

    @Test(.promise("11.3"), arguments: ["setUp", "initialize", "didStart"])
    func anErrorInAStepEndsTheConnectionAsFailed(step: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant")
            for earlier in ["setUp", "initialize", "didStart"].prefix(while: { $0 != step }) {
                try module.reply(to: try module.expectCall("module/\(earlier)"))
            }
            try module.fail(try module.expectCall("module/\(step)"), "Ant.broken", "no disk")
            let error = try module.expectEnd("failed")
            #expect(error.message.contains("no disk") && error.message.contains(step))
            // The name is free again.
            _ = try bus.module("Ant")
        }
    }

    @Test(.promise("11.3")) func aStepThatHangsEndsTheConnectionAsFailed() throws {
        try MemoryBus.run(.sixModules { $0.startup = 50 }) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant")
            try module.expectCall("module/setUp")
            #expect(try module.expectEnd("failed").message.contains("setUp"))
            #expect(module.inbox.allSatisfy { $0.kind == "cancel" }, "\(module.inbox)")
        }
    }

    @Test(.promise("5.11")) func aResumedModuleIsReadyAtOnceAndCalledWithNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.connect("Ant")
            try module.hello("Ant", ["resumed": true, "interfaces": ["Test": [:]]])
            try module.expectNothing()
            #expect(try bus.state(of: "Ant") == "ready")
            try bus.module("Bee").call("Test/act")
            try module.expectCall("Test/act")
        }
    }

    @Test(.promise("6.17")) func callsOfItsOwnItMayMakeFromHelloOn() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let module = try bus.connect("Bee")
            try module.hello("Bee")
            let setUp = try module.expectCall("module/setUp")
            let id = try module.call("Test/act", nil, ["parent": setUp["id"] ?? .null])
            let call = try callee.expectCall("Test/act")
            // The end of a `module/…` call cancels nothing.
            try module.reply(to: setUp)
            try module.expectCall("module/initialize")
            try callee.reply(to: call)
            try module.expectReply(to: id)
        }
    }

    @Test(.promise("11.7")) func aRequestMadeInSetUpToAModuleThatIsNotReadyIsUnavailableAtOnce() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let waiting = try bus.connect("Cat")
            try waiting.hello("Cat", ["interfaces": ["Late": [:]]])
            let module = try bus.connect("Bee")
            try module.hello("Bee")
            let setUp = try module.expectCall("module/setUp")
            try module.refused("Late/act", nil, ["parent": setUp["id"] ?? .null], with: "unavailable")
            // Without the parent it waits.
            try module.call("Late/act")
            try module.expectNothing()
        }
    }

    @Test(.promise("11.2")) func onlyTheBrokerCallsAModulesSteps() throws {
        try MemoryBus.run(.sixModules()) { bus in
            for peer in [try bus.module("Ant"), try bus.operator()] {
                try peer.refused("module/tearDown", with: "forbidden")
            }
        }
    }

    @Test(.promise("11.16")) func listenersAreNotifiedOfALostModule() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let listener = try bus.module("Ant", ["events": ["app.moduleLost"]])
            let lost = try bus.module("Bee")
            lost.close()
            let event = try listener.expectCall(
                "module/event", ["module": "Bee", "reason": "closed"], ["name": "app.moduleLost", "from": "bus"])
            try listener.reply(to: event, true)
            let garbage = try bus.module("Cat")
            try garbage.send(bytes: FrameBytes.lengths(frame: 0, header: 0))
            try listener.expectCall("module/event", ["module": "Cat", "reason": "bad-frame"])
        }
    }
}
