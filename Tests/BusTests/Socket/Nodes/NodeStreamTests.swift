import StrataCore
import StrataTesting
import Testing

/// What other nodes' operators can and can't use up here. In some tests, the test speaks as tokyo's
/// broker, whose operators may use berlin's tools.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeStreamTests {
    private static let `operator`: JSON = ["from": "operator"]

    private func operating(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .twoNodes {
            $0.nodes = [.init("berlin"), .init("tokyo", operates: true)]
            change(&$0)
        }
    }

    @Test(.promise("N.16")) func aRowCantCallAsAnOperator() throws {
        try asTokyo(operating()) { _, line in
            try line.call("bus/ping", nil, Self.operator, id: 1)
            try line.expectReply(to: 1)
            for (place, from) in ["Index", "Log", "operators", "tokyo", "bus"].enumerated() {
                let id = UInt64(place + 2)
                try line.call("bus/ping", nil, ["from": .string(from)], id: id)
                try line.expectError(to: id, "forbidden", ran: "no")
            }
        }
    }

    @Test(.promise("N.16"), arguments: ["berlin", "tokyo", "osaka"])
    func aNodesRequestGoesNoFurther(_ node: String) throws {
        try asTokyo(operating()) { _, line in
            try line.call("bus/ping", nil, ["from": "operator", "node": .string(node)], id: 1)
            try line.expectError(to: 1, "forbidden", ran: "no")
        }
    }

    @Test(.promise("N.16")) func itsOperatorsHaveOneQuota() throws {
        try asTokyo(operating { $0.limits.calls = 3 }) { bus, line in
            _ = try bus.provider("Storage", "Storage")
            for id in 1...3 as ClosedRange<UInt64> { try line.call("Storage/get", nil, Self.operator, id: id) }
            try line.call("Storage/get", nil, Self.operator, id: 4)
            try line.expectError(to: 4, "overloaded", ran: "no")
            try line.call("bus/watch", nil, Self.operator, id: 5)
            try line.expectError(to: 5, "overloaded", ran: "no")
            // Its rows have their own.
            try line.call("Storage/get", nil, ["from": "Index"], id: 6)
            try line.settleNode()
        }
    }

    @Test(.promise("N.16")) func itsWatchesAreBounded() throws {
        try asTokyo(operating()) { _, line in
            for id in 1...17 as ClosedRange<UInt64> {
                try line.call("bus/watch", nil, ["from": "operator", "credit": 0], id: id)
            }
            try line.expectError(to: 17, "overloaded", ran: "no")
        }
    }

    /// A listing is made in parts. Its sender isn't read meanwhile, so only one waits for each node.
    @Test(.promise("N.16")) func listingsComeInTheirOrder() throws {
        let table = operating { table in
            for number in 0..<2_000 {
                table.modules.append(.manual("Row\(number)") { $0.placement = .on(["berlin"]) })
            }
        }
        try asTokyo(table) { bus, line in
            // A light peer makes the batches small.
            let notes = try bus.module("Notes")
            for id in 1...3 as ClosedRange<UInt64> { try line.call("bus/modules", nil, Self.operator, id: id) }
            try notes.asked("bus/ping")
            for id in 1...3 as ClosedRange<UInt64> {
                #expect(try line.expectReply(to: id).json["modules"]?.array?.count == 2_004)
            }
        }
    }

    @Test(.promise("N.16")) func aNodeThatIsLostTakesItsListingsAlong() throws {
        let table = operating { table in
            for number in 0..<2_000 {
                table.modules.append(.manual("Row\(number)") { $0.placement = .on(["berlin"]) })
            }
        }
        try asTokyo(table) { bus, line in
            let notes = try bus.module("Notes")
            try line.call("bus/modules", nil, Self.operator, id: 1)
            try line.call("bus/watch", nil, ["from": "operator", "credit": 100], id: 2)
            line.close()
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
            try notes.asked("bus/ping")
        }
    }

    @Test(.promise("N.16")) func aMonitorLeavesTheQueueToRequests() throws {
        try asTokyo(operating { $0.limits.queue = 1 << 20 }) { bus, line in
            let store = try bus.provider("Storage", "Storage")
            let notes = try bus.module("Notes")
            try line.call("bus/monitor", ["bodies": true], ["from": "operator", "credit": 100_000], id: 1)
            try line.settleNode()
            line.isPaused = true
            for _ in 0..<100 {
                let id = try notes.call("Storage/get", .filler(30_000))
                try store.reply(to: try store.expectCall("Storage/get"))
                try notes.expectReply(to: id)
            }
            let queued = try bus.operator().asked("bus/nodes")["nodes"]?.array?.last?["queued"]?.integer ?? -1
            // What the kernel hasn't taken: at most 64 KiB, and one note.
            #expect((0..<(64 + 64) << 10).contains(Int(queued)), "\(queued)")
            // A request still finds room.
            let id = try notes.call("Index/find", .filler(100_000))
            try notes.expectNothing()
            line.isPaused = false
            let call = try line.find(["kind": "call", "to": "Index/find"])
            try line.reply(to: call)
            try notes.expectReply(to: id)
        }
    }

    @Test(.promise("N.16")) func twoMonitorsDontReportEachOther() throws {
        let table = AppTable.twoNodes { $0.nodes = [.init("berlin", operates: true), .init("tokyo", operates: true)] }
        try TestNodes.run(table) { nodes in
            let (ofBerlin, ofTokyo) = (try nodes.berlin.operator(), try nodes.tokyo.operator())
            _ = try ofBerlin.monitor([:], credit: 10_000, on: "tokyo")
            _ = try ofTokyo.monitor([:], credit: 10_000, on: "berlin")
            let notes = try nodes.berlin.module("Notes")
            let index = try nodes.tokyo.provider("Index", "Index")
            let id = try notes.call("Index/find")
            try index.reply(to: try index.expectCall("Index/find"))
            try notes.expectReply(to: id)
            func seen(_ tool: RawPeer) throws -> Int {
                try tool.find(["kind": "reply", "more": true], body: ["to": "Index/find"])
                return try tool.drain().count
            }
            _ = (try seen(ofBerlin), try seen(ofTokyo))
            // Each ping would bring the answers of the last one, and so on for ever.
            for tool in [ofBerlin, ofTokyo] {
                for _ in 0..<5 { try tool.asked("bus/ping") }
            }
            #expect(try seenAtEnd(ofBerlin) + seenAtEnd(ofTokyo) < 100)
        }
    }

    private func seenAtEnd(_ tool: RawPeer) throws -> Int { try tool.drain().count }

    @Test(.promise("N.16")) func aNodeThatLiesAboutSizesEnds() throws {
        try asTokyo(operating { $0.limits.frame = 64 << 10 }) { bus, line in
            let tool = try bus.operator()
            let id = try tool.call("bus/modules", nil, ["node": "tokyo"])
            _ = try line.expectCall("bus/modules", nil, ["from": "operator"])
            try line.send(bytes: [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 20], inPiecesOf: 8)
            try tool.expectError(to: id, "died", ran: "maybe")
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
        }
    }

    /// An answer is the request's only if it has its number.
    @Test(.promise("N.16")) func itAnswersWhatItWasAsked() throws {
        try asTokyo(operating()) { bus, line in
            let tool = try bus.operator()
            let id = try tool.call("bus/stats", nil, ["node": "tokyo"])
            let call = try line.expectCall("bus/stats", nil, ["from": "operator"])
            #expect(call["node"] == nil)
            try line.send(["kind": "reply", "id": .integer((call.number.integer ?? 0) + 1)], body: ["forged": true])
            try line.send(["kind": "reply", "id": call.number], body: ["true": true])
            #expect(try tool.expectReply(to: id).json == ["true": true])
            try line.send(["kind": "reply", "id": call.number], body: ["again": true])
            try tool.expectNothing()
        }
    }
}
