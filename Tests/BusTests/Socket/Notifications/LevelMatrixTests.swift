import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: broadcasts go down the table, reports go up.
@Suite(.timeLimit(.hang))
struct LevelMatrixTests {
    @Test(arguments: rankPairs)
    func broadcastReachesLaterLevelsOnly(sender: Int, observer: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let from = try bus.module(firstOfLevel[sender])
            let to = try bus.module(secondOfLevel[observer], ["observes": ["news"]])
            let isLater = observer > sender
            #expect(try from.recipients(ofBroadcast: "news", ["n": 1]) == (isLater ? 1 : 0))
            if isLater {
                let notice = try to.expectNotice(
                    "news", ["n": 1],
                    ["from": .string(firstOfLevel[sender]), "level": .string(levelNames[sender]), "via": "broadcast"])
                #expect(notice["id"] == nil)
                #expect(notice["subscription"] == to.welcome["subscriptions"]?.array?.first)
            }
            try to.expectNothing()
        }
    }

    @Test(arguments: rankPairs)
    func reportGoesToItsOwnAndEarlierLevelsOnly(sender: Int, target: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let from = try bus.module(firstOfLevel[sender])
            let to = try bus.module(secondOfLevel[target], ["observes": ["news"]])
            let report = try from.report("news", to: secondOfLevel[target], ["n": 1])
            guard target <= sender else {
                let error = try from.expectError(to: report, "level-violation", ran: "no")
                #expect(error.message.contains(levelNames[sender]))
                #expect(error.message.contains(levelNames[target]))
                try to.expectNothing()
                return
            }
            let notice = try to.expectNotice(
                "news", ["n": 1],
                ["from": .string(firstOfLevel[sender]), "level": .string(levelNames[sender]), "via": "report"])
            try from.expectNothing()
            try to.reply(to: notice)
            try from.expectReply(to: report, body: ["observers": 1])
        }
    }

    @Test(arguments: 0..<3)
    func aModuleReportsToItselfAndHearsNoBroadcastOfItsOwn(rank: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let module = try bus.module(firstOfLevel[rank], ["observes": ["news"]])
            #expect(try module.recipients(ofBroadcast: "news") == 0)
            let report = try module.report("news", to: firstOfLevel[rank])
            try module.reply(to: try module.expectNotice("news"))
            try module.expectReply(to: report, body: ["observers": 1])
            try module.expectNothing()
        }
    }

    @Test(arguments: 0..<3)
    func anOperatorBroadcastsAsTheLevelThatItSays(rank: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let observers = try secondOfLevel.map { try bus.module($0, ["observes": ["news"]]) }
            let tool = try bus.operator()
            #expect(try tool.recipients(ofBroadcast: "news", nil, ["level": .string(levelNames[rank])]) == 2 - rank)
            for (level, observer) in observers.enumerated() {
                if level > rank {
                    try observer.expectNotice("news", nil, ["from": "operator", "level": .string(levelNames[rank])])
                }
                try observer.expectNothing()
            }
        }
    }

    @Test(arguments: 0..<3)
    func anOperatorReportsToAnyLevel(rank: Int) throws {
        try TestBus.run(.sixModules()) { bus in
            let target = try bus.module(firstOfLevel[rank], ["observes": ["news"]])
            let tool = try bus.operator()
            let report = try tool.report("news", to: firstOfLevel[rank])
            try target.reply(to: try target.expectNotice("news", nil, ["from": "operator"]))
            try tool.expectReply(to: report, body: ["observers": 1])
        }
    }

    @Test(arguments: [["level": "cellar"], [:]] as [JSON])
    func anOperatorsBroadcastWithoutAKnownLevelEndsItsConnection(members: JSON) throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            try tool.broadcast("news", nil, members)
            try tool.expectEnd("bad-header")
        }
    }
}
