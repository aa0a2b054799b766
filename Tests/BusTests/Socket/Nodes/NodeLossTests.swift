import StrataCore
import StrataTesting
import Testing

/// What requests, observers and operators are told before a node is there, and after it is lost.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeLossTests {
    @Test(.promise("N.9")) func aRequestToANodeThatNeverCameIsRefusedAtOnce() throws {
        try TestNodes.run(.twoNodes(), isJoined: false) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let refused = try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(
                refused.message.contains("Index runs on the node tokyo")
                    && refused.message.contains("not been connected yet"))
            try notes.expectError(to: try notes.open("test://index/show/1"), "unavailable", ran: "no")
            let store = try nodes.berlin.provider("Storage", "Storage")
            try notes.expectError(to: try notes.report("x", to: "Index"), "unavailable", ran: "no")
            try store.expectNothing()
        }
    }

    @Test(.promise("N.9")) func nodeLostEndsWhatWasNotSentWithNoAndTheRestWithMaybe() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            let first = try notes.call("Index/find", ["n": 1])
            try index.expectCall("Index/find", ["n": 1])
            nodes.holdBerlin()
            let second = try notes.call("Index/find", ["n": 2])
            try nodes.lines[0].expect(["kind": "call", "to": "Index/find"], body: ["n": 2])
            // The link has read the second call, and has not sent it.
            try nodes.links[0].asked(
                "bus/nodeLost",
                [
                    "node": "tokyo", "sent": .integer(Int64(nodes.bytesToTokyo)),
                    "reason": "nothing was heard of it for 5.0 s",
                ])
            let died = try notes.expectError(to: first, "died", ran: "maybe")
            #expect(died.message.contains("tokyo") && died.message.contains("nothing was heard of it"))
            try notes.expectError(to: second, "died", ran: "no")
            let refused = try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(refused.message.contains("lost") && refused.message.contains("nothing was heard of it"))
            try nodes.lines[0].expectEnd()
        }
    }

    @Test(.promise("N.9")) func aLinksDeathEndsRequestsAndCancelsWhatTheNodeHadOpenHere() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let store = try nodes.berlin.provider("Storage", "Storage")
            let notes = try nodes.berlin.module("Notes")
            let out = try notes.call("Index/find")
            try index.expectCall("Index/find")
            let back = try index.call("Storage/get")
            let served = try store.expectCall("Storage/get")
            for line in nodes.lines { line.close() }
            try notes.expectError(to: out, "died", ran: "maybe")
            try index.expectError(to: back, "died", ran: "maybe")
            try store.expect(["kind": "cancel", "id": served.number])
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
        }
    }

    @Test(.promise("N.9")) func aNodeThatComesBackServesAgain() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let watcher = try nodes.berlin.provider(
                "Storage", "Storage", ["events": ["app.nodeLost", "app.nodeBack"]])
            let index = try nodes.tokyo.provider("Index", "Index")
            for line in nodes.lines { line.close() }
            let lost = try watcher.expectCall("module/event", nil, ["name": "app.nodeLost"])
            #expect(lost.json["node"] == "tokyo")
            try watcher.reply(to: lost)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try nodes.join()
            try watcher.reply(to: try watcher.expectCall("module/event", ["node": "tokyo"], ["name": "app.nodeBack"]))
            let id = try watcher.call("Index/find")
            try index.reply(to: try index.expectCall("Index/find"))
            try watcher.expectReply(to: id)
        }
    }

    @Test(.promise("N.10")) func anotherAppsTableIsAMismatch() throws {
        try TestNodes.run(.twoNodes(), inTokyo: { $0.levels = ["basic", "middle", "late"] }, isJoined: false) { nodes in
            try nodes.join(until: "mismatch")
            let notes = try nodes.berlin.module("Notes")
            let refused = try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(refused.message.contains("levels is basic, middle, topout here and basic, middle, late there"))
        }
    }

    @Test(.promise("N.10")) func aRowThatDiffersIsNotRoutedAndTheRestGoesOn() throws {
        let table = AppTable.twoNodes {
            $0.modules.append(.manual("Finder", rank: 1, provides: ["Finder"]) { $0.placement = .on(["tokyo"]) })
        }
        try TestNodes.run(table, inTokyo: { $0.modules[3].rank = 2 }) { nodes in
            let finder = try nodes.tokyo.provider("Finder", "Finder")
            let notes = try nodes.berlin.module("Notes")
            let refused = try notes.refused("Index/find", with: "unavailable", ran: "no")
            #expect(refused.message.contains("level is middle here and topout there"))
            let id = try notes.call("Finder/find")
            try finder.reply(to: try finder.expectCall("Finder/find"))
            try notes.expectReply(to: id)
            let answer = try nodes.berlin.operator().asked("bus/nodes")
            #expect("\(answer)".contains("tokyo has another row Index"))
        }
    }

    @Test(.promise("N.10")) func aRowThatAReloadAddsOrMovesIsRoutedAnew() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            func reload(_ change: (inout AppTable) -> Void) throws {
                for bus in [nodes.berlin, nodes.tokyo] {
                    var table = bus.table
                    change(&table)
                    #expect(try bus.reload(table).kind == "reply")
                }
            }
            /// Calls until both nodes have told each other of their rows.
            func called(_ to: String, by caller: RawPeer, at callee: RawPeer) throws {
                while true {
                    let id = try caller.call(to, nil, ["deadline": 200])
                    let answer = try caller.answer(to: id)
                    if answer.code == "deadline-exceeded" { break }
                    #expect(answer.code == "unavailable")
                }
                try callee.find(["kind": "call", "to": .string(to)])
            }
            let notes = try nodes.berlin.module("Notes")
            let finder = AppTable.Row.manual("Finder", provides: ["Finder"]) { $0.placement = .on(["tokyo"]) }
            try reload { $0.modules.append(finder) }
            let away = try nodes.tokyo.provider("Finder", "Finder")
            try called("Finder/find", by: notes, at: away)
            try reload {
                $0.modules.append(finder)
                $0.modules[4].placement = .on(["berlin"])
            }
            away.close()
            let here = try nodes.berlin.provider("Finder", "Finder")
            let id = try notes.call("Finder/find")
            try here.reply(to: try here.expectCall("Finder/find"))
            try notes.expectReply(to: id)
            let index = try nodes.tokyo.provider("Index", "Index")
            try called("Finder/find", by: index, at: here)
        }
    }

    @Test(.promise("N.10")) func aReloadComparesTheRowsAgain() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            var changed = nodes.tokyo.table
            changed.modules[3].urls = []
            #expect(try nodes.tokyo.reload(changed).kind == "reply")
            var refusal = ""
            while !refusal.contains("urls") {
                let answer = try notes.ask("Index/find", nil, ["deadline": 1])
                if answer.code == "unavailable" { refusal = answer.message }
            }
            _ = try index.drain()
        }
    }
}
