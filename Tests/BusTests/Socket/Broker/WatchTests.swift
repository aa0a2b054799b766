import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: `watch`, the states of all rows as a stream.
@Suite(.timeLimit(.hang))
struct WatchTests {
    private func change(_ module: String, _ state: String) -> JSON {
        ["module": .string(module), "state": .string(state)]
    }

    @Test(.promise("10.17")) func watchTellsThePresentStateOfEveryRowThenEachChange() throws {
        try TestBus.run(.testing(.manual("Ant"), .manual("Bee", rank: 1))) { bus in
            _ = try bus.module("Bee")
            let tool = try bus.operator()
            let id = try tool.call("bus/watch", nil, ["credit": 100])
            let partial: JSON = ["kind": "reply", "id": .integer(Int64(id)), "more": true]
            try tool.expect(partial, body: ["module": "Ant", "state": "absent", "pid": nil])
            try tool.expect(partial, body: change("Bee", "ready"))
            let ant = try bus.connect("Ant")
            try ant.hello("Ant")
            for (step, state) in [("setUp", "settingUp"), ("initialize", "initializing")] {
                let call = try ant.expectCall("module/\(step)")
                try tool.find(partial, body: change("Ant", state))
                try ant.reply(to: call)
            }
            try tool.find(partial, body: change("Ant", "ready"))
            ant.close()
            try tool.find(partial, body: ["module": "Ant", "state": "absent", "pid": nil, "reason": "closed"])
            try tool.cancel(id)
            try tool.expectError(to: id, "cancelled")
        }
    }

    @Test(.promise("6.23", "10.17")) func statesThatWaitForCreditAreMergedPerModule() throws {
        try MemoryBus.run(.testing(.manual("Ant"), .manual("Bee"))) { bus in
            let tool = try bus.operator()
            let id = try tool.call("bus/watch", nil, ["credit": 2])
            try tool.expect(["kind": "reply"], body: change("Ant", "absent"))
            try tool.expect(["kind": "reply"], body: change("Bee", "absent"))
            _ = try bus.module("Ant")
            let bee = try bus.module("Bee")
            try tool.expectNothing()
            try tool.credit(id, 1)
            try tool.expect(["kind": "reply"], body: change("Ant", "ready"))
            try tool.expectNothing()
            bee.close()
            _ = try bus.module("Bee")
            try tool.credit(id, 10)
            try tool.expect(["kind": "reply"], body: change("Bee", "ready"))
            try tool.expectNothing()
        }
    }

    @Test(.promise("6.23")) func aWatchHasNoDeadline() throws {
        try MemoryBus.run(.testing(.manual("Ant"))) { bus in
            let tool = try bus.operator()
            let clock = try bus.provider("Ant", "Test")
            let watch = try tool.call("bus/watch", nil, ["deadline": 20])
            try tool.find(["kind": "reply", "more": true])
            let call = try tool.call("Test/act", nil, ["deadline": 60])
            try clock.expectCall("Test/act")
            try tool.expectError(to: call, "deadline-exceeded")
            clock.close()
            try tool.find(["kind": "reply", "id": .integer(Int64(watch))], body: change("Ant", "absent"))
        }
    }
}
