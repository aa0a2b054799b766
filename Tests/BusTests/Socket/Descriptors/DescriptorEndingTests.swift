import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// The broker closes each descriptor exactly once, whatever ends first.
@Suite(.timeLimit(.hang))
struct DescriptorEndingTests {
    private static let taking: JSON = [
        "descriptors": true,
        "interfaces": ["Files": ["actions": ["open": ["descriptors": ["params": 16, "reply": 16]]]]],
        "observes": ["opened"],
    ]

    /// The broker as a program, whose descriptors can be counted.
    private func run(_ test: (TestBus, _ owner: RawPeer, _ caller: RawPeer) throws -> Void) throws {
        try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            try test(bus, try bus.module("Ant", Self.taking), try bus.module("Bee", ["descriptors": true]))
        }
    }

    /// What waits in a full queue is closed when the receiver ends, the sender ends or the request ends.
    @Test(.promise("6.62"), arguments: ["receiver", "sender", "request"])
    func whatWaitsInAQueueIsClosed(first: String) throws {
        try run { bus, owner, caller in
            let before = try bus.openDescriptors()
            owner.isPaused = true
            let filler = JSON.filler(400_000)
            try caller.call("Files/open", filler)
            try caller.call("Files/open", filler)
            let token = try Token()
            let id = try caller.call("Files/open", 1, with: [token])
            try caller.settle()
            #expect(try bus.openDescriptors() == before + 1)
            switch first {
            case "receiver":
                owner.close()
                try caller.expectError(to: id, "died")
            case "sender": caller.close()
            default:
                try caller.cancel(id)
                try caller.find(["kind": "error", "id": .integer(Int64(id)), "code": "cancelled"])
            }
            #expect(token.isClosed())
        }
    }

    /// A crowd of requests with descriptors, most of which fail somehow, leaves none behind.
    @Test(.promise("6.62")) func nothingIsLeftBehind() throws {
        try run { bus, owner, caller in
            let before = try bus.openDescriptors()
            let token = try Token()
            for round in 0..<50 {
                let sent = [Token](repeating: token, count: round % 16 + 1)
                let id = try caller.call("Files/open", .integer(Int64(round)), with: sent)
                let call = try owner.expectCall("Files/open", .integer(Int64(round)))
                #expect(call.descriptors.count == sent.count)
                call.closeDescriptors()
                switch round % 4 {
                case 0: try owner.send(["kind": "reply", "id": call.number], 1, with: sent)
                case 1: try owner.fail(call, "failed")
                case 2:
                    try caller.cancel(id)
                    try owner.expect(["kind": "cancel", "id": call.number])
                    // Too late.
                    try owner.send(["kind": "reply", "id": call.number], 1, with: sent)
                default:
                    try owner.send(
                        ["kind": "reply", "id": call.number], 1,
                        with: sent + [Token](repeating: token, count: 16 - sent.count))
                }
                let answer = try caller.answer(to: id)
                answer.closeDescriptors()
            }
            try owner.settle()
            #expect(token.isClosed())
            #expect(try bus.openDescriptors() == before)
        }
    }

    // MARK: a replacement

    @Test(.promise("10.62", "6.62")) func theyOutliveTheBrokersReplacement() throws {
        try run { bus, owner, caller in
            let tool = try bus.operator()
            let before = try bus.openDescriptors()
            owner.isPaused = true
            let filler = JSON.filler(400_000)
            for _ in 0..<2 { try caller.call("Files/open", filler) }
            let (queued, begun) = (try Token(), try Token())
            let id = try caller.call("Files/open", 1, with: [queued, queued])
            // Of this one, only the beginning has come.
            let header: JSON = ["kind": "call", "id": 900, "to": "Files/open", "descriptors": 1]
            let bytes = FrameBytes.frame(header, body: 2)
            try caller.send(bytes: Array(bytes[..<20]), with: [begun])
            try tool.asked("bus/handOver")
            try caller.send(bytes: Array(bytes[20...]))
            owner.isPaused = false
            for _ in 0..<2 { try owner.reply(to: try owner.expectCall("Files/open", filler)) }
            let call = try owner.expectCall("Files/open", 1)
            #expect(call.has([queued, queued]))
            try owner.send(["kind": "reply", "id": call.number], with: [queued])
            let reply = try caller.find(["kind": "reply", "id": .integer(Int64(id))])
            #expect(reply.has([queued]))
            #expect(try owner.expectCall("Files/open", 2).has([begun]))
            #expect(queued.isClosed() && begun.isClosed())
            try caller.settle()
            #expect(try bus.openDescriptors() == before)
        }
    }

    @Test(.promise("10.62")) func theyWaitForTheirModuleAcrossAReplacement() throws {
        let table = AppTable.testing(.eager("Late", provides: ["Late"]), .manual("Bee", rank: 2))
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Bee", ["descriptors": true])
            let token = try Token()
            let id = try caller.call("Late/take", nil, with: [token])
            try caller.settle()
            try bus.operator().asked("bus/handOver")
            let late = try bus.module(
                "Late",
                [
                    "descriptors": true, "token": .string(try bus.vouch(for: "Late")),
                    "interfaces": ["Late": ["actions": ["take": ["descriptors": ["params": 1, "reply": 1]]]]],
                ])
            let call = try late.expectCall("Late/take")
            #expect(call.has([token]))
            try late.send(["kind": "reply", "id": call.number], with: [token])
            #expect(try caller.expectReply(to: id).has([token]))
            #expect(token.isClosed())
        }
    }

    /// Bodies in files wait in a queue as files and as bytes, for a module, and as unfinished input.
    @Test(.promise("10.62", "6.67")) func bodiesInFilesOutliveTheBrokersReplacement() throws {
        let table = AppTable.testing(
            .eager("Late", provides: ["Late"]), .manual("Ant", rank: 1), .manual("Bee", rank: 2),
            .manual("Cat", rank: 1))
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            _ = try bus.launcher()
            let owner = try bus.provider("Ant", "Files", ["memory": true])
            let plain = try bus.provider("Cat", "Plain")
            let caller = try bus.module("Bee", ["memory": true])
            let tool = try bus.operator()
            let file = try BodyFile(Array(("\"" + String(repeating: "x", count: 1_000_000) + "\"").utf8))
            let before = try bus.openDescriptors()
            (owner.isPaused, plain.isPaused) = (true, true)
            let filler = JSON.filler(400_000)
            for _ in 0..<2 { try caller.call("Files/put", filler) }
            let ids = try ["Files/put", "Plain/put", "Late/put"].map { try caller.call($0, in: file) }
            try caller.settle()
            let bytes = FrameBytes.frame(["kind": "call", "id": 900, "to": "Files/put", "memory": 1_000_002])
            let sent = caller.send(bytes: Array(bytes[..<20]), with: [file.descriptor])
            try #require(sent == 20)
            try tool.asked("bus/handOver")
            try caller.send(bytes: Array(bytes[20...]))
            (owner.isPaused, plain.isPaused) = (false, false)
            for _ in 0..<2 { try owner.reply(to: try owner.expectCall("Files/put", filler)) }
            let late = try bus.provider("Late", "Late", ["memory": true, "token": .string(try bus.vouch(for: "Late"))])
            for (peer, to) in [(owner, "Files/put"), (late, "Late/put"), (owner, "Files/put")] {
                let call = try peer.expectCall(to)
                #expect(call.isIn(file))
                try peer.reply(to: call, in: file)
            }
            let call = try plain.expectCall("Plain/put")
            #expect(call.holds(file))
            try plain.reply(to: call)
            for id in [ids[0], ids[2], 900] { #expect(try caller.expectReply(to: id).isIn(file)) }
            try caller.expectReply(to: ids[1])
            // The last one's connection is there besides. Threads close files, which may take a few rounds.
            for _ in 0..<10_000 where try bus.openDescriptors() != before + 1 { try caller.settle() }
            #expect(try bus.openDescriptors() == before + 1)
        }
    }

    /// The authorizer's question and the call that waits for its answer have the same file.
    @Test(.promise("10.62")) func oneFileOfTwoFramesOutlivesTheReplacementOnce() throws {
        let table = AppTable.testing(
            .manual("Gate", provides: ["Guard"]), .manual("Ant", rank: 1), .manual("Bee", rank: 2)
        ) {
            $0.authorizer = "Guard"
        }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker")) { bus in
            let gate = try bus.provider("Gate", "Guard", ["memory": true])
            let owner = try bus.module(
                "Ant", ["memory": true, "interfaces": ["Files": ["actions": ["get": ["auth": true]]]]])
            let caller = try bus.module("Bee", ["memory": true])
            let tool = try bus.operator()
            let file = try BodyFile(Array("\"text\"".utf8))
            gate.isPaused = true
            let filler = JSON.filler(400_000)
            for _ in 0..<2 { try caller.call("Guard/other", filler) }
            let id = try caller.call("Files/get", in: file)
            try caller.settle()
            try tool.asked("bus/handOver")
            gate.isPaused = false
            for _ in 0..<2 { try gate.reply(to: try gate.expectCall("Guard/other", filler)) }
            let question = try gate.expectCall("Guard/authorize")
            #expect(question.isIn(file))
            // A new connection gets the number that a file closed too early would leave.
            let other = try bus.operator()
            try gate.reply(to: question, ["allow": true])
            let call = try owner.expectCall("Files/get")
            #expect(call.isIn(file))
            try owner.reply(to: call)
            try caller.expectReply(to: id)
            try other.asked("bus/ping")
            for _ in 0..<10_000 where try bus.openMemoryFiles() > 0 { try caller.settle() }
            #expect(try bus.openMemoryFiles() == 0)
        }
    }
}
