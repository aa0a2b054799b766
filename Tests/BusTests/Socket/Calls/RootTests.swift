import StrataCore
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 6: where an error began.
@Suite(.timeLimit(.hang))
struct RootTests {
    private struct Chain {
        let first: RawPeer, middle: RawPeer, last: RawPeer
    }

    /// Cat calls Bee, which calls Ant for that call.
    private func chain(_ test: (TestBus, Chain) throws -> Void) throws {
        try MemoryBus.run(.sixModules()) { bus in
            try test(
                bus,
                Chain(
                    first: try bus.module("Cat"), middle: try bus.provider("Bee", "Outer"),
                    last: try bus.provider("Ant", "Inner", ["observes": ["news"]])))
        }
    }

    @Test(.promise("6.34")) func anErrorThatPassesThroughModulesKeepsItsRoot() throws {
        try chain { bus, chain in
            let topmost = try bus.provider("Cat2", "Top")
            let asked = try chain.first.call("Top/act")
            let top = try topmost.expectCall("Top/act")
            let outer = try topmost.call("Outer/act", nil, ["parent": top.number])
            let middle = try chain.middle.expectCall("Outer/act")
            let inner = try chain.middle.call("Inner/act", nil, ["parent": middle.number])
            try chain.last.fail(try chain.last.expectCall("Inner/act"), "Inner.no-table", "no such table")
            // The failure itself has no root.
            #expect(try chain.middle.answer(to: inner)["root"] == nil)
            let root: JSON = [
                "code": "Inner.no-table", "message": "no such table", "module": "Ant", "path": "Inner/act",
            ]
            try chain.middle.fail(middle, "failed", "it failed")
            #expect(try topmost.answer(to: outer)["root"] == root)
            try topmost.fail(top, "Top.sorry", "sorry")
            #expect(try chain.first.answer(to: asked)["root"] == root)
        }
    }

    /// The first failure counts, even if others follow.
    @Test(.promise("6.34")) func theFirstFailureIsTheRoot() throws {
        try chain { bus, chain in
            let asked = try chain.first.call("Outer/act")
            let outer = try chain.middle.expectCall("Outer/act")
            let parent: JSON = ["parent": outer.number]
            for number in 1...2 {
                try chain.middle.call("Inner/act", nil, parent)
                try chain.last.fail(try chain.last.expectCall("Inner/act"), "Inner.e\(number)")
            }
            try chain.middle.call("Inner/act", nil, parent)
            try chain.last.reply(to: try chain.last.expectCall("Inner/act"))
            try chain.middle.fail(outer, "failed")
            #expect(try chain.first.answer(to: asked)["root"]?["code"] == "Inner.e1")
        }
    }

    @Test(.promise("6.34", "3.14")) func withoutAFailureBehindItAnErrorHasNoRoot() throws {
        try chain { bus, chain in
            let asked = try chain.first.call("Outer/act")
            let outer = try chain.middle.expectCall("Outer/act")
            // What is made for nothing, or succeeds, is no root.
            try chain.middle.refused("Nobody/act", with: "unknown-interface")
            try chain.middle.call("Inner/act", nil, ["parent": outer.number])
            try chain.last.reply(to: try chain.last.expectCall("Inner/act"))
            let own: JSON = ["code": "x", "message": "y", "module": "Cat", "path": "z"]
            for said in [own, "text", 7, nil] as [JSON] {
                let again = try chain.first.call("Outer/act")
                let call = try chain.middle.find(["kind": "call", "to": "Outer/act"])
                try chain.middle.send(["kind": "error", "id": call.number, "code": "Outer.no", "root": said])
                #expect(try chain.first.answer(to: again)["root"] == nil)
            }
            try chain.middle.send(["kind": "error", "id": outer.number, "code": "Outer.no", "root": own])
            #expect(try chain.first.answer(to: asked)["root"] == nil)
        }
    }

    /// What the broker refuses or ends counts as well.
    @Test(
        .promise("6.34"),
        arguments: [
            ("unknown-interface", "bus", "Nobody/act"), ("unknown-scheme", "bus", ""),
            ("unknown-module", "bus", "news"), ("unknown-action", "bus", "bus/nothing"),
            ("died", "Ant", "Inner/act"), ("deadline-exceeded", "Ant", "Inner/act"), ("cancelled", "Ant", "Inner/act"),
            ("Inner.no", "Ant", "news"), ("deadline-exceeded", "Ant", "news"),
        ])
    func aFailureThatTheBrokerTellsIsARoot(code: String, module: String, path: String) throws {
        try chain { bus, chain in
            let asked = try chain.first.call("Outer/act")
            let outer = try chain.middle.expectCall("Outer/act")
            let parent: JSON = ["parent": outer.number]
            let id: UInt64
            switch (code, path) {
            case ("unknown-scheme", _): id = try chain.middle.open("nothing://x/", parent)
            case ("unknown-module", _): id = try chain.middle.report("news", to: "Nobody", nil, parent)
            case ("deadline-exceeded", "news"):
                id = try chain.middle.report("news", to: "Ant", nil, parent.with(["deadline": 1]))
            case (_, "news"):
                id = try chain.middle.report("news", to: "Ant", nil, parent)
                try chain.last.fail(try chain.last.expectNotice("news"), "Inner.no")
            case ("deadline-exceeded", _): id = try chain.middle.call(path, nil, parent.with(["deadline": 1]))
            default: id = try chain.middle.call(path, nil, parent)
            }
            if code == "died" { chain.last.close() }
            if code == "cancelled" { try chain.middle.cancel(id) }
            let failure = try chain.middle.expectError(to: id, code)
            try chain.middle.fail(outer, "failed")
            let root = try chain.first.answer(to: asked)["root"]
            #expect(root?["code"] == .string(code) && root?["module"] == .string(module), "\(root ?? nil)")
            #expect(root?["path"] == (path.isEmpty ? nil : .string(path)))
            #expect(root?["message"]?.string.map { failure.message.hasPrefix($0.prefix(200)) } == true)
        }
    }

