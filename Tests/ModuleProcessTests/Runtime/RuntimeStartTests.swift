import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeStartTests {
    @Test func helloSaysWhatTheModuleExports() async throws {
        try await withModule(PlayerModule.self) { configuration in
            configuration.module = "Deck"
            configuration.token = "secret"
        } _: { harness in
            harness.runtime.start()
            let peer = try await harness.broker.peer()
            let hello = try await peer.expect("call").body
            #expect(hello["protocol"] == 1)
            #expect(hello["module"] == "Deck")
            #expect(hello["token"] == "secret")
            let actions = hello["interfaces"]?["Player"]?["actions"]
            #expect(actions?["play"] == [:])
            #expect(actions?["who"] == ["auth": true])
            #expect(actions?["positions"] == ["stream": true])
            #expect(hello["urls"] == [["host": "player.example", "path": "/play/:track", "to": "Player/play"]])
            #expect(
                hello["observes"] == [
                    ["name": "library.track-removed"], ["name": "log.rotated", "object": "main", "keep": "latest"],
                ])
            #expect(hello["events"] == ["app.reload", "app.terminate"])
            #expect(hello["requires"] == ["Library"])
            #expect(hello["broadcasts"] == ["player.started"])
            #expect(hello["reports"] == ["Log": ["player.broken"]])
            #expect(hello["resumed"] == nil)
        }
    }

    @Test func describeIsHelloWithoutABus() async throws {
        TestLoop.start
        let text = try await Task { @ModuleActor in try ModuleRuntime.describe(PlayerModule.self) }.value
        let hello = try JSON(parsing: text)
        #expect(hello["module"] == "Player")
        #expect(hello["token"] == nil)
        #expect(hello["interfaces"]?["Player"]?["actions"]?["play"] == [:])
    }

    @Test(.promise("I.10")) func stepsRunOnceAndAreAnswered() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await peer.call("module/setUp", ["env": "test", "settings": ["size": 4]]).kind == "reply")
            #expect(try await peer.call("module/setUp", ["env": "test"]).kind == "reply")
            #expect(try await peer.call("module/initialize").kind == "reply")
            #expect(try await peer.call("module/didStart").kind == "reply")
            #expect(try await peer.call("module/ping").kind == "reply")
            #expect(harness.module.steps == ["setUp", "initialize", "didStart"])
            #expect(harness.module.context?.env == "test")
            #expect(harness.module.context?.settings["size"] == 4)
            #expect(harness.module.context?.level == "middle")
            #expect(try await peer.call("module/tearDown").kind == "reply")
            #expect(try await peer.call("module/tearDown").kind == "reply")
            #expect(harness.module.steps == ["setUp", "initialize", "didStart", "tearDown"])
            #expect(try await peer.call("module/other")["code"] == "unknown-action")
        }
    }

    @Test(.promise("M.31")) func aModuleIsToldThatAnotherTookOver() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            #expect(try await peer.call("module/retiring").kind == "reply")
            #expect(harness.module.steps.last == "retiring")
            harness.module.problem = PlayerModule.Unexpected()
            let failed = try await peer.call("module/retiring")
            #expect(failed["code"] == "failed" && failed["message"] == "the motor is stuck")
            // It continues with what it has until tearDown.
            #expect(try await peer.call("Player/echo", 1).body == 1)
            #expect(try await peer.call("module/tearDown").kind == "reply")
        }
    }

    @Test func eventsAreAnswered() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let name = JSON.Member("name", "app.reload")
            #expect(try await peer.call("module/event", nil, [name]).body == true)
            let asked = JSON.Member("name", "app.terminate")
            #expect(try await peer.call("module/event", ["now": true], [asked]).body == true)
            #expect(try await peer.call("module/event", [:], [asked]).body == false)
            #expect(try await peer.call("module/event", nil, [.init("name", "x")])["code"] == "unknown-action")
        }
    }
}
