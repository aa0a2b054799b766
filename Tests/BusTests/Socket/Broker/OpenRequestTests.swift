import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// The operators' action `bus/requests`: which request waits for which module.
@Suite(.timeLimit(.hang))
struct OpenRequestTests {
    private func requests(_ tool: RawPeer) throws -> [JSON] {
        try tool.asked("bus/requests")["requests"]?.array ?? []
    }

    @Test(.promise("10.39")) func aChainIsListedOldestFirst() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let (owner, caller) = (try bus.provider("Ant", "Shop", ["observes": ["news"]]), try bus.module("Bee"))
            let tool = try bus.operator()
            #expect(try requests(tool) == [])
            try caller.call("Shop/buy")
            let buy = try owner.expectCall("Shop/buy")
            try owner.report("news", to: "Ant", nil, ["parent": buy.number])
            let notice = try owner.expectNotice("news")
            let open = try requests(tool)
            #expect(open.count == 3)
            let since = try #require(open[0]["since"]?.integer)
            #expect(since > 1_600_000_000_000)
            #expect(
                open[0].without("since") == [
                    "id": buy.number, "kind": "call", "from": "Bee", "to": "Shop/buy", "module": "Ant",
                    "state": "delivered", "depth": 1,
                ])
            let report: JSON = ["from": "Ant", "to": "news", "module": "Ant", "depth": 2]
            #expect(open[1].matches(report.with(["kind": "report", "state": "open", "parent": buy.number])))
            #expect(
                open[2].matches(
                    report.with([
                        "kind": "notice", "state": "delivered", "parent": open[1]["id"] ?? nil, "id": notice.number,
                    ])))
            try owner.reply(to: notice)
            try owner.reply(to: buy)
            #expect(try requests(tool) == [])
        }
    }

    /// Each reason for waiting has its state.
    @Test(.promise("10.39")) func eachStateIsTold() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Gate"]), .manual("Shop"),
            .eager("Late", provides: ["Late"]) { $0.start = .async }, .manual("Bee", rank: 1)
        ) { $0.authorizer = "Gate" }
        try MemoryBus.run(table) { bus in
            _ = try bus.launcher()
            let gate = try bus.module("Ant", ["interfaces": ["Gate": [:]]])
            let shop = try bus.module(
                "Shop", ["interfaces": ["Shop": [:], "Safe": ["actions": ["open": ["auth": true]]]]])
            let caller = try bus.module("Bee")
            let tool = try bus.operator()
            try caller.call("Late/act")
            try caller.call("Safe/open")
            try gate.expectCall("Gate/authorize")
            try caller.call("bus/watch", nil, ["credit": 100])
            shop.isPaused = true
            // More than a socket takes.
            for _ in 0..<12 { try caller.call("Shop/act", .filler(30_000)) }
            try caller.settle()
            let open = try requests(tool).filter { $0["to"]?.string?.hasPrefix("module/") == false }
            #expect(open.count == 16)
            #expect(open[0].matches(["to": "Late/act", "module": "Late", "state": "waiting"]), "\(open[0])")
            #expect(open[1].matches(["to": "Safe/open", "module": "Shop", "state": "authorizing"]), "\(open[1])")
            #expect(
                open[2].matches([
                    "from": "bus", "to": "Gate/authorize", "module": "Ant", "depth": 1, "parent": open[1]["id"] ?? nil,
                ]), "\(open[2])")
            #expect(open[3].matches(["to": "bus/watch", "state": "open"]) && open[3]["module"] == nil, "\(open[3])")
            #expect(open[15].matches(["to": "Shop/act", "module": "Shop", "state": "queued"]), "\(open[15])")
        }
    }

    @Test(.promise("10.39")) func onlyTheOldestAreListedAndTheOthersAreCounted() throws {
        try MemoryBus.run(.sixModules { $0.limits.calls = 3_000 }) { bus in
            let (owner, caller) = (try bus.provider("Ant", "Shop"), try bus.module("Bee"))
            let tool = try bus.operator()
            var calls: [ReceivedFrame] = []
            for _ in 0..<1_500 {
                try caller.call("Shop/act", nil, ["deadline": 0])
                calls.append(try owner.expectCall("Shop/act"))
            }
            // Free slots are used again, so the order of the slots isn't that of the ages.
            for call in calls.prefix(400).reversed() { try owner.reply(to: call) }
            for _ in 0..<400 {
                try caller.call("Shop/act", nil, ["deadline": 0])
                calls.append(try owner.find(["kind": "call"]))
            }
            let answer = try tool.asked("bus/requests")
            let listed = answer["requests"]?.array?.compactMap { $0["id"] } ?? []
            #expect(listed == calls.dropFirst(400).prefix(RequestListing.most).map(\.number))
            #expect(answer["omitted"] == .integer(Int64(1_500 - RequestListing.most)))
        }
    }

    @Test(.promise("10.39")) func onlyOperatorsMayAsk() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").refused("bus/requests", with: "forbidden")
            try bus.operator().refused("bus/requests#1", with: "unknown-interface")
        }
    }
}

extension JSON {
    fileprivate func without(_ name: String) -> JSON { .object((object ?? []).filter { $0.name != name }) }
}
