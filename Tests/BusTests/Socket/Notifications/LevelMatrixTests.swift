import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: broadcasts go down the table, reports go up.
@Suite(.timeLimit(.hang))
struct LevelMatrixTests {
    @Test(.promise("3.3", "4.4", "7.1", "I.8")) func broadcastReachesLaterLevelsOnly() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let from = try bus.module("Bee")
            let observers = try secondOfLevel.map { try bus.module($0, ["observes": ["news"]]) }
            #expect(try from.recipients(ofBroadcast: "news", ["n": 1]) == 1)
            let notice = try observers[2].expectNotice(
                "news", ["n": 1], ["from": "Bee", "level": "middle", "via": "broadcast"])
            #expect(notice["id"] == nil)
            #expect(notice["subscription"] == observers[2].welcome["subscriptions"]?.array?.first)
            for observer in observers { try observer.expectNothing() }
        }
    }

    @Test(.promise("7.2", "I.8")) func reportGoesToItsOwnAndEarlierLevelsOnly() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let from = try bus.module("Bee")
            let observers = try secondOfLevel.map { try bus.module($0, ["observes": ["news"]]) }
            for (name, to) in zip(secondOfLevel, observers).prefix(2) {
                let report = try from.report("news", to: name, ["n": 1])
                let notice = try to.expectNotice(
                    "news", ["n": 1], ["from": "Bee", "level": "middle", "via": "report"])
                try from.expectNothing()
                try to.reply(to: notice)
                try from.expectReply(to: report, body: ["observers": 1])
            }
            let error = try from.expectError(to: try from.report("news", to: "Cat2"), "level-violation", ran: "no")
            #expect(error.message.contains("middle") && error.message.contains("topout"))
            for observer in observers { try observer.expectNothing() }
        }
    }

    @Test(.promise("7.2")) func aModuleReportsToItselfAndHearsNoBroadcastOfItsOwn() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Bee", ["observes": ["news"]])
            #expect(try module.recipients(ofBroadcast: "news") == 0)
            let report = try module.report("news", to: "Bee")
            try module.reply(to: try module.expectNotice("news"))
            try module.expectReply(to: report, body: ["observers": 1])
            try module.expectNothing()
        }
    }

    @Test(.promise("5.33")) func anOperatorBroadcastsAsTheLevelThatItSays() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observers = try secondOfLevel.map { try bus.module($0, ["observes": ["news"]]) }
            let tool = try bus.operator()
            for (rank, level) in levelNames.enumerated() {
                #expect(try tool.recipients(ofBroadcast: "news", nil, ["level": .string(level)]) == 2 - rank)
                for observer in observers[(rank + 1)...] {
                    try observer.expectNotice("news", nil, ["from": "operator", "level": .string(level)])
                }
                for observer in observers { try observer.expectNothing() }
            }
        }
    }

    @Test(.promise("5.34")) func anOperatorReportsToAnyLevel() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            for name in firstOfLevel {
                let target = try bus.module(name, ["observes": ["news"]])
                let report = try tool.report("news", to: name)
                try target.reply(to: try target.expectNotice("news", nil, ["from": "operator"]))
                try tool.expectReply(to: report, body: ["observers": 1])
            }
        }
    }

    @Test(.promise("5.33"), arguments: [["level": "cellar"], [:]] as [JSON])
    func anOperatorsBroadcastWithoutAKnownLevelEndsItsConnection(members: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            try tool.broadcast("news", nil, members)
            try tool.expectEnd("bad-header")
        }
    }
}
