import StrataCore
import StrataTesting
import Testing

/// Requests that name the node of a row.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NamedNodeTests {
    /// `Thumbs` runs on both nodes.
    private static func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .twoNodes {
            $0.modules.append(
                .manual("Thumbs", rank: 1, provides: ["Thumbs"]) { $0.placement = .on(["berlin", "tokyo"]) })
            change(&$0)
        }
    }

    @Test(.promise("N.35", "N.36")) func aCallGoesToTheNodeThatItNames() throws {
        try TestNodes.run(Self.table()) { nodes in
            let here = try nodes.berlin.provider("Thumbs", "Thumbs")
            let there = try nodes.tokyo.provider("Thumbs", "Thumbs")
            let notes = try nodes.berlin.module("Notes")
            for (to, callee) in [("Thumbs@tokyo/make", there), ("Thumbs@berlin/make", here), ("Thumbs/make", here)] {
                let id = try notes.call(to, ["n": 1])
                try callee.reply(to: try callee.expectCall("Thumbs/make", ["n": 1], ["from": "Notes"]), ["made": 1])
                #expect(try notes.expectReply(to: id).json == ["made": 1])
            }
            try here.expectNothing()
            try there.expectNothing()
        }
    }

    @Test(.promise("N.35")) func aRowMayCallItselfOnAnotherNode() throws {
        try TestNodes.run(Self.table { $0.calls = .layered }) { nodes in
            let here = try nodes.berlin.provider("Thumbs", "Thumbs")
            let there = try nodes.tokyo.provider("Thumbs", "Thumbs")
            let id = try here.call("Thumbs@tokyo/make")
            try there.reply(to: try there.expectCall("Thumbs/make", nil, ["from": "Thumbs", "node": "berlin"]))
            try here.expectReply(to: id)
        }
    }

    @Test(.promise("N.35", "N.36")) func aReportGoesToTheNodeThatItNames() throws {
        try TestNodes.run(Self.table()) { nodes in
            let members: JSON = ["observes": ["seen"], "interfaces": ["Thumbs": [:]]]
            let here = try nodes.berlin.module("Thumbs", members)
            let there = try nodes.tokyo.module("Thumbs", members)
            let notes = try nodes.berlin.module("Notes")
            for (to, observer) in [("Thumbs@tokyo", there), ("Thumbs@berlin", here)] {
                let id = try notes.report("seen", to: to)
                try observer.reply(to: try observer.expectNotice("seen"))
                #expect(try notes.expectReply(to: id).json == ["observers": 1])
            }
        }
    }

    @Test(.promise("N.36")) func anInstanceOfThisNodeIsCalledByItsName() throws {
        try TestNodes.run(Self.table()) { nodes in
            let here = try nodes.berlin.module("Thumbs", ["interfaces": ["Thumbs": ["instances": "multiple"]]])
            let notes = try nodes.berlin.module("Notes")
            let instance = try notes.asked("bus/create", ["interface": "Thumbs"])["instance"]?.string ?? ""
            let id = try notes.call("\(instance)@berlin/make")
            try here.reply(to: try here.expectCall("\(instance)/make"))
            try notes.expectReply(to: id)
            let refused = try notes.refused("\(instance)@tokyo/make", with: "unknown-instance")
            #expect(refused.message.contains("isn't on the node tokyo"))
        }
    }

    @Test(
        .promise("N.37", "N.38"),
        arguments: [
            ("Index@berlin/find", "Index doesn't run on the node berlin: it runs on tokyo"),
            ("Index@tokio/find", "no node is named \"tokio\": did you mean tokyo?"),
            ("Index@/find", "no node is named \"\""),
            ("Indexes@tokyo/find", "no row and no live module provides Indexes"),
            ("Index@tokyo", "names no action"), ("Index@tokyo#7/find", "no node is named \"tokyo#7\""),
            ("bus@tokyo/ping", "each broker's own"), ("launcher@berlin/stop", "each broker's own"),
        ])
    func aNameThatLeadsNowhereIsRefused(_ to: String, _ message: String) throws {
        try TestNodes.run(Self.table()) { nodes in
            let refused = try nodes.berlin.module("Notes").refused(to, with: "unknown-interface", ran: "no")
            #expect(refused.message.contains(message))
        }
    }

    @Test(.promise("N.37")) func aReportToANameThatLeadsNowhereIsRefused() throws {
        try TestNodes.run(Self.table()) { nodes in
            let notes = try nodes.berlin.module("Notes")
            for to in ["Index@berlin", "Index@osaka", "Nobody@tokyo"] {
                try notes.expectError(to: try notes.report("seen", to: to), "unknown-module", ran: "no")
            }
        }
    }

    @Test(.promise("N.37")) func aNodeThatIsNotUpIsNotWaitedFor() throws {
        try TestNodes.run(Self.table { $0.join = 600_000 }, isJoined: false) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let refused = try notes.refused("Thumbs@tokyo/make", with: "unavailable", ran: "no")
            #expect(refused.message.contains("on the node tokyo: tokyo has not been connected yet"))
            try notes.expectError(to: try notes.report("seen", to: "Thumbs@tokyo"), "unavailable", ran: "no")
        }
    }

    @Test(.promise("N.37")) func anAppOfOneMachineHasNoSuchNames() throws {
        try MemoryBus.run(.testing(.manual("Index", provides: ["Index"]))) { bus in
            let index = try bus.provider("Index", "Index")
            try index.refused("Index@tokyo/find", with: "unknown-interface")
        }
    }

    @Test(.promise("N.38")) func theLevelAndTheAdaptersHold() throws {
        let table = Self.table {
            $0.calls = .layered
            var adapter = AppTable.Adapter(name: "Pictures", to: "Thumbs")
            var action = AppTable.AdaptedAction(name: "draw", to: "make")
            action.params = [.init(from: "size", to: "width")]
            adapter.actions = [action]
            $0.adapters = [adapter]
        }
        try TestNodes.run(table) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let there = try nodes.tokyo.provider("Thumbs", "Thumbs")
            try store.refused("Thumbs@tokyo/make", with: "level-violation", ran: "no")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Pictures@tokyo/draw", ["size": 1])
            try there.reply(to: try there.expectCall("Thumbs/make", ["width": 1]))
            try notes.expectReply(to: id)
        }
    }

    @Test(.promise("N.38")) func aRequestOfAnotherNodeNamesNone() throws {
        let table = Self.table { $0.node = "berlin" }
        try TestBus.run(table) { bus in
            let line = try NodeHostilityTests.tokyo(of: bus)
            let store = try bus.provider("Storage", "Storage")
            for (id, to) in ["Storage@berlin/get", "Index@tokyo/find", "bus@berlin/emit"].enumerated() {
                try line.call(to, nil, ["from": "Index"], id: UInt64(id) + 1)
                try line.expectError(to: UInt64(id) + 1, "unknown-interface", ran: "no")
            }
            try line.report("x", to: "Storage@berlin", nil, ["from": "Index"], id: 9)
            try line.expectError(to: 9, "unknown-interface", ran: "no")
            try store.expectNothing()
        }
    }
}
