import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// The protocol's section 7: the bus keeps what a module retains, and observers get it when they
/// begin.
@Suite(.timeLimit(.hang))
struct RetainTests {
    private static let retain: JSON = ["retain": true]

    // MARK: When observers get it

    @Test(.promise("7.25")) func helloIsAnsweredThenComesTheLastOfEachKeyInTheirOrder() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            for (name, number) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] as [(String, JSON)] {
                #expect(try sender.recipients(ofBroadcast: name, number, Self.retain) == 0)
            }
            let observer = try bus.connect("Cat")
            try observer.hello("Cat", ["observes": ["a", "b", "b"]])
            try observer.expectNotice("b", 2, ["retained": true, "subscription": 2, "from": "Ant", "level": "basic"])
            try observer.expectNotice("b", 2, ["retained": true, "subscription": 3, "via": "broadcast"])
            try observer.expectNotice("a", 3, ["retained": true, "subscription": 1])
            try observer.expectCall("module/setUp")
            // What comes from now on is an ordinary notice.
            #expect(try sender.recipients(ofBroadcast: "a", 5, Self.retain) == 1)
            #expect(try observer.expectNotice("a", 5)["retained"] == nil)
        }
    }

    @Test(.promise("7.25", "7.12")) func observeAndAPartOfHelloAreAnsweredFirst() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            try sender.broadcast("a", 1, ["retain": true, "trace": "t", "meta": ["m": 1]])
            let observer = try bus.connect("Cat", answersLifecycle: true)
            try observer.hello("Cat", ["more": true])
            let part = try observer.call("bus/register", ["observes": ["a"]])
            let observe = try observer.call("bus/observe", ["name": "a"])
            let frames = try observer.drain()
            #expect(frames.map(\.kind) == ["reply", "notice", "reply", "notice"])
            #expect(frames[0].id == part && frames[2].id == observe)
            #expect(frames[1].matches(["subscription": 1, "retained": true, "trace": "t", "meta": ["m": 1]], body: 1))
            #expect(frames[3].matches(["subscription": 2, "retained": true], body: 1))
        }
    }

    @Test(.promise("7.25")) func aSessionThatComesBackGetsItAgain() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").broadcast("a", 1, Self.retain)
            for _ in 0..<2 {
                let observer = try bus.connect("Cat", answersLifecycle: true)
                try observer.hello("Cat", ["observes": ["a"], "resumed": true])
                try observer.expectNotice("a", 1, Self.retained)
                observer.close()
                try bus.waitUntil("Cat", is: "absent")
            }
        }
    }

    private static let retained: JSON = ["retained": true]

    @Test(.promise("7.25", "7.1")) func onlyLaterLevelsGetIt() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Bee")
            try sender.broadcast("a", 1, Self.retain)
            _ = try sender.drain()
            for name in ["Ant", "Bee2"] {
                let observer = try bus.module(name)
                try observer.asked("bus/observe", ["name": "a"])
                try observer.expectNothing()
            }
            try sender.asked("bus/observe", ["name": "a"])
            try sender.expectNothing()
            let observer = try bus.module("Cat")
            try observer.asked("bus/observe", ["name": "a"])
            try observer.expectNotice("a", 1, Self.retained)
        }
    }

    @Test(.promise("7.25", "7.3")) func anObservationWithAnObjectGetsThatOneAlone() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let other = try bus.module("Ant2")
            try sender.broadcast("a", 1, ["retain": true, "object": "one"])
            try sender.broadcast("a", 2, ["retain": true, "object": "two"])
            try sender.broadcast("a", 3, Self.retain)
            try other.broadcast("a", 4, ["retain": true, "object": "two"])
            let observer = try bus.module("Cat", ["observes": [["name": "a", "object": "two"]]])
            #expect(try observer.drain().map(\.json) == [2, 4])
            try observer.asked("bus/observe", ["name": "a"])
            #expect(try observer.drain().map(\.json) == [1, 2, 3, 4])
            // Each is replaced by a newer one of the same sender and object alone.
            try sender.broadcast("a", 5, ["retain": true, "object": "two"])
            _ = try observer.drain()
            try observer.asked("bus/observe", ["name": "a"])
            #expect(try observer.drain().map(\.json) == [1, 3, 4, 5])
        }
    }

    @Test(.promise("7.25")) func anAdaptersNameHasItToo() throws {
        let table = AppTable.sixModules { table in
            table.modules[0].provides = ["New"]
            var adapter = AppTable.Adapter(name: "Old", to: "New")
            adapter.notices = [AppTable.Rename(from: "new.done", to: "old.done")]
            table.adapters = [adapter]
        }
        try MemoryBus.run(table) { bus in
            let sender = try bus.module("Ant")
            for number in 1...3 as ClosedRange<Int64> {
                try sender.broadcast("new.done", .integer(number), Self.retain)
            }
            let observer = try bus.module("Cat", ["observes": ["old.done", "new.done"]])
            #expect(try observer.drain().map { "\($0.name) \($0.json)" } == ["new.done 3", "old.done 3"])
            try sender.asked("bus/forget", ["name": "new.done"])
            try observer.asked("bus/observe", ["name": "old.done"])
            try observer.expectNothing()
        }
    }

    /// What has woken a module comes first, then what is retained, so the last one is the current one.
    @Test(.promise("7.25", "7.16")) func aModuleThatItHasWokenHasTheLastOneInTheEnd() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .manual("Export", rank: 2) { row in
                row.start = .onDemand
                row.observes = [.init(name: "a"), .init(name: "b")]
                row.wakes = ["a"]
            })
        try MemoryBus.run(table) { bus in
            let (launcher, sender) = (try bus.launcher(), try bus.module("Ant"))
            for number in 1...2 as ClosedRange<Int64> { try sender.broadcast("a", .integer(number), Self.retain) }
            try sender.broadcast("b", 3, Self.retain)
            try launcher.expectCall("launcher/start")
            let export = try bus.connect("Export", answersLifecycle: true)
            try export.hello("Export", ["token": .string(try bus.vouch(for: "Export"))])
            var came: [String] = []
            while came.last != "a 2 retained" {
                let notice = try export.find(["kind": "notice"])
                came.append("\(notice.name) \(notice.json)\(notice["retained"] == true ? " retained" : "")")
            }
            #expect(came == ["b 3 retained", "a 1", "a 2", "a 2 retained"])
        }
    }

    // MARK: How long it is kept

    @Test(.promise("7.26")) func itEndsWithTheSendersSession() throws {
        try MemoryBus.run(.sixModules { $0.guests = .init(rank: 0, most: 4) }) { bus in
            for name in ["Ant", "Guest"] {
                let sender = try bus.module(name)
                try sender.broadcast("a", 1, Self.retain)
                let observer = try bus.module("Cat", ["observes": ["a"]])
                try observer.expectNotice("a", 1, Self.retained)
                sender.close()
                try bus.operator().settle()
                let again = try bus.module(name)
                try observer.asked("bus/observe", ["name": "a"])
                try observer.expectNothing()
                again.close()
                observer.close()
                try bus.waitUntil("Cat", is: "absent")
            }
        }
    }

    private func lastingTable(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .sixModules { table in
            table.modules[0].retained = .app
            change(&table)
        }
    }

    @Test(.promise("7.26")) func aRowMayKeepItUntilTheAppEnds() throws {
        try MemoryBus.run(lastingTable()) { bus in
            let first = try bus.module("Ant")
            try first.broadcast("a", 1, Self.retain)
            try first.broadcast("b", 2, Self.retain)
            first.close()
            try bus.waitUntil("Ant", is: "absent")
            let observer = try bus.module("Cat", ["observes": ["a", "b"]])
            #expect(try observer.drain().map(\.json) == [1, 2])
            // The next session replaces it, and takes it back.
            let second = try bus.module("Ant")
            try second.broadcast("a", 3, Self.retain)
            try second.expect("bus/forget", ["name": "b"], gives: ["forgotten": 1])
            _ = try observer.drain()
            for name in ["a", "b"] as [JSON] { try observer.asked("bus/observe", ["name": name]) }
            #expect(try observer.drain().map(\.json) == [3])
        }
    }

    @Test(.promise("7.26", "M.33"), arguments: [true, false])
    func aReloadThatEndsTheKeyOrTheRowEndsIt(removesRow: Bool) throws {
        try MemoryBus.run(lastingTable()) { bus in
            _ = try bus.launcher()
            let sender = try bus.module("Ant")
            try sender.broadcast("a", 1, Self.retain)
            sender.close()
            try bus.waitUntil("Ant", is: "absent")
            #expect(try bus.reload(lastingTable()).kind == "reply")
            let observer = try bus.module("Cat", ["observes": ["a"]])
            try observer.expectNotice("a", 1, Self.retained)
            let new = removesRow ? lastingTable { $0.modules.removeFirst() } : .sixModules()
            #expect(try bus.reload(new).kind == "reply")
            try observer.asked("bus/observe", ["name": "a"])
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.26", "5.25")) func whatTheOldProcessRetainedStaysUntilItEnds() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Test"]) { row in
                row.replace = .overlap
                row.stop = 600_000
            }, .manual("Bee", rank: 1), .manual("Cat", rank: 2))
        try TestBus.run(table) { bus in
            let offer: JSON = ["interfaces": ["Test": [:]]]
            let old = try bus.process(of: "Ant", offer)
            try old.peer.becomeReady()
            for (name, number) in [("a", 1), ("b", 2)] as [(String, JSON)] {
                try old.peer.broadcast(name, number, Self.retain)
            }
            try old.peer.settle()
            let call = try bus.module("Bee").call("Test/act")
            let served = try old.peer.find(["kind": "call", "to": "Test/act"])
            let new = try bus.process(of: "Ant", offer)
            try new.peer.becomeReady()
            try new.peer.broadcast("a", 3, Self.retain)
            try new.peer.settle()
            let observer = try bus.module("Cat", ["observes": ["a", "b"]])
            #expect(try observer.drain().map(\.json) == [2, 3])
            try old.peer.reply(to: served)
            try old.peer.expectEnd("shutting-down")
            _ = call
            for name in ["a", "b"] as [JSON] { try observer.asked("bus/observe", ["name": name]) }
            #expect(try observer.drain().map(\.json) == [3])
        }
    }

    @Test(.promise("7.27")) func forgettingTakesItBack() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let (sender, other) = (try bus.module("Ant"), try bus.module("Ant2"))
            let observer = try bus.module("Cat")
            func kept() throws -> [JSON] {
                try observer.asked("bus/observe", ["name": "a"])
                return try observer.drain().map(\.json)
            }
            for (number, object) in [(1, "one"), (2, "two"), (3, "two words")] as [(JSON, JSON)] {
                try sender.broadcast("a", number, ["retain": true, "object": object])
            }
            try sender.broadcast("a", 4, Self.retain)
            try other.broadcast("a", 5, Self.retain)
            try sender.expect("bus/forget", ["name": "a", "object": "two"], gives: ["forgotten": 1])
            #expect(try kept() == [1, 3, 4, 5])
            try sender.expect("bus/forget", ["name": "a", "object": "two"], gives: ["forgotten": 0])
            try sender.expect("bus/forget", ["name": "b"], gives: ["forgotten": 0])
            try sender.expect("bus/forget", ["name": "a"], gives: ["forgotten": 3])
            #expect(try kept() == [5])
            try sender.refused("bus/forget", [:], with: "bad-params")
            try sender.refused("bus/forget", ["name": "a", "object": 1], with: "bad-params")
            try bus.operator().refused("bus/forget", ["name": "a"], with: "forbidden")
        }
    }

    // MARK: Who may retain, and what

    @Test(.promise("7.28")) func anOperatorCanRetainNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            let observer = try bus.module("Cat", ["observes": ["a"]])
            let members: JSON = ["retain": true, "level": "basic"]
            let error = try tool.expectError(to: try tool.broadcast("a", 1, members), "bad-params", ran: "no")
            #expect(error.message.contains("retain"))
            try tool.send(["kind": "broadcast", "name": "a", "retain": true, "level": "basic"])
            try tool.expectRemark("bad-params")
            try observer.expectNothing()
        }
    }

    @Test(.promise("7.28", "3.6")) func falseIsAsIfItWereAbsentAndAnotherTypeIsABadHeader() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant", ["observes": ["b"]])
            try sender.broadcast("a", 1, Self.retain)
            try sender.broadcast("a", 2, ["retain": false])
            try sender.report("b", to: "Ant", 3, Self.retain)
            #expect(try sender.find(["kind": "notice", "name": "b"])["retained"] == nil)
            let observer = try bus.module("Cat", ["observes": ["a", "b"]])
            #expect(try observer.drain().map(\.json) == [1])
            for members in ["{\"retain\":1", "{\"retained\":null", "{\"retain\":true,\"retain\":true"] {
                let peer = try bus.module("Ant2")
                try peer.send(header: "\(members),\"kind\":\"broadcast\",\"name\":\"a\"}")
                try peer.expectEnd("bad-header")
            }
        }
    }

    @Test(.promise("7.28", "6.20")) func whatMayNotBeBroadcastIsNotKept() throws {
        let table = AppTable.sixModules { table in
            table.calls = .declared
            table.modules[0].broadcasts = ["a"]
        }
        try MemoryBus.run(table) { bus in
            let sender = try bus.module("Ant")
            try sender.expectReply(to: try sender.broadcast("a", 1, Self.retain))
            try sender.expectError(to: try sender.broadcast("b", 2, Self.retain), "undeclared")
            let observer = try bus.module("Cat", ["observes": ["a", "b"]])
            #expect(try observer.drain().map(\.json) == [1])
        }
    }

    @Test(.promise("10.19")) func aMonitorSeesItsNotices() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").broadcast("a", 1, Self.retain)
            let tool = try bus.operator()
            let id = try tool.call("bus/monitor", ["name": "a"], ["credit": 100])
            try tool.settle()
            _ = try bus.module("Cat", ["observes": ["a"]])
            try tool.find(
                ["kind": "reply", "id": .integer(Int64(id)), "more": true], body: ["kind": "notice", "to": "Cat"])
        }
    }
}
