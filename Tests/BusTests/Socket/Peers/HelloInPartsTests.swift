import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5: a hello with `more`, and `bus/register` before the start.
@Suite(.timeLimit(.hang))
struct HelloInPartsTests: AuthorizationSuite {
    /// A module that has sent the first part.
    private func begun(_ bus: TestBus, _ name: String, _ hello: JSON = [:], answersLifecycle: Bool = true) throws
        -> RawPeer
    {
        let peer = try bus.connect(name, answersLifecycle: answersLifecycle)
        try peer.hello(name, hello.with(["more": true]))
        return peer
    }

    @Test(.promise("5.6")) func theStartBeginsAfterTheLastPart() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let caller = try bus.module("Bee")
            let peer = try begun(
                bus, "Ant", ["interfaces": ["One": ["actions": ["a": [:]]]], "observes": ["x"], "events": ["e"]],
                answersLifecycle: false)
            #expect(peer.welcome["subscriptions"] == [1])
            let waiting = try caller.call("One/b")
            let second: JSON = [
                "interfaces": ["One": ["add": true, "actions": ["b": [:]]]], "observes": ["y", "z"],
                "broadcasts": ["said"], "reports": ["Bee": ["told"]], "requires": ["Two"], "more": true,
            ]
            try peer.expectReply(to: try peer.call("bus/register", second), body: ["subscriptions": [2, 3]])
            try caller.settle()
            try peer.expectNothing()
            #expect(try bus.state(of: "Ant") == "starting")
            let last: JSON = ["urls": [["host": "one", "path": "/", "to": "One/a"]], "events": ["f"]]
            let id = try peer.call("bus/register", last)
            // Its answer comes first.
            try peer.expect(["kind": "reply", "id": .integer(Int64(id))], body: ["subscriptions": []])
            for step in ["setUp", "initialize"] { try peer.reply(to: try peer.expectCall("module/\(step)")) }
            try peer.reply(to: try peer.find(["kind": "call", "to": "module/didStart"]))
            try peer.reply(to: try peer.expectCall("One/b"), "done")
            try caller.expectReply(to: waiting, body: "done")
            let opened = try caller.open("test://one/")
            try peer.reply(to: try peer.expectCall("One/a"), 1)
            try caller.expectReply(to: opened, body: 1)
            let events = try bus.operator().asked("bus/names")["events"]
            #expect(events == ["e", "f"])
            let rows = try bus.operator().asked("bus/interfaces")["interfaces"]?.array
            #expect(rows?.first?["actions"]?.array?.map { $0["name"] } == ["a", "b"])
        }
    }

    @Test(.promise("5.6")) func aSessionThatResumesIsReadyAfterTheLastPart() throws {
        let named = table()
        try MemoryBus.run(named) { bus in
            let gate = try bus.provider("Gate", "Guard")
            let hand = try bus.module("Hand")
            let shop = try begun(
                bus, "Shop", ["interfaces": ["Shop": ["actions": ["look": [:]]]], "resumed": true])
            // It isn't known yet that the action needs the authorizer.
            let call = try hand.call("Shop/buy")
            try hand.settle()
            try shop.expectNothing()
            #expect(try bus.state(of: "Shop") == "starting")
            try shop.asked("bus/register", ["interfaces": ["Shop": ["add": true, "actions": ["buy": ["auth": true]]]]])
            #expect(try bus.state(of: "Shop") == "ready")
            try gate.reply(to: try gate.expectCall("Guard/authorize"), ["allow": true])
            try shop.reply(to: try shop.expectCall("Shop/buy"))
            try hand.expectReply(to: call)
            #expect(shop.lifecycle.isEmpty)
        }
    }

    @Test(.promise("5.6")) func theLastPartComesInTime() throws {
        try MemoryBus.run(.sixModules { $0.startup = 1_500 }) { bus in
            let error = try begun(bus, "Ant").expectEnd("failed")
            #expect(error.message.contains("startup"), "\(error)")
            let peer = try begun(bus, "Bee")
            try peer.asked("bus/register", ["more": true])
            try peer.expectEnd("failed")
        }
    }

    @Test(.promise("5.7")) func aRefusedPartChangesNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            _ = try bus.provider("Bee", "Taken")
            let peer = try begun(bus, "Ant", ["interfaces": ["Any": [:], "Some": ["actions": ["a": [:]]]]])
            let refusals: [(JSON, String)] = [
                (["interfaces": ["Free": [:], "Taken": [:]], "observes": ["x"], "events": ["e"]], "name-taken"),
                (["urls": [["host": "h", "path": "/", "to": "Later/a"]]], "bad-params"),
                (["interfaces": ["Absent": ["add": true, "actions": ["a": [:]]]]], "bad-params"),
                (["interfaces": ["Any": ["add": true, "actions": ["a": [:]]]]], "bad-params"),
                (["events": [5]], "bad-params"), (["more": 1], "bad-params"),
            ]
            for (part, code) in refusals { try peer.refused("bus/register", part, with: code) }
            #expect(try bus.state(of: "Ant") == "starting")
            try peer.asked("bus/register", ["interfaces": ["Free": [:]]])
            try peer.becomeReady()
            #expect(try bus.operator().asked("bus/names")["events"] == [])
            #expect(try bus.module("Bee2").recipients(ofBroadcast: "x") == 0)
        }
    }

    @Test func helloItselfAddsNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Ant", ["interfaces": ["A": ["add": true]], "more": true])
            try peer.expectRefusal(of: hello, "bad-params")
        }
    }

    @Test(.promise("5.7")) func limitsHoldOverAllParts() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["A"]) { row in
                row.observes = [.init(name: "own")]
                row.urls = [.init(host: "own", path: "/", to: "A/a")]
            }
        ) {
            $0.limits.interfaces = 2
            $0.limits.urls = 2
            $0.limits.observations = 3
        }
        try MemoryBus.run(table) { bus in
            let (one, two): (JSON, JSON) = (
                ["host": "a", "path": "/1", "to": "A/a"], ["host": "a", "path": "/2", "to": "A/a"]
            )
            let peer = try begun(bus, "Ant", ["interfaces": ["A": [:]], "observes": ["x"]])
            let most: [(JSON, String)] = [
                (["interfaces": ["B": [:], "C": [:]]], "limits.interfaces"), (["urls": [one, two]], "limits.urls"),
                (["observes": ["y", "z", "w"], "more": true], "limits.observations"),
                // Together with the row's.
                (["observes": ["y", "z"]], "limits.observations"),
            ]
            for (part, limit) in most {
                let error = try peer.refused("bus/register", part, with: "overloaded")
                #expect(error.message.contains("Ant") && error.message.contains("(\(limit))"), "\(error)")
            }
            try peer.asked("bus/register", ["interfaces": ["B": [:]], "urls": [one], "observes": ["y"]])
            try peer.becomeReady()
        }
    }

    @Test(.promise("5.7")) func theRowsInterfacesAreJudgedAtTheLastPart() throws {
        try MemoryBus.run(.testing(.manual("Ant", provides: ["A", "B"]))) { bus in
            let peer = try begun(bus, "Ant", ["interfaces": ["A": [:]]])
            try peer.asked("bus/register", ["interfaces": ["Other": [:]], "more": true])
            let error = try peer.refused("bus/register", ["events": ["e"]], with: "bad-params")
            #expect(error.message.contains("interface B"), "\(error)")
            try peer.asked("bus/register", ["interfaces": ["B": [:]]])
            try peer.becomeReady()
        }
    }

    @Test(.promise("5.7")) func theRowsObservationsComeWithTheLastPart() throws {
        let table = AppTable.testing(
            .manual("Ant"), .manual("Bee", rank: 1) { $0.observes = [.init(name: "a"), .init(name: "b")] })
        try MemoryBus.run(table) { bus in
            let ant = try bus.module("Ant")
            let peer = try begun(bus, "Bee", ["observes": ["x"]])
            #expect(peer.welcome["subscriptions"] == [1])
            let more = try peer.asked("bus/register", ["observes": ["a"], "more": true])
            #expect(more["subscriptions"] == [2])
            #expect(try ant.recipients(ofBroadcast: "b") == 0)
            #expect(try peer.asked("bus/register", [:])["subscriptions"] == [3])
            for name in ["a", "b", "x"] { #expect(try ant.recipients(ofBroadcast: name) == 1) }
        }
    }

    // MARK: other processes

    private var overlapping: AppTable {
        .testing(
            .eager("Shop", rank: 1, provides: ["Shop"]) {
                $0.replace = .overlap
                $0.stop = 60_000
            }, .manual("Cat", rank: 2), .manual("Ant"))
    }

    @Test(.promise("5.8"), arguments: [false, true])
    func aNextProcessTakesOverAfterTheLastPart(resumed: Bool) throws {
        try TestBus.run(overlapping) { bus in
            let old = try bus.process(of: "Shop", ["interfaces": ["Shop": [:]]])
            try old.peer.becomeReady()
            let (cat, ant) = (try bus.module("Cat"), try bus.module("Ant"))
            let new = try bus.process(
                of: "Shop", ["interfaces": ["New": [:]], "more": true, "resumed": .bool(resumed)])
            try new.peer.asked("bus/register", ["observes": ["news"], "more": true])
            try new.peer.refused("bus/register", ["events": ["e"]], with: "bad-params")
            let call = try cat.call("Shop/a")
            try old.peer.reply(to: try old.peer.expectCall("Shop/a"))
            try cat.expectReply(to: call)
            try cat.refused("New/a", with: "unknown-interface")
            #expect(try ant.recipients(ofBroadcast: "news") == 0)
            #expect(new.peer.lifecycle.isEmpty)
            try new.peer.asked("bus/register", ["interfaces": ["Shop": ["actions": ["b": [:]]]], "events": ["e"]])
            if !resumed { try new.peer.becomeReady() }
            try old.peer.expectEnd("shutting-down")
            let next = try cat.call("Shop/b")
            try new.peer.reply(to: try new.peer.expectCall("Shop/b"))
            try cat.expectReply(to: next)
            #expect(try ant.recipients(ofBroadcast: "news") == 1)
            #expect(try bus.operator().asked("bus/names")["events"] == ["e"])
            #expect(new.peer.lifecycle == (resumed ? [] : ["setUp", "initialize", "didStart"]))
        }
    }

    @Test func theOldProcessMayEndBeforeTheLastPart() throws {
        try TestBus.run(overlapping) { bus in
            let old = try bus.process(of: "Shop", ["interfaces": ["Shop": [:]]])
            try old.peer.becomeReady()
            let cat = try bus.module("Cat")
            let new = try bus.process(of: "Shop", ["interfaces": ["Shop": [:]], "more": true])
            old.die()
            let call = try cat.call("Shop/a")
            try bus.waitUntil("Shop", is: "starting")
            #expect(new.peer.lifecycle.isEmpty)
            try new.peer.asked("bus/register", ["interfaces": ["New": [:]]])
            try new.peer.becomeReady()
            try new.peer.reply(to: try new.peer.expectCall("Shop/a"))
            try cat.expectReply(to: call)
        }
    }

    @Test(.promise("5.8")) func aHelloThatWaitsForItsVouchGoesOnInParts() throws {
        try MemoryBus.run(.testing(.eager("Login", provides: ["Login"]))) { bus in
            let launcher = try bus.launcher()
            let peer = try bus.connect("Login", answersLifecycle: true)
            let hello = try peer.sendHello("Login", ["token": "right", "more": true])
            // The frames after it wait with it, and may be larger than hello.
            let more = try peer.call("bus/register", ["interfaces": ["Login": ["actions": ["a": [:]]]], "more": true])
            let last = try peer.call("bus/register", ["observes": ["x"]])
            try launcher.settle()
            #expect(peer.inbox.isEmpty)
            try bus.vouch(for: "Login", token: "right")
            try peer.expectReply(to: hello, body: ["subscriptions": []])
            try peer.expectReply(to: more, body: ["subscriptions": []])
            try peer.expectReply(to: last, body: ["subscriptions": [1]])
            try peer.becomeReady()
        }
    }

    @Test(.promise("5.8")) func thePartsGoOnInTheNextProgram() throws {
        let rows: [AppTable.Row] = [.manual("Ant"), .manual("Bee") { $0.observes = [.init(name: "own")] }]
        try TestBus.run(
            .testing(rows) { $0.startup = 60_000 }, executable: try BuiltExecutable.path("strata-broker")
        ) { bus in
            let starting = try begun(bus, "Ant", ["interfaces": ["A": ["actions": ["a": [:]]]]])
            let resuming = try begun(bus, "Bee", ["resumed": true, "events": ["e"]])
            try bus.operator().asked("bus/handOver")
            for peer in [starting, resuming] { #expect(peer.lifecycle.isEmpty) }
            try starting.asked(
                "bus/register", ["interfaces": ["A": ["add": true, "actions": ["b": [:]]]], "more": true])
            try bus.operator().asked("bus/handOver")
            try starting.asked("bus/register", [:])
            try starting.becomeReady()
            #expect(try bus.state(of: "Bee") == "starting")
            #expect(try resuming.asked("bus/register", ["observes": ["x"]])["subscriptions"] == [1, 2])
            #expect(try bus.state(of: "Bee") == "ready")
            let rows = try bus.operator().asked("bus/interfaces")["interfaces"]?.array
            #expect(rows?.first?["actions"]?.array?.count == 2)
        }
    }

    // MARK: the most

    /// Everything that section 13 lets one module bring, in parts that keep within its bounds.
    @Test(.promise("5.9"), .disabled(if: TestBus.isHandedOverEachRound, "its state is too much for each of 200 rounds"))
    func theMostThatAModuleMayBringComesInParts() throws {
        func name(_ letter: String, _ number: Int) -> String {
            letter + String(number) + String(repeating: "x", count: 63 - String(number).utf8.count)
        }
        func named(_ letter: String, _ count: Int, in size: Int, _ make: ([JSON]) -> JSON) -> [JSON] {
            stride(from: 0, to: count, by: size).map { first in
                make((first..<min(first + size, count)).map { .string(name(letter, $0)) })
            }
        }
        // One interface has half of all actions.
        let large = stride(from: 0, to: 8_192, by: 512).map { first -> JSON in
            let actions = (first..<first + 512).map { JSON.Member(name("a", $0), [:]) }
            let add: [JSON.Member] = first == 0 ? [] : [.init("add", true)]
            return ["interfaces": ["Large": .object(add + [.init("actions", .object(actions))])]]
        }
        let small = stride(from: 0, to: 255, by: 17).map { first -> JSON in
            let interfaces = (first..<first + 17).map { number in
                let count = number < 32 ? 8_192 / 255 + 1 : 8_192 / 255
                let actions = (0..<count).map { JSON.Member(name("a", $0), ["auth": .bool($0 == 0)]) }
                return JSON.Member(name("I", number), ["actions": .object(actions)])
            }
            return ["interfaces": .object(interfaces)]
        }
        let urls = stride(from: 0, to: 1_024, by: 8).map { first -> JSON in
            // The longest path with which all of them fit.
            let filler = "/" + String(repeating: "y", count: 940)
            return [
                "urls": .array(
                    (first..<first + 8).map {
                        ["host": "h", "path": .string("\(filler)/\($0)"), "to": "Large/\(name("a", 0))"]
                    }
                )
            ]
        }
        let longObjects = (0..<8).map { number -> JSON in
            ["observes": .array((0..<3).map { ["name": .string("n\(number)-\($0)"), "object": .filler(16 << 10)] })]
        }
        let observes = named("o", 1_000, in: 500) { ["observes": .array($0)] }
        let events = named("e", 16_384, in: 800) { ["events": .array($0)] }
        let requires = named("R", 16_384, in: 800) { ["requires": .array($0)] }
        let parts = large + small + urls + longObjects + observes + events + requires
        try MemoryBus.run(.sixModules { $0.startup = 600_000 }) { bus in
            let peer = try begun(bus, "Ant")
            var count = 0
            for part in parts {
                let told = try peer.asked("bus/register", part.with(["more": true]))
                count += told["subscriptions"]?.array?.count ?? 0
            }
            #expect(count == 1_024)
            let beyond: [(JSON, String)] = [
                (["interfaces": ["More": [:]]], "overloaded"), (["observes": ["more"]], "overloaded"),
                (["urls": [["host": "h", "path": "/", "to": "Large/a"]]], "overloaded"),
                (["events": ["more"]], "bad-params"), (["requires": ["More"]], "bad-params"),
                (["interfaces": ["Large": ["add": true, "actions": ["more": [:]]]]], "bad-params"),
            ]
            for (part, code) in beyond { try peer.refused("bus/register", part, with: code) }
            try peer.asked("bus/register", [:])
            try peer.becomeReady()
            let row = try bus.operator().asked("bus/modules")["modules"]?.array?.first
            #expect(row?["usage"]?["interfaces"] == 256)
            #expect(row?["usage"]?["urls"] == 1_024)
            #expect(row?["usage"]?["observations"] == 1_024)
            let caller = try bus.module("Bee")
            for action in ["Large/\(name("a", 8_191))", "\(name("I", 254))/\(name("a", 31))"] {
                try caller.call(action)
                try peer.expectCall(action)
            }
            try caller.refused("Large/more", with: "unknown-action")
        }
    }
}
