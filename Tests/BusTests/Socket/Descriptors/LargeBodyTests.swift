import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// The protocol's section 6: bodies in memory files.
@Suite(.timeLimit(.hang))
struct LargeBodyTests {
    private static let taking: JSON = [
        "memory": true, "interfaces": ["Files": ["actions": ["put": [:], "get": [:]]]], "observes": ["put"],
        "urls": [["host": "files", "path": "/get", "to": "Files/get"]],
    ]

    /// An owner that takes bodies in files, and a caller that does, too.
    private func run(
        _ table: AppTable = .sixModules(), _ test: (TestBus, _ owner: RawPeer, _ caller: RawPeer) throws -> Void
    ) throws {
        try TestBus.run(table) { bus in
            try test(bus, try bus.module("Ant", Self.taking), try bus.module("Bee", ["memory": true]))
        }
    }

    /// JSON of so many bytes.
    private func file(_ count: Int = 300_000) throws -> BodyFile {
        try BodyFile(Array(("\"" + String(repeating: "x", count: count - 2) + "\"").utf8))
    }

    private func report(_ file: BodyFile, from peer: RawPeer, to module: String = "Ant") throws -> UInt64 {
        let id = peer.newID()
        try peer.send(
            ["kind": "report", "id": .integer(Int64(id)), "to": .string(module), "name": "put"], in: file)
        return id
    }

    // MARK: the way

    @Test(.promise("6.64")) func aFileGoesWithCallsRepliesAndReports() throws {
        try run { _, owner, caller in
            #expect(caller.welcome["features"]?.array?.contains("memory") == true)
            #expect(caller.welcome["limits"]?["body"] == 1_073_741_824)
            let (asked, answered, told, small) = (try file(), try file(20_000_000), try file(), try file(3))
            let id = try caller.call("Files/put", in: asked)
            let call = try owner.expectCall("Files/put")
            #expect(call.isIn(asked))
            try owner.reply(to: call, in: answered)
            #expect(try caller.expectReply(to: id).isIn(answered))
            let number = try report(told, from: caller)
            let notice = try owner.expect(["kind": "notice", "name": "put", "via": "report"])
            #expect(notice.isIn(told))
            try owner.reply(to: notice)
            try caller.expectReply(to: number, body: ["observers": 1])
            let last = try caller.call("Files/put", in: small)
            let other = try owner.expectCall("Files/put")
            #expect(other.isIn(small))
            try owner.reply(to: other)
            try caller.expectReply(to: last)
        }
    }

