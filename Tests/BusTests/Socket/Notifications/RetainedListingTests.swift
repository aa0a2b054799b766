import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// The operators' action `bus/retained`: what the bus keeps for later observers.
@Suite(.timeLimit(.hang))
struct RetainedListingTests {
    private static let retain: JSON = ["retain": true]

    private func names(_ answer: JSON) -> [String] {
        (answer["retained"]?.array ?? []).map { row in
            (row["name"]?.string ?? "") + (row["object"]?.string.map { "#\($0)" } ?? "")
        }
    }

    @Test(.promise("7.43")) func whatIsRetainedIsListedOldestFirst() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let other = try bus.module("Bee")
            try sender.broadcast("a.x", ["n": 1], Self.retain)
            try sender.broadcast("a.y", 2, ["retain": true, "object": "o"])
            try sender.broadcast("not", 3)
            try other.broadcast("b", nil, Self.retain)
            _ = try (sender.drain(), other.drain())
            let tool = try bus.operator()
            let answer = try tool.asked("bus/retained")
            #expect(names(answer) == ["a.x", "a.y#o", "b"] && answer["next"] == nil)
            let first = try #require(answer["retained"]?.array?.first)
            #expect(first["module"] == "Ant" && first["level"] == "basic" && first["bytes"] == 7)
            #expect(first["until"] == "session" && first["body"] == nil && first["number"] == 1)
            // Replaced, it is the newest.
            try sender.broadcast("a.x", ["n": 9], Self.retain)
            _ = try sender.drain()
            #expect(names(try tool.asked("bus/retained")) == ["a.y#o", "b", "a.x"])
            let bodies = try tool.asked("bus/retained", ["name": "a.x", "bodies": true])
            #expect(bodies["retained"]?.array?.map { $0["body"] } == [["n": 9]])
            try other.broadcast("a.long.er", 1, Self.retain)
            _ = try other.drain()
            #expect(names(try tool.asked("bus/retained", ["pattern": "a.*"])) == ["a.y#o", "a.x"])
            try other.asked("bus/forget", ["name": "a.long.er"])
            let empty = try tool.asked("bus/retained", ["name": "b", "bodies": true])
            #expect(empty["retained"]?.array?[0]["body"] == .null)
            #expect(names(try tool.asked("bus/retained", ["name": "c"])).isEmpty)
            sender.close()
            try bus.waitUntil("Ant", is: "absent")
            #expect(names(try tool.asked("bus/retained")) == ["b"])
        }
    }

    @Test(.promise("7.43")) func anAnswerIsBoundedAndSaysWhereTheNextGoesOn() throws {
        try MemoryBus.run(.sixModules { $0.limits.retained = 2_000 }) { bus in
            let sender = try bus.module("Ant")
            for number in 0..<1_100 {
                try sender.broadcast("a", .integer(Int64(number)), ["retain": true, "object": .string("\(number)")])
                if number % 100 == 0 { _ = try sender.drain() }
            }
            _ = try sender.drain()
            let tool = try bus.operator()
            let first = try tool.asked("bus/retained")
            #expect(names(first).count == 1_024)
            let next = try #require(first["next"]?.integer)
            let second = try tool.asked("bus/retained", ["from": .integer(next)])
            #expect(names(second) == (1_024..<1_100).map { "a#\($0)" } && second["next"] == nil)
        }
    }

    @Test(.promise("7.43")) func bodiesEndAnAnswerEarlierAndWhatCannotBeShownSaysWhy() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let long = JSON.string(String(repeating: "x", count: 60 << 10))
            for name in ["a", "b", "c", "d", "e", "f"] { try sender.broadcast(name, long, Self.retain) }
            try sender.broadcast("g", .string(String(repeating: "x", count: 70 << 10)), Self.retain)
            try sender.send(header: #"{"kind":"broadcast","name":"h","retain":true}"#, body: "{no")
            _ = try sender.drain()
            let tool = try bus.operator()
            let first = try tool.asked("bus/retained", ["bodies": true])
            #expect(names(first) == ["a", "b", "c", "d", "e"])
            let next = try #require(first["next"])
            let rest = try #require(try tool.asked("bus/retained", ["bodies": true, "from": next])["retained"]?.array)
            #expect(rest.map { $0["name"] } == ["f", "g", "h"])
            #expect(rest.map { $0["omitted"] } == [nil, "size", "json"])
        }
    }

    @Test(.promise("7.43")) func underAnAdaptersNameItIsNotListedOnceMore() throws {
        let table = AppTable.sixModules { table in
            table.modules[0].provides = ["New"]
            var adapter = AppTable.Adapter(name: "Old", to: "New")
            adapter.notices = [AppTable.Rename(from: "a", to: "b")]
            table.adapters = [adapter]
        }
        try MemoryBus.run(table) { bus in
            let sender = try bus.module("Ant")
            try sender.broadcast("a", 1, Self.retain)
            _ = try sender.drain()
            #expect(names(try bus.operator().asked("bus/retained")) == ["a"])
        }
    }

    @Test(.promise("7.43")) func onlyOperatorsAskAndParamsAreChecked() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").refused("bus/retained", with: "forbidden")
            let tool = try bus.operator()
            for params: JSON in [["name": "a", "pattern": "a.*"], ["pattern": "a"], ["from": -1], ["bodies": 1]] {
                try tool.refused("bus/retained", params, with: "bad-params")
            }
        }
    }
}
