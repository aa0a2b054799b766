import StrataCore
import Testing

@testable import StrataTesting

/// The protocol's section 7: observations of patterns.
@Suite(.timeLimit(.hang))
struct PatternTests {
    @Test(.promise("7.21", "5.38")) func aPatternTakesTheNamesThatMatch() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observer = try bus.module(
                "Cat",
                ["observes": [["pattern": "storage.*"], ["pattern": "*.done", "object": "a"], "storage.changed"]])
            #expect(observer.welcome["features"]?.array?.contains("patterns") == true)
            let numbers = observer.welcome["subscriptions"]?.array ?? []
            let sender = try bus.module("Ant")
            #expect(try sender.recipients(ofBroadcast: "storage.changed", 1) == 2)
            #expect(try sender.recipients(ofBroadcast: "storage.done", 2, ["object": "a"]) == 2)
            #expect(try sender.recipients(ofBroadcast: "storage.done", 3, ["object": "b"]) == 1)
            #expect(try sender.recipients(ofBroadcast: "storage") == 0)
            #expect(try sender.recipients(ofBroadcast: "storage.a.b") == 0)
            for number in [2, 0] { try observer.expectNotice("storage.changed", 1, ["subscription": numbers[number]]) }
            let both = try (0..<2).map { _ in try observer.expectNotice("storage.done", 2, ["object": "a"]) }
            #expect(Set(both.compactMap { $0["subscription"]?.integer }).count == 2)
            try observer.expectNotice("storage.done", 3, ["subscription": numbers[0], "object": "b"])
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.21", "10.4")) func aPatternIsObservedAndEndedAtRunTime() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let (observer, sender) = (try bus.module("Cat"), try bus.module("Ant"))
            let number = try observer.asked("bus/observe", ["pattern": "a.>", "keep": "latest"])["subscription"]
            #expect(try sender.recipients(ofBroadcast: "a.b.c", 1) == 1)
            try observer.expectNotice("a.b.c", 1, ["subscription": number ?? .null, "via": "broadcast"])
            try observer.asked("bus/unobserve", ["subscription": number ?? .null])
            #expect(try sender.recipients(ofBroadcast: "a.b.c") == 0)
            try observer.expectNothing()
        }
    }

    /// A name is one, whatever signs it has.
    @Test(.promise("7.11", "7.21")) func aNameWithWildcardsIsNoPattern() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let (observer, sender) = (try bus.module("Cat", ["observes": ["a.*"]]), try bus.module("Ant"))
            #expect(try sender.recipients(ofBroadcast: "a.b") == 0)
            #expect(try sender.recipients(ofBroadcast: "a.*") == 1)
            try observer.asked("bus/observe", ["pattern": "a.*"])
            #expect(try sender.recipients(ofBroadcast: "a.*") == 2)
        }
    }

    @Test(.promise("7.1", "7.21")) func levelsHoldForPatterns() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observers = try ["Ant2", "Bee2", "Cat2"].map { try bus.module($0, ["observes": [["pattern": ">"]]]) }
            for (rank, name) in ["Ant", "Bee", "Cat"].enumerated() {
                #expect(try bus.module(name).recipients(ofBroadcast: "n.\(rank)", 1) == Int64(2 - rank))
                for observer in observers.dropFirst(rank + 1) { try observer.expectNotice("n.\(rank)", 1) }
            }
            for observer in observers { try observer.expectNothing() }
        }
    }

    @Test(.promise("7.2", "7.21")) func aReportReachesTheTargetsPatterns() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let observes: JSON = ["observes": [["pattern": "log.*"], "log.line", ["pattern": "other.*"]]]
            let (target, sender) = (try bus.module("Ant", observes), try bus.module("Cat"))
            let id = try sender.report("log.line", to: "Ant")
            for _ in 0..<2 { try target.reply(to: try target.expectNotice("log.line", nil, ["via": "report"])) }
            #expect(try sender.expectReply(to: id).json == ["observers": 2])
        }
    }

    @Test(
        .promise("7.22"),
        arguments: [
            (["pattern": "a.b"], "neither a segment * nor a last segment >"),
            (["pattern": "a.b.c.d.e.f.g.h.*"], "has 9 segments: give at most 8"),
            (["name": "a", "pattern": "*"], "has both \"name\" and \"pattern\""),
            ([:], "lacks \"name\""), (["pattern": 7], "pattern"), (["pattern": ""], "neither"),
        ] as [(JSON, String)]) func whatIsNoPatternIsBadParams(observation: JSON, words: String) throws
    {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Cat")
            let refusal = try module.refused("bus/observe", observation, with: "bad-params")
            #expect(refusal["message"]?.string?.contains(words) == true, "\(refusal)")
            let peer = try bus.connect("Bee")
            let hello = try peer.sendHello("Bee", ["observes": [observation]])
            try peer.expectRefusal(of: hello, "bad-params")
        }
    }

    /// An adapter gives the broadcast another name, which the pattern matches too.
    @Test(.promise("7.23")) func aBroadcastReachesAPatternOnceUnderItsOwnNameFirst() throws {
        let table = AppTable.sixModules {
            $0.modules[0].provides = ["Storage"]
            var adapter = AppTable.Adapter(name: "Store", to: "Storage")
            adapter.notices = [.init(from: "saved.now", to: "store.saved")]
            $0.adapters = [adapter]
        }
        try MemoryBus.run(table) { bus in
            let observes: JSON = ["observes": [["pattern": ">"], ["pattern": "store.*"], "store.saved"]]
            let (sender, observer) = (try bus.provider("Ant", "Storage"), try bus.module("Cat", observes))
            #expect(try sender.recipients(ofBroadcast: "saved.now", 1) == 3)
            try observer.expectNotice("saved.now", 1, ["subscription": 1])
            let others = try (0..<2).map { _ in try observer.expectNotice("store.saved", 1)["subscription"]?.integer }
            #expect(Set(others) == [2, 3])
            try observer.expectNothing()
        }
    }

    /// An adapter gives one of them another name, which the pattern matches too.
    @Test(.promise("7.23", "7.25")) func whatIsRetainedComesToAPatternOnceAndInOrder() throws {
        let table = AppTable.sixModules {
            $0.modules[0].provides = ["Storage"]
            var adapter = AppTable.Adapter(name: "Store", to: "Storage")
            adapter.notices = [.init(from: "saved.now", to: "saved.before")]
            $0.adapters = [adapter]
        }
        try MemoryBus.run(table) { bus in
            let (sender, other) = (try bus.provider("Ant", "Storage"), try bus.module("Bee"))
            for (number, name) in ["saved.now", "saved", "saved.a", "other.b"].enumerated() {
                try sender.broadcast(name, .integer(Int64(number)), ["retain": true])
            }
            try other.broadcast("saved.a", 4, ["retain": true])
            let observer = try bus.module("Cat", ["observes": [["pattern": "saved.*"]]])
            try observer.expectNotice("saved.now", 0, ["retained": true, "subscription": 1])
            try observer.expectNotice("saved.a", 2, ["retained": true, "from": "Ant"])
            try observer.expectNotice("saved.a", 4, ["retained": true, "from": "Bee"])
            let late = try observer.asked("bus/observe", ["pattern": "*.before"])["subscription"]
            try observer.expectNotice("saved.before", 0, ["retained": true, "subscription": late ?? .null])
            try observer.asked("bus/observe", ["pattern": "other.>"])
            try observer.expectNotice("other.b", 3, ["retained": true])
            try observer.asked("bus/observe", ["pattern": ">"])
            for (name, number) in [("saved.now", 0), ("saved", 1), ("saved.a", 2), ("other.b", 3), ("saved.a", 4)] {
                try observer.expectNotice(name, .integer(Int64(number)), ["retained": true])
            }
            #expect(try sender.asked("bus/forget", ["name": "other.b"]) == ["forgotten": 1])
            try observer.asked("bus/observe", ["pattern": "other.*"])
            try observer.expectNothing()
        }
    }

    /// Many patterns, so the broadcast is delivered in batches.
    @Test(.promise("7.4", "7.21")) func manyObservationsOfPatternsGetAllInOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let patterns = (0..<400).map { number -> JSON in ["pattern": number % 2 == 0 ? "*.b" : "a.>"] }
            let (observer, sender) = (try bus.module("Cat", ["observes": .array(patterns)]), try bus.module("Ant"))
            for number in 0..<3 as Range<Int64> { try sender.broadcast("a.b", .integer(number)) }
            for number in 0..<3 as Range<Int64> {
                for _ in 0..<400 { try observer.expectNotice("a.b", .integer(number)) }
            }
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.16", "7.19", "7.21")) func whatAPatternTakesWakesARowAndIsHandedOver() throws {
        let table = AppTable.testing(
            .manual("Export", rank: 2, provides: ["Export"]) { row in
                row.start = .onDemand
                row.observes = [.init(name: "day.*", isPattern: true), .init(name: "day.ended")]
                row.wakes = ["day.*"]
            }, .manual("Ant"))
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            let (launcher, ant) = (try bus.launcher(), try bus.module("Ant"))
            #expect(try ant.recipients(ofBroadcast: "day.ended", 1) == 1)
            #expect(try ant.recipients(ofBroadcast: "day.began", 2) == 1)
            #expect(try ant.recipients(ofBroadcast: "month.began") == 0)
            try launcher.expectCall("launcher/start")
            try memory.resume(try memory.writtenDown())
            let export = try bus.connect("Export")
            try export.hello("Export", ["token": .string(try bus.vouch(for: "Export")), "interfaces": ["Export": [:]]])
            try memory.resume(try memory.writtenDown())
            for step in ["setUp", "initialize"] { try export.reply(to: try export.expectCall("module/\(step)")) }
            try export.expectNotice("day.ended", 1, ["subscription": 1])
            try export.expectNotice("day.began", 2, ["subscription": 1])
            #expect(try ant.recipients(ofBroadcast: "day.ended", 3) == 2)
        }
    }

    @Test(.promise("10.9")) func namesListsPatternsApart() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let module = try bus.module("Cat", ["observes": ["b", ["pattern": "a.*"]]])
            let names = try module.asked("bus/names")
            #expect(names["notifications"] == ["b"] && names["patterns"] == ["a.*"])
        }
    }
}
