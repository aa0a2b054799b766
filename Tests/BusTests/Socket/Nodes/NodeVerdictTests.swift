import StrataCore
import StrataTesting
import Testing

/// What `ran` says of a request whose node is lost: `no` only if no handler can have begun.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeVerdictTests {
    /// A request that is taken back before it is written is no byte of the stream.
    @Test(.promise("N.9")) func aRequestThatWasTakenBackMovesNoOther() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            // The link doesn't read, so the queue to tokyo fills.
            nodes.lines[0].isPaused = true
            let large = try notes.call("Index/find", .filler(4 << 20))
            let taken = try notes.call("Index/find", .filler(1_000))
            try notes.send(["kind": "cancel", "id": .integer(Int64(taken))])
            try notes.expectError(to: taken, "cancelled", ran: "no")
            let last = try notes.call("Index/find", ["n": 2])
            nodes.lines[0].isPaused = false
            try index.expectCall("Index/find", .filler(4 << 20))
            try index.expectCall("Index/find", ["n": 2])
            let sent = nodes.bytesToTokyo
            nodes.holdBerlin()
            let unsent = try notes.call("Index/find", ["n": 3])
            try nodes.lines[0].expect(["kind": "call", "to": "Index/find"], body: ["n": 3])
            try nodes.links[0].asked(
                "bus/nodeLost", ["node": "tokyo", "sent": .integer(Int64(sent)), "reason": "lost"])
            try notes.expectError(to: large, "died", ran: "maybe")
            try notes.expectError(to: last, "died", ran: "maybe")
            try notes.expectError(to: unsent, "died", ran: "no")
        }
    }

    /// The broker writes a frame that it has begun to its end, also if it ends the connection.
    @Test(.promise("N.9")) func aRequestThatIsPartlyWrittenMayHaveRun() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            nodes.lines[0].isPaused = true
            let begun = try notes.call("Index/find", .filler(4 << 20))
            let waiting = try notes.call("Index/find", ["n": 2])
            try notes.asked("bus/ping")
            try nodes.berlin.launcher().asked("bus/vouch", ["link": true, "pid": 0])
            try notes.expectError(to: begun, "died", ran: "maybe")
            try notes.expectError(to: waiting, "died", ran: "no")
            nodes.lines[0].isPaused = false
            try index.expectCall("Index/find", .filler(4 << 20))
        }
    }

    /// More requests than end at once when their callee does.
    @Test(.promise("N.9")) func aReplacedBrokerEndsAllRequestsThatCross() throws {
        let table = AppTable.twoNodes { $0.node = "berlin" }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let line = try NodeHostilityTests.tokyo(of: bus)
            let notes = try bus.module("Notes")
            let requests = try (0..<1_020).map { try notes.call("Index/find", .integer($0)) }
            for _ in requests { try line.find(["kind": "call", "to": "Index/find"]) }
            try bus.operator().asked("bus/handOver")
            for request in requests { try notes.expectError(to: request, "died", ran: "maybe") }
        }
    }

    @Test(.promise("N.9")) func aReportThatOneObserverRefusesMayHaveRunInAnother() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let store = try nodes.berlin.module(
                "Storage",
                ["observes": ["done", ["name": "done", "object": "a"]], "interfaces": ["Storage": [:]]])
            let index = try nodes.tokyo.provider("Index", "Index")
            let id = try index.report("done", to: "Storage", nil, ["object": "a"])
            let first = try store.expectNotice("done")
            _ = try store.expectNotice("done")
            try store.send(["kind": "error", "id": first.number, "code": "overloaded", "ran": "no"])
            try index.expectError(to: id, "overloaded", ran: "maybe")
        }
    }
}