    /// The requests that end with their parent are no failures behind it.
    @Test(.promise("6.34")) func whatEndsWithItsParentIsNoRoot() throws {
        try chain { bus, chain in
            let asked = try chain.first.call("Outer/act")
            let outer = try chain.middle.expectCall("Outer/act")
            let inner = try chain.middle.call("Inner/act", nil, ["parent": outer.number])
            try chain.last.expectCall("Inner/act")
            try chain.middle.fail(outer, "failed", "given up")
            #expect(try chain.first.answer(to: asked)["root"] == nil)
            try chain.middle.expectError(to: inner, "cancelled")
        }
    }

    /// An observer's request fails, and with it the observer and the report.
    @Test(.promise("6.34")) func aReportsErrorHasTheRootOfItsObserver() throws {
        try chain { bus, chain in
            let report = try chain.first.report("news", to: "Ant")
            let notice = try chain.last.expectNotice("news")
            try chain.last.refused("Nobody/act", nil, ["parent": notice.number], with: "unknown-interface")
            try chain.last.fail(notice, "failed")
            #expect(try chain.first.answer(to: report)["root"]?["path"] == "Nobody/act")
        }
    }

    @Test(.promise("6.35", "2.7")) func textsAreCutSoThatTheHeaderStaysInItsBound() throws {
        try chain { bus, chain in
            let asked = try chain.first.call("Outer/act")
            let outer = try chain.middle.expectCall("Outer/act")
            let inner = try chain.middle.call("Inner/act", nil, ["parent": outer.number])
            let text = String(repeating: "\u{1}é\"", count: 1_000)
            try chain.last.fail(try chain.last.expectCall("Inner/act"), "Inner.\(text.prefix(900))", text)
            // Two peers' frames have no order.
            _ = try chain.middle.answer(to: inner)
            try chain.middle.fail(outer, "failed", String(repeating: "x", count: 16_200))
            let answer = try chain.first.answer(to: asked)
            #expect(answer.headerBytes.count <= 16_384 + 1_024)
            let message = try #require(answer["root"]?["message"]?.string)
            #expect(message.hasSuffix("…") && text.hasPrefix(message.dropLast()))
            #expect((240...262).contains(JSON.string(message).encoded().count))
            #expect(answer["root"]?["code"]?.string?.hasSuffix("…") == true)
        }
    }

    /// At the bound of one module's roots, further errors have none, until its calls have ended.
    /// Other modules' errors still have theirs.
    @Test(.promise("6.35")) func theRootsOfOneModulesRequestsHaveABound() throws {
        let table = AppTable.sixModules { $0.limits.calls = 20_000 }
        try MemoryBus.run(table) { bus in
            let (owner, caller) = (try bus.provider("Ant", "Inner"), try bus.module("Bee"))
            // Each takes some 700 bytes, and one module's a ninth of all.
            let most = CallTable.mostRootBytes / 9 / 600
            let long = String(repeating: "x", count: 300)
            var calls: [(UInt64, ReceivedFrame)] = []
            for _ in 0...most {
                let id = try caller.call("Inner/act", nil, ["deadline": 600_000])
                let call = try owner.expectCall("Inner/act")
                try owner.refused("\(long)/act", nil, ["parent": call.number], with: "unknown-interface")
                calls.append((id, call))
            }
            func root(_ call: (UInt64, ReceivedFrame)) throws -> JSON? {
                try owner.fail(call.1, "failed")
                return try caller.answer(to: call.0)["root"]
            }
            #expect(try root(calls[most]) == nil)
            let other = try bus.provider("Ant2", "Other")
            let asked = try caller.call("Other/act")
            let its = try other.expectCall("Other/act")
            try other.refused("Nobody/act", nil, ["parent": its.number], with: "unknown-interface")
            try other.fail(its, "failed")
            #expect(try caller.answer(to: asked)["root"] != nil)
            #expect(try root(calls[0]) != nil)
            // The one that ended left room.
            let id = try caller.call("Inner/act")
            let call = try owner.expectCall("Inner/act")
            try owner.refused("Nobody/act", nil, ["parent": call.number], with: "unknown-interface")
            #expect(try root((id, call)) != nil)
        }
    }

    @Test(.promise("6.34")) func aRootOutlivesTheBroker() throws {
        let table = AppTable.sixModules()
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            let (owner, caller) = (try bus.provider("Ant", "Inner"), try bus.module("Bee"))
            let id = try caller.call("Inner/act")
            let call = try owner.expectCall("Inner/act")
            try owner.refused("Nobody/act", nil, ["parent": call.number], with: "unknown-interface")
            try memory.resume(try memory.writtenDown())
            try owner.fail(call, "failed")
            let root = try caller.answer(to: id)["root"]
            #expect(root?["path"] == "Nobody/act" && root?["module"] == "bus")
        }
    }
}
