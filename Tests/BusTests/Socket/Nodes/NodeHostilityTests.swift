import StrataCore
import StrataTesting
import Testing

/// What a hostile node can't do, and what a process that isn't the link can't. Here the test speaks
/// as tokyo's broker.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeHostilityTests {
    private func violations(_ bus: TestBus) throws -> Int64 {
        try bus.operator().asked("bus/stats")["counters"]?["violations"]?.integer ?? -1
    }

    @Test(.promise("N.11"), arguments: ["Storage", "Notes", "bus", "launcher", "Nobody", ""])
    func itSpeaksAsItsOwnRowsAlone(_ name: String) throws {
        try asTokyo { bus, line in
            let store = try bus.provider("Storage", "Storage")
            let before = try violations(bus)
            try line.call("Storage/get", nil, ["from": .string(name)], id: 7)
            let error = try line.expectError(to: 7, "forbidden", ran: "no")
            #expect(error.message.contains("doesn't place there"))
            try line.send(["kind": "notice", "name": "x", "from": .string(name)])
            try line.report("x", to: "Storage", nil, ["from": .string(name)], id: 8)
            try line.expectError(to: 8, "forbidden", ran: "no")
            #expect(try violations(bus) == before + 3)
            try store.expectNothing()
        }
    }

    /// What changes as the node connects is in its table, or comes behind it.
    @Test(.promise("N.10")) func itIsToldTheTableFirst() throws {
        try TestBus.run(.twoNodes { $0.node = "berlin" }) { bus in
            _ = try TestNodes.link(of: bus)
            let notes = try bus.module("Notes")
            let line = try bus.connect("the link's connection for tokyo")
            try notes.send(["kind": "call", "id": 50, "to": "bus/observe"], body: ["name": "found"])
            try line.call(
                "bus/hello", ["protocol": 1, "role": "node", "node": "tokyo", "token": "link"], id: 1)
            try line.expectReply(to: 1)
            let first = try line.expect(["kind": "node"]).json
            #expect(first["protocol"] == 1 && first["observes"]?["found"] == 2)
        }
    }

    @Test(.promise("N.5")) func itsBroadcastsGoDownOnly() throws {
        try asTokyo { bus, line in
            let store = try bus.module("Storage", ["observes": ["x"], "interfaces": ["Storage": [:]]])
            let notes = try bus.module("Notes", ["observes": ["x"]])
            // It says another level than this node's table.
            try line.send(["kind": "notice", "name": "x", "from": "Index", "level": "basic", "via": "broadcast"])
            #expect(try notes.expectNotice("x")["level"] == "middle")
            try store.expectNothing()
        }
    }

    @Test(.promise("N.5")) func itsCallsObeyThisNodesPolicy() throws {
        try asTokyo(
            .twoNodes {
                $0.calls = .layered; $0.modules[1].provides = ["Pad"]
            }
        ) { bus, line in
            let notes = try bus.provider("Notes", "Pad")
            try line.call("Pad/open", nil, ["from": "Index"], id: 1)
            try line.expectError(to: 1, "level-violation", ran: "no")
            try line.report("x", to: "Notes", nil, ["from": "Index"], id: 2)
            try line.expectError(to: 2, "level-violation", ran: "no")
            try notes.expectNothing()
        }
    }

    @Test(.promise("N.11"), arguments: ["bus/emit", "bus/vouch", "bus/hello", "launcher/stop", "module/tearDown"])
    func theBussOwnNamesAreClosed(_ to: String) throws {
        try asTokyo { _, line in
            for from: JSON in ["Index", "operator"] {
                try line.call(to, [:], ["from": from], id: 3)
                try line.expectError(to: 3, "forbidden", ran: "no")
            }
        }
    }

    @Test(.promise("N.11")) func authSkipIsNotBelieved() throws {
        try asTokyo(.twoNodes { $0.modules[3].trusted = true }) { _, line in
            try line.call("Storage/get", nil, ["from": "Index", "auth": "skip"], id: 1)
            try line.expectError(to: 1, "forbidden", ran: "no")
        }
    }

    @Test(.promise("N.11")) func aChainThatIsTooDeepEnds() throws {
        try asTokyo(.twoNodes { $0.limits.depth = 4 }) { bus, line in
            let store = try bus.provider("Storage", "Storage")
            try line.call("Storage/get", nil, ["from": "Index", "depth": 5], id: 1)
            try line.expectError(to: 1, "too-deep", ran: "no")
            try line.call("Storage/get", nil, ["from": "Index", "depth": 4], id: 2)
            let call = try store.expectCall("Storage/get")
            // The chain goes on here, and has no room left.
            try store.call("Storage/get", nil, ["parent": call.number], id: 9)
            try store.expectError(to: 9, "too-deep", ran: "no")
        }
    }

    @Test(.promise("N.11")) func aRequestForAThirdNodeIsNotPassedOn() throws {
        let table = AppTable.twoNodes {
            $0.nodes.append(.init("osaka"))
            $0.modules.append(.manual("Far", provides: ["Far"]) { $0.placement = .on(["osaka"]) })
        }
        try asTokyo(table) { _, line in
            try line.call("Far/away", nil, ["from": "Index"], id: 1)
            try line.expectError(to: 1, "forbidden", ran: "no")
        }
    }

    @Test(.promise("N.11")) func itHasQuotasForEachRow() throws {
        try asTokyo(.twoNodes { $0.limits.calls = 3 }) { bus, line in
            _ = try bus.provider("Storage", "Storage")
            for id in 1...3 as ClosedRange<UInt64> { try line.call("Storage/get", nil, ["from": "Index"], id: id) }
            try line.call("Storage/get", nil, ["from": "Index"], id: 4)
            try line.expectError(to: 4, "overloaded", ran: "no")
            // Another row has its own.
            try line.call("Storage/get", nil, ["from": "Log"], id: 5)
            try line.settleNode()
        }
    }

    @Test(.promise("N.11")) func itAnswersItsOwnRequestsAlone() throws {
        try asTokyo { bus, line in
            let store = try bus.provider("Storage", "Storage")
            let notes = try bus.module("Notes")
            let id = try notes.call("Storage/get")
            let call = try store.expectCall("Storage/get")
            try line.send(["kind": "reply", "id": call.number], body: ["forged": true])
            try line.send(["kind": "cancel", "id": .integer(Int64(id)), "from": "Index"])
            try line.settleNode()
            try store.reply(to: call, ["true": true])
            #expect(try notes.expectReply(to: id).json == ["true": true])
        }
    }

    @Test(.promise("N.12"), arguments: [#"{"kind":"broadcast","name":"x"}"#, #"{"kind":"surprise"}"#])
    func aKindThatNoNodeSendsEndsIt(_ header: String) throws {
        try asTokyo { bus, line in
            try line.send(header: header)
            try line.expectEnd("unknown-kind")
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
        }
    }

    @Test(
        .promise("N.12"),
        arguments: [
            #"{"protocol":2,"node":"tokyo","app":"test","levels":[],"limits":{"frame":1,"header":1}}"#,
            #"{"protocol":1,"node":"osaka","app":"test","levels":[],"limits":{"frame":1,"header":1}}"#,
            #"{"protocol":1,"node":"tokyo"}"#, #"{"ready":7}"#, #"{"observes":{"x":-1}}"#, "[",
        ])
    func aTableThatMeansNothingEndsIt(_ body: String) throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in
            _ = try TestNodes.link(of: bus)
            let line = try TestNodes.line(to: "tokyo", of: bus)
            try line.expect(["kind": "node"])
            try line.send(header: #"{"kind":"node"}"#, body: body)
            try line.find(["kind": "error"])
            try line.expectEnd()
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
        }
    }

    @Test(.promise("N.12")) func requestsBeforeBothAgreeEndIt() throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in
            _ = try TestNodes.link(of: bus)
            let line = try TestNodes.line(to: "tokyo", of: bus)
            try line.expect(["kind": "node"])
            try line.call("Storage/get", nil, ["from": "Index"], id: 1)
            try line.expectEnd("bad-frame")
        }
    }

    @Test(.promise("N.8")) func itReadsNothingAndOthersAreNotHarmed() throws {
        try asTokyo(.twoNodes { $0.limits.queue = 128 << 10 }) { bus, line in
            let store = try bus.module("Storage", ["interfaces": ["Storage": [:]]])
            let notes = try bus.module("Notes")
            line.isPaused = true
            // Answers of 16 KiB each wait for it, until its requests are refused.
            for id in 1...60 as ClosedRange<UInt64> { try line.call("Storage/get", nil, ["from": "Index"], id: id) }
            for _ in 0..<20 {
                guard let call = try store.nextIfAny(within: .milliseconds(200)) else { break }
                try store.reply(to: call, .filler(16_000))
            }
            try notes.asked("bus/ping")
            let id = try notes.call("Storage/get")
            let call = try store.find(["from": "Notes"])
            try store.reply(to: call)
            try notes.expectReply(to: id)
        }
    }

    // MARK: Processes that aren't the link

    @Test(.promise("N.13")) func onlyTheLinksProcessSaysHelloForIt() throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in
            for role in ["link", "node"] {
                let peer = try bus.connect("a stranger")
                let id = try peer.call(
                    "bus/hello", ["protocol": 1, "role": .string(role), "node": "tokyo", "token": "link"])
                try peer.expectRefusal(of: id, "forbidden")
            }
            try bus.launcher().asked("bus/vouch", ["link": true, "token": "link", "pid": 2])
            let peer = try bus.connect("a stranger")
            let id = try peer.call("bus/hello", ["protocol": 1, "role": "link", "token": "link"])
            try peer.expectRefusal(of: id, "forbidden")
        }
    }

    @Test(.promise("N.13")) func anAppOfOneMachineHasNoLink() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect("a stranger")
            let id = try peer.call("bus/hello", ["protocol": 1, "role": "link", "token": "link"])
            try peer.expectRefusal(of: id, "forbidden")
        }
    }

    @Test(.promise("N.13")) func aNodesConnectionComesOnceAndAfterTheLinks() throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in
            try bus.launcher().asked("bus/vouch", ["link": true, "token": "link", "pid": .integer(Int64(bus.ownPID))])
            func refused(_ hello: JSON, _ code: String) throws {
                let peer = try bus.connect("a connection")
                try peer.expectRefusal(of: try peer.call("bus/hello", hello), code)
            }
            let tokyo: JSON = ["protocol": 1, "role": "node", "node": "tokyo", "token": "link"]
            try refused(tokyo, "forbidden")
            _ = try TestNodes.link(of: bus)
            _ = try TestNodes.line(to: "tokyo", of: bus)
            try refused(tokyo, "name-taken")
            try refused(["protocol": 1, "role": "link", "token": "link"], "name-taken")
            try refused(["protocol": 1, "role": "node", "node": "osaka", "token": "link"], "unknown-module")
            try refused(["protocol": 1, "role": "node", "node": "A!", "token": "link"], "bad-params")
            try refused(["protocol": 1, "role": "node", "node": "berlin", "token": "link"], "unknown-module")
        }
    }

    @Test(.promise("N.13")) func anAwayRowCantSayHelloHere() throws {
        var table = AppTable.twoNodes()
        table.node = "berlin"
        try TestBus.run(table) { bus in
            let peer = try bus.connect("Index")
            let error = try peer.expectRefusal(
                of: try peer.sendHello("Index", ["interfaces": ["Index": [:]]]), "forbidden")
            #expect(error.message.contains("berlin"))
        }
    }

    @Test(.promise("N.13")) func modulesAndOperatorsCantSpeakForTheLink() throws {
        try asTokyo { bus, _ in
            try bus.operator().refused("bus/nodeLost", ["node": "tokyo", "sent": 0], with: "forbidden")
            try bus.module("Notes").refused("bus/nodeLost", ["node": "tokyo", "sent": 0], with: "forbidden")
        }
    }
}
