import StrataCore
import StrataTesting
import Testing

/// Requests between two nodes: both brokers judge them, and the caller's owns their one answer.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeCallTests {
    @Test(.promise("N.1")) func aCallGoesToTheOtherNodeAndItsReplyComesBack() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find", ["text": "a"], ["meta": ["for": "test"], "deadline": 5_000])
            let call = try index.expectCall("Index/find", ["text": "a"], ["from": "Notes", "node": "berlin"])
            #expect(call["meta"] == ["for": "test"])
            #expect((1...5_000).contains(call["deadline"]?.integer ?? 0))
            try index.reply(to: call, ["found": 3])
            #expect(try notes.expectReply(to: id).json == ["found": 3])
        }
    }

    @Test(.promise("N.1")) func aLocalCallSaysNoNode() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let notes = try nodes.berlin.module("Notes")
            try notes.call("Storage/get")
            #expect(try store.expectCall("Storage/get")["node"] == nil)
        }
    }

    @Test(.promise("N.1")) func anErrorKeepsItsCodeItsRanAndItsRoot() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find")
            try index.fail(try index.expectCall("Index/find"), "Index.broken", "no index")
            let error = try notes.expectError(to: id, "Index.broken", ran: "yes")
            #expect(error.message == "no index")
            // The bus's own refusal over there is passed on as it is.
            let other = try notes.call("Index/find", nil, ["deadline": 60_000])
            _ = try index.expectCall("Index/find")
            index.close()
            let died = try notes.expectError(to: other, "died", ran: "maybe")
            #expect(died.message.contains("Index"))
        }
    }

    @Test(.promise("N.1")) func aStreamHasItsCreditEndToEnd() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/walk", nil, ["credit": 2, "deadline": 0])
            let call = try index.expectCall("Index/walk", nil, ["credit": 2])
            for part in 0..<2 {
                try index.send(["kind": "reply", "id": call.number, "more": true], body: .integer(Int64(part)))
                #expect(
                    try notes.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true]).json
                        == .integer(Int64(part)))
            }
            try notes.send(["kind": "credit", "id": .integer(Int64(id)), "credit": 3])
            try index.expect(["kind": "credit", "id": call.number, "credit": 3])
            try index.reply(to: call)
            try notes.expectReply(to: id)
        }
    }

    @Test(.promise("N.2")) func aDeadlineIsTheCallersAndCancelsOverThere() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find", nil, ["deadline": 150])
            let call = try index.expectCall("Index/find")
            try notes.expectError(to: id, "deadline-exceeded", ran: "maybe")
            try index.expect(["kind": "cancel", "id": call.number])
            // An answer that comes too late is dropped.
            try index.reply(to: call)
            try notes.expectNothing()
        }
    }

    @Test(.promise("N.2")) func aCancelTakesTheRequestBack() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find")
            let call = try index.expectCall("Index/find")
            try notes.send(["kind": "cancel", "id": .integer(Int64(id))])
            try notes.expectError(to: id, "cancelled", ran: "maybe")
            try index.expect(["kind": "cancel", "id": call.number])
        }
    }

    @Test(.promise("N.2")) func aCallersEndCancelsWhatItHadOpenOverThere() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            try notes.call("Index/find")
            let call = try index.expectCall("Index/find")
            notes.close()
            try index.expect(["kind": "cancel", "id": call.number])
        }
    }

    @Test(.promise("N.3")) func aRequestWaitsOverThereForItsModule() throws {
        try TestNodes.run(.twoNodes { $0.modules[3].start = .onDemand }) { nodes in
            let launcher = try nodes.tokyo.launcher()
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.call("Index/find")
            let start = try launcher.expectCall("launcher/start", ["module": "Index"])
            try launcher.reply(to: start)
            let token = try nodes.tokyo.vouch(for: "Index")
            let index = try nodes.tokyo.provider("Index", "Index", ["token": .string(token)])
            try index.reply(to: try index.expectCall("Index/find"), ["late": true])
            #expect(try notes.expectReply(to: id).json == ["late": true])
        }
    }

    @Test(.promise("N.1")) func aURLIsOpenedOnTheNodeOfItsRow() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let id = try notes.open("test://index/show/7?part=a")
            let call = try index.expectCall("Index/show", ["number": "7", "part": "a"])
            #expect(call["url"] == "test://index/show/7?part=a")
            try index.reply(to: call)
            try notes.expectReply(to: id)
        }
    }

    @Test(.promise("N.1")) func aReportGoesUpToTheOtherNode() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.module(
                "Storage", ["observes": ["index.done"], "interfaces": ["Storage": [:]]])
            let index = try nodes.tokyo.provider("Index", "Index")
            let id = try index.report("index.done", to: "Storage", ["count": 2], ["object": "a"])
            let notice = try store.expectNotice("index.done")
            #expect(notice.from == "Index" && notice["node"] == "tokyo" && notice["level"] == "middle")
            #expect(notice["object"] == "a" && notice.json == ["count": 2])
            try store.reply(to: notice)
            #expect(try index.expectReply(to: id).json == ["observers": 1])
        }
    }

    @Test(.promise("N.5")) func aReportDownIsRefusedBeforeItLeaves() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.provider("Storage", "Storage")
            let id = try store.report("x", to: "Index")
            try store.expectError(to: id, "level-violation", ran: "no")
        }
    }

    @Test(.promise("N.4")) func operatorsCallOnlyWhereTheirNodeOperates() throws {
        try TestNodes.run(.twoNodes { $0.nodes = [.init("berlin", operates: true), .init("tokyo")] }) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let store = try nodes.berlin.provider("Storage", "Storage")
            let tool = try nodes.berlin.operator()
            let id = try tool.call("Index/find")
            let call = try index.expectCall("Index/find", nil, ["from": "operator", "node": "berlin"])
            try index.reply(to: call)
            try tool.expectReply(to: id)
            let refused = try nodes.tokyo.operator().refused("Storage/get", with: "forbidden")
            #expect(refused.message.contains("operates"))
            try store.expectNothing()
        }
    }
}

extension AppTable {
    /// Returns an app of two nodes: `Storage` (basic) and `Notes` (topout) in berlin, `Log` (basic) and
    /// `Index` (middle) in tokyo.
    static func twoNodes(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Storage", provides: ["Storage"]) { $0.placement = .on(["berlin"]) },
            .manual("Notes", rank: 2) { $0.placement = .on(["berlin"]) },
            .manual("Log") { $0.placement = .on(["tokyo"]) },
            .manual("Index", rank: 1, provides: ["Index"]) {
                $0.placement = .on(["tokyo"])
                $0.urls = [.init(host: "index", path: "/show/:number", to: "Index/show")]
            }
        ) {
            $0.nodes = [.init("berlin"), .init("tokyo")]
            change(&$0)
        }
    }
}