    @Test(.promise("6.65")) func whoDoesNotSayThatItTakesFilesGetsTheBytes() throws {
        try run { bus, owner, caller in
            let plain = try bus.module("Cat", ["interfaces": ["Plain": [:]], "observes": ["put"]])
            let file = try file(1_000_000)
            // A call, while others are behind it.
            plain.isPaused = true
            let id = try caller.call("Plain/put", in: file)
            let next = try caller.call("Plain/put", 2)
            try caller.settle()
            plain.isPaused = false
            let call = try plain.expectCall("Plain/put")
            #expect(call.holds(file))
            try plain.reply(to: call)
            try caller.expectReply(to: id)
            try plain.reply(to: try plain.expectCall("Plain/put", 2))
            try caller.expectReply(to: next)
            // A report, to an observer on a lower level.
            let tool = try bus.takingOperator("memory")
            let number = try report(file, from: tool, to: "Cat")
            let notice = try plain.expect(["kind": "notice", "name": "put"])
            #expect(notice.holds(file))
            try plain.reply(to: notice)
            try tool.expectReply(to: number)
            // A reply.
            let asked = try plain.call("Files/get")
            try owner.reply(to: try owner.expectCall("Files/get"), in: file)
            #expect(try plain.expectReply(to: asked).holds(file))
            // What the bus reads itself.
            let small = try BodyFile(Array(#"{"module": "Ant"}"#.utf8))
            try tool.expectReply(to: try tool.call("bus/modules", in: small))
            try tool.expectError(to: try tool.call("bus/monitor", in: file), "too-large", ran: "no")
        }
    }

    /// What the broker forwards as bytes outlives the file, which it lets go of behind the frame.
    @Test(.promise("6.65")) func theLauncherGetsTheBytes() throws {
        try run { bus, _, _ in
            let launcher = try bus.launcher()
            let tool = try bus.takingOperator("memory")
            let filler = String(repeating: "x", count: 1_000_000)
            let file = try BodyFile(Array(#"{"module": "Ant", "filler": "\#(filler)"}"#.utf8))
            for isPaused in [false, true] {
                launcher.isPaused = isPaused
                let id = try tool.call("launcher/stop", in: file)
                try tool.settle()
                launcher.isPaused = false
                let call = try launcher.expectCall("launcher/stop")
                #expect(call.holds(file))
                try launcher.reply(to: call)
                try tool.expectReply(to: id)
            }
        }
    }

    @Test(.promise("6.65"), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
    func anotherNodeGetsTheBytes() throws {
        try TestNodes.run(.twoNodes()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index", ["memory": true])
            let notes = try nodes.berlin.module("Notes", ["memory": true])
            let file = try file()
            let id = try notes.call("Index/find", in: file)
            let call = try index.expectCall("Index/find")
            #expect(call.holds(file))
            try index.reply(to: call, in: file)
            #expect(try notes.expectReply(to: id).holds(file))
            let long = try self.file(17_000_000)
            try notes.expectError(to: try notes.call("Index/find", in: long), "too-large", ran: "no")
        }
    }

    @Test(.promise("6.65")) func aBodyThatFitsIntoNoFrameIsTooLarge() throws {
        try run(.sixModules { $0.limits.frame = 100_000 }) { bus, owner, caller in
            let plain = try bus.module("Cat", ["interfaces": ["Plain": [:]], "observes": ["put"]])
            let (file, fitting) = (try file(100_000), try file(90_000))
            try caller.expectError(to: try caller.call("Plain/put", in: file), "too-large", ran: "no")
            let tool = try bus.takingOperator("memory")
            try tool.expectError(to: try report(file, from: tool, to: "Cat"), "too-large", ran: "no")
            let asked = try plain.call("Files/get")
            try owner.reply(to: try owner.expectCall("Files/get"), in: file)
            try plain.expectError(to: asked, "too-large", ran: "yes")
            try plain.expectNothing()
            // Whoever takes files gets more than a frame has.
            let id = try caller.call("Files/put", in: file)
            #expect(try owner.expectCall("Files/put").isIn(file))
            let other = try caller.call("Plain/put", in: fitting)
            #expect(try plain.expectCall("Plain/put").holds(fitting))
            for number in [id, other] { try caller.cancel(number) }
        }
    }

    @Test(.promise("6.64", "6.65")) func adaptersAndTheAuthorizerGetThemToo() throws {
        let table = AppTable.testing(
            .manual("Gate", provides: ["Guard"]), .manual("Ant", rank: 1, provides: ["Files"]), .manual("Bee", rank: 2)
        ) { table in
            table.authorizer = "Guard"
            var adapter = AppTable.Adapter(name: "Store", to: "Files")
            var put = AppTable.AdaptedAction(name: "put", to: "put")
            put.params = [.init(from: "its", to: "own")]
            put.result = [.init(from: "back", to: "own")]
            var fetch = AppTable.AdaptedAction(name: "fetch", to: "put")
            fetch.result = [.init(from: "back", to: "own")]
            adapter.actions = [put, fetch]
            table.adapters = [adapter]
        }
        try TestBus.run(table) { bus in
            let gate = try bus.provider("Gate", "Guard", ["memory": true])
            let owner = try bus.module(
                "Ant", ["memory": true, "interfaces": ["Files": ["actions": ["get": ["auth": true], "put": [:]]]]])
            let caller = try bus.module("Bee", ["memory": true])
            let file = try file()
            let id = try caller.call("Files/get", in: file)
            let question = try gate.expectCall("Guard/authorize")
            #expect(question.isIn(file))
            try gate.reply(to: question, ["allow": true])
            let call = try owner.expectCall("Files/get")
            #expect(call.isIn(file))
            try owner.reply(to: call)
            try caller.expectReply(to: id)
            // What an adapter renames comes in the frame.
            let good = Array(#"{"own": 3}"#.utf8)
            let renamed = try BodyFile(Array(#"{"its": 1}"#.utf8))
            let adapted = try caller.call("Store/put", in: renamed)
            let other = try owner.expectCall("Files/put", ["own": 1])
            #expect(other["memory"] == nil && other.descriptors.isEmpty)
            try owner.reply(to: other, in: try BodyFile(Array(#"{"own": 2}"#.utf8)))
            try caller.expectReply(to: adapted, body: ["back": 2])
            try caller.expectError(to: try caller.call("Store/put", in: file), "too-large", ran: "no")
            // What it doesn't stays in its file.
            let fetched = try caller.call("Store/fetch", in: file)
            let third = try owner.expectCall("Files/put")
            #expect(third.isIn(file))
            try owner.reply(to: third, in: try BodyFile(good, seals: 0))
            try caller.expectError(to: fetched, "failed", ran: "yes")
        }
    }

    // MARK: faults

    @Test(.promise("6.66")) func aFileThatIsNoBodyIsRefused() throws {
        try run { bus, owner, caller in
            let good = Array("\"text\"".utf8)
            let bad = try [
                BodyFile(good, seals: 0), BodyFile(good, seals: BodyFile.sealed & ~0x2),
                BodyFile(good, seals: BodyFile.sealed & ~0x4), BodyFile(good, seals: BodyFile.sealed & ~0x8),
            ]
            for file in bad {
                let id = try caller.call("Files/put", in: file)
                #expect(try caller.expectError(to: id, "bad-params", ran: "no").message.contains("F_SEAL_WRITE"))
                try caller.expectError(to: try report(file, from: caller), "bad-params", ran: "no")
                let asked = try caller.call("Files/get")
                try owner.reply(to: try owner.expectCall("Files/get"), in: file)
                try caller.expectError(to: asked, "failed", ran: "yes")
            }
            // A hole, which its reader would have to fill.
            let hole = try BodyFile([], holes: 300_000)
            try caller.expectError(to: try caller.call("Files/put", in: hole), "bad-params", ran: "no")
            // Another length, and other descriptors.
            let sealed = try BodyFile(good)
            let token = try Token()
            for (length, descriptor) in [(5, sealed.descriptor), (7, sealed.descriptor), (6, token.writing)] {
                let id = caller.newID()
                try caller.send(
                    [
                        "kind": "call", "id": .integer(Int64(id)), "to": "Files/put",
                        "memory": .integer(Int64(length)),
                    ], descriptor: descriptor)
                try caller.expectError(to: id, "bad-params", ran: "no")
            }
            try owner.expectNothing()
            #expect(token.isClosed())
        }
    }

    @Test(.promise("6.66")) func headersThatDoNotFitEndTheConnection() throws {
        try run { bus, _, _ in
            let file = try file(10)
            let call: JSON = ["kind": "call", "id": 7, "to": "Files/put"]
            func fault(_ hello: JSON = ["memory": true], _ send: (RawPeer) throws -> Void) throws {
                let peer = try bus.module("Cat", hello)
                try send(peer)
                try peer.expectEnd("bad-header")
            }
            try fault { try $0.send(call.with(["memory": 10])) }
            try fault { try $0.send(call.with(["memory": 10]), 1, descriptor: file.descriptor) }
            try fault { try $0.send(call.with(["memory": 0]), descriptor: file.descriptor) }
            try fault { try $0.send(call.with(["memory": "10"]), descriptor: file.descriptor) }
            try fault(["memory": true, "descriptors": true]) {
                try $0.send(call.with(["memory": 10, "descriptors": 1]), descriptor: file.descriptor)
            }
            try fault([:]) { try $0.send(call.with(["memory": 10])) }
            try fault(["descriptors": true]) { try $0.send(call, in: file) }
            // Who takes bodies alone has no other descriptors.
            try fault { try $0.send(call.with(["descriptors": 1]), descriptor: file.descriptor) }
            for kind in ["open", "cancel", "credit", "error", "broadcast"] {
                try fault {
                    try $0.send(
                        ["kind": .string(kind), "id": 7, "name": "n", "url": "test://a/b", "credit": 1], in: file)
                }
            }
        }
    }

    @Test(.promise("6.66")) func onlyTheLastReplyMayHaveAFile() throws {
        try run { _, owner, caller in
            let file = try file(10)
            let id = try caller.call("Files/get", nil, ["credit": 2])
            let call = try owner.expectCall("Files/get")
            try owner.send(["kind": "reply", "id": call.number, "more": true], in: file)
            try caller.expectError(to: id, "failed")
            // The reply to a notice is not read.
            let number = try report(file, from: caller)
            let notice = try owner.find(["kind": "notice"])
            notice.closeDescriptors()
            try owner.reply(to: notice, in: file)
            try caller.expectReply(to: number, body: ["observers": 1])
        }
    }

    // MARK: bounds

    @Test(.promise("6.67", "13.62")) func oneSenderHasABoundInBytes() throws {
        let table = AppTable.testing(
            .eager("Late", provides: ["Late"]), .manual("Bee", rank: 2), .manual("Ant", rank: 2)
        ) {
            $0.limits.body = 1_000_000
        }
        try run(table) { bus, owner, caller in
            _ = try bus.launcher()
            let (half, whole, over) = (try file(500_000), try file(1_000_000), try file(1_000_001))
            let refused = try caller.expectError(to: try caller.call("Late/take", in: over), "too-large", ran: "no")
            #expect(refused.message.contains("limits.body"))
            let first = try caller.call("Late/take", in: half)
            _ = try caller.call("Late/take", in: half)
            let full = try caller.expectError(
                to: try caller.call("Late/take", in: try BodyFile(Array("1".utf8))), "overloaded", ran: "no")
            #expect(full.message.contains("limits.body"))
            // Of all senders together there may be four times as many.
            let others = try (0..<3).map { _ in try bus.takingOperator("memory") }
            for other in others { _ = try other.call("Late/take", in: whole) }
            try others[2].expectNothing()
            let last = try bus.takingOperator("memory")
            try last.expectError(
                to: try last.call("Late/take", in: try BodyFile(Array("1".utf8))), "overloaded", ran: "no")
            // What ends makes room.
            try caller.cancel(first)
            try caller.expectError(to: first, "cancelled", ran: "no")
            _ = try caller.call("Late/take", in: half)
            try caller.expectNothing()
        }
    }

    /// An answer that waits counts for its caller, not for the callee.
    @Test(.promise("6.67", "6.63")) func aCallerThatDoesNotReadUsesUpNobodyElsesShare() throws {
        try run(.sixModules { $0.limits.body = 1_000_000 }) { bus, owner, caller in
            let (filler, file) = (JSON.filler(400_000), try file(500_000))
            caller.isPaused = true
            // The first fills the socket, so the files wait.
            let ids = try (0..<5).map { _ in try caller.call("Files/get") }
            try owner.reply(to: try owner.expectCall("Files/get"), filler)
            try owner.reply(to: try owner.expectCall("Files/get"), filler)
            for _ in 2..<5 { try owner.reply(to: try owner.expectCall("Files/get"), in: file) }
            let other = try bus.takingOperator("memory")
            let id = try other.call("Files/get")
            try owner.reply(to: try owner.expectCall("Files/get"), in: file)
            #expect(try other.expectReply(to: id).isIn(file))
            caller.isPaused = false
            for id in ids[..<2] { try caller.expectReply(to: id) }
            for id in ids[2..<4] { #expect(try caller.expectReply(to: id).isIn(file)) }
            try caller.expectError(to: ids[4], "overloaded", ran: "yes")
        }
    }

    @Test(.promise("6.67")) func aFileFillsNoQueue() throws {
        try run(.sixModules { table in (table.limits.queue, table.limits.held) = (100_000, 100_000) }) {
            _, owner, caller in
            owner.isPaused = true
            let files = try (0..<8).map { _ in try file(5_000_000) }
            let ids = try files.map { try caller.call("Files/put", in: $0) }
            try caller.settle()
            owner.isPaused = false
            for (id, file) in zip(ids, files) {
                let call = try owner.expectCall("Files/put")
                #expect(call.isIn(file))
                try owner.reply(to: call, in: file)
                #expect(try caller.expectReply(to: id).isIn(file))
            }
        }
    }

    // MARK: monitors

    @Test(.promise("10.63")) func monitorsSeeTheStartOfALargeBody() throws {
        try run { bus, owner, caller in
            let tool = try bus.operator()
            try tool.call("bus/monitor", ["bodies": true], ["credit": 100])
            try tool.settle()
            let file = try BodyFile(Array(("\"" + String(repeating: "ä", count: 100_000) + "\"").utf8))
            let id = try caller.call("Files/put", in: file)
            let call = try owner.expectCall("Files/put")
            #expect(call.isIn(file))
            try owner.reply(to: call)
            try caller.expectReply(to: id)
            let seen = try tool.find(["kind": "reply", "more": true], body: ["kind": "call", "to": "Files/put"])
            #expect(seen.json["bytes"] == 200_002 && seen.json["omitted"] == "size" && seen.json["body"] == nil)
            #expect(seen.json["start"]?.string == "\"" + String(repeating: "ä", count: 2_047))
        }
    }
}
