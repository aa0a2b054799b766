import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// The protocol's section 6: descriptors.
@Suite(.timeLimit(.hang))
struct DescriptorTests {
    private static let taking: JSON = [
        "descriptors": true,
        "interfaces": [
            "Files": [
                "actions": [
                    "open": ["descriptors": ["params": 16, "reply": 2]], "keep": ["descriptors": ["params": 1]],
                    "list": [:],
                ]
            ]
        ],
        "urls": [["host": "files", "path": "/open", "to": "Files/open"]],
        "observes": ["opened"],
    ]
    private static let mostOfOne = 64

    /// An owner and a caller that both take descriptors.
    private func run(
        _ table: AppTable = .sixModules(), _ test: (TestBus, _ owner: RawPeer, _ caller: RawPeer) throws -> Void
    ) throws {
        try TestBus.run(table) { bus in
            try test(bus, try bus.module("Ant", Self.taking), try bus.module("Bee", ["descriptors": true]))
        }
    }

    private func tokens(_ count: Int) throws -> [Token] { try (0..<count).map { _ in try Token() } }

    // MARK: the way

    @Test(.promise("6.58")) func descriptorsGoWithCallsRepliesAndReports() throws {
        try run { _, owner, caller in
            #expect(caller.welcome["features"]?.array?.contains("descriptors") == true)
            let (sent, answered, reported) = (try tokens(2), try tokens(1), try tokens(16))
            let id = try caller.call("Files/open", ["a": 1], with: sent)
            let call = try owner.expectCall("Files/open", ["a": 1])
            #expect(call.has(sent))
            try owner.send(["kind": "reply", "id": call.number], ["b": 2], with: answered)
            let reply = try caller.expectReply(to: id, body: ["b": 2])
            #expect(reply["descriptors"] == 1 && reply.has(answered))
            let report = caller.newID()
            try caller.send(
                ["kind": "report", "id": .integer(Int64(report)), "to": "Ant", "name": "opened"], "r", with: reported)
            let notice = try owner.expectNotice("opened", "r", ["via": "report"])
            #expect(notice.has(reported))
            try owner.reply(to: notice)
            try caller.expectReply(to: report, body: ["observers": 1])
            for token in sent + answered + reported { #expect(token.isClosed()) }
        }
    }

    @Test(.promise("6.70")) func monitorsSeeHowManyThereAre() throws {
        try run { bus, owner, caller in
            let tool = try bus.operator()
            try tool.call("bus/monitor", ["module": "Bee"], ["credit": 100])
            try tool.settle()
            let sent = try tokens(2)
            let opening = try caller.call("Files/open", 1, with: sent)
            let call = try owner.expectCall("Files/open", 1)
            try owner.send(["kind": "reply", "id": call.number], 2, with: [sent[0]])
            try caller.expectReply(to: opening, body: 2)
            let refused = try caller.call("Files/list", 3, with: [sent[0]])
            try caller.expectError(to: refused, "bad-params")
            let report = caller.newID()
            let header: JSON = ["kind": "report", "id": .integer(Int64(report)), "to": "Ant", "name": "opened"]
            try caller.send(header, 4, with: sent)
            try owner.reply(to: try owner.expectNotice("opened", 4))
            try caller.expectReply(to: report)
            try caller.call("Files/list", 5)
            var seen: [JSON] = []
            while seen.last?["to"] != "Files/list" || seen.last?["code"] != nil {
                seen.append(try tool.find(["kind": "reply", "more": true]).json)
            }
            let counts = seen.map { "\($0["kind"]?.string ?? "") \($0["descriptors"]?.integer ?? 0)" }
            #expect(counts == ["call 2", "reply 1", "call 1", "report 2", "notice 2", "reply 0", "call 0"], "\(seen)")
        }
    }

    /// Frames with descriptors, and without, small and large, keep their order, and each has its own.
    @Test(.promise("6.58", "R.3")) func eachFrameHasItsOwnAmongOthers() throws {
        try run { _, owner, caller in
            owner.isPaused = true
            let filler = JSON.filler(60_000)
            let sent = try (0..<20).map { number in
                let own = try tokens(number % 3)
                let body: JSON = number % 5 == 0 ? filler : .integer(Int64(number))
                if own.isEmpty {
                    try caller.call("Files/open", body)
                } else {
                    try caller.call("Files/open", body, with: own)
                }
                return own
            }
            try caller.settle()
            owner.isPaused = false
            for (number, own) in sent.enumerated() {
                let call = try owner.expectCall("Files/open", number % 5 == 0 ? filler : .integer(Int64(number)))
                #expect(call.has(own), "call \(number)")
                try owner.reply(to: call)
            }
            for token in sent.joined() { #expect(token.isClosed()) }
        }
    }

    @Test(.promise("6.58")) func theyWaitForTheirModule() throws {
        try run(.testing(.eager("Late", rank: 1, provides: ["Late"]), .manual("Bee", rank: 2), .manual("Ant", rank: 2)))
        {
            bus, _, caller in
            _ = try bus.launcher()
            let (fitting, surplus) = (try tokens(1), try tokens(2))
            let first = try caller.call("Late/take", 1, with: fitting)
            let second = try caller.call("Late/take", 2, with: surplus)
            try caller.expectNothing()
            let hello: JSON = [
                "descriptors": true, "token": .string(try bus.vouch(for: "Late")),
                "interfaces": ["Late": ["actions": ["take": ["descriptors": ["params": 1]]]]],
            ]
            let late = try bus.module("Late", hello)
            let call = try late.expectCall("Late/take", 1)
            #expect(call.has(fitting))
            try late.reply(to: call)
            try caller.expectReply(to: first)
            // Only its module's hello says how many it takes.
            try caller.expectError(to: second, "bad-params", ran: "no")
            for token in fitting + surplus { #expect(token.isClosed()) }
        }
    }

    // MARK: who takes them

    @Test(.promise("6.59")) func anActionTakesNoMoreThanItDeclares() throws {
        try run { bus, owner, caller in
            let sent = try tokens(2)
            for to in ["Files/keep", "Files/list"] {
                let id = try caller.call(to, nil, with: sent)
                #expect(try caller.expectError(to: id, "bad-params", ran: "no").message.contains(to))
            }
            try owner.expectNothing()
            let listed = try bus.operator().asked("bus/interfaces")["interfaces"]?.array?.first?["actions"]?.array
            #expect(
                listed?.compactMap { $0["descriptors"] } == [["params": 16, "reply": 2], ["params": 1, "reply": 0]])
            for token in sent { #expect(token.isClosed()) }
        }
    }

    @Test(.promise("6.59")) func aReplyGivesNoMoreThanItsActionDeclares() throws {
        try run { bus, owner, caller in
            let sent = try tokens(3)
            let id = try caller.call("Files/open")
            try owner.send(["kind": "reply", "id": try owner.expectCall("Files/open").number], 1, with: sent)
            try caller.expectError(to: id, "failed", ran: "yes")
            // Nor to a caller that takes none.
            let other = try bus.module("Cat")
            let asked = try other.call("Files/open")
            let one = try tokens(1)
            try owner.send(["kind": "reply", "id": try owner.expectCall("Files/open").number], 1, with: one)
            try other.expectError(to: asked, "failed", ran: "yes")
            // Nor with a part of an answer.
            let stream = try caller.call("Files/open", nil, ["credit": 2])
            let part = try tokens(1)
            let call = try owner.expectCall("Files/open")
            try owner.send(["kind": "reply", "id": call.number, "more": true], 1, with: part)
            try caller.expectError(to: stream, "failed")
            // A URL's reply has none either.
            let opened = try caller.open("test://files/open")
            let found = try tokens(1)
            let byURL = try owner.find(["kind": "call", "to": "Files/open"])
            try owner.send(["kind": "reply", "id": byURL.number], 1, with: found)
            try caller.expectError(to: opened, "failed", ran: "yes")
            for token in sent + one + part + found { #expect(token.isClosed()) }
        }
    }

    @Test(.promise("6.59")) func aModuleWhoseHelloTakesNoneGetsNone() throws {
        try run { bus, _, caller in
            let deaf = try bus.module(
                "Cat",
                [
                    "interfaces": ["Deaf": ["actions": ["take": ["descriptors": ["params": 1]]]]],
                    "observes": ["told"],
                ])
            let (called, reported) = (try tokens(1), try tokens(1))
            let id = try caller.call("Deaf/take", nil, with: called)
            try caller.expectError(to: id, "failed", ran: "no")
            let report = try bus.takingOperator()
            let number = report.newID()
            try report.send(
                ["kind": "report", "id": .integer(Int64(number)), "to": "Cat", "name": "told"], with: reported)
            try report.expectError(to: number, "bad-params", ran: "no")
            try deaf.expectNothing()
            for token in called + reported { #expect(token.isClosed()) }
        }
    }

    /// The kernel refuses what a peer sends that didn't say that it would, or closes it.
    @Test(.promise("6.59")) func whoDidNotSayThatItSendsSomeCannot() throws {
        try run { bus, _, _ in
            let quiet = try bus.module("Cat")
            let sent = try tokens(1)
            let count = quiet.send(
                bytes: FrameBytes.frame(["kind": "call", "id": 1, "to": "bus/ping"]), with: sent.map(\.writing))
            #expect(count == -Int(EPERM) || count > 0)
            try quiet.settle()
            #expect(sent[0].isClosed())
        }
    }

    @Test(.promise("6.60")) func theyAreForModulesOfThisNode() throws {
        try run { _, _, caller in
            let sent = try tokens(1)
            for to in ["bus/modules", "bus/emit", "launcher/stop"] {
                let id = try caller.call(to, [:], with: sent)
                #expect(["bad-params", "forbidden"].contains(try caller.answer(to: id).code))
            }
            #expect(sent[0].isClosed())
        }
    }

    @Test(
        .promise("6.60"),
        arguments: [
            #"{"descriptors": {"params": 17}}"#, #"{"descriptors": {"params": -1}}"#,
            #"{"descriptors": {"reply": "2"}}"#,
            #"{"descriptors": 2}"#,
        ])
    func badDeclarationsAreRefused(action: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            let interfaces: JSON = ["I": ["actions": ["a": try JSON(parsing: Array(action.utf8))]]]
            let id = try peer.sendHello("Ant", ["descriptors": true, "interfaces": interfaces])
            try peer.expectRefusal(of: id, "bad-params")
        }
    }

    // MARK: faults

    @Test(.promise("6.61")) func headersAndDescriptorsThatDoNotMatchEndTheConnection() throws {
        try run { bus, _, _ in
            let call: JSON = ["kind": "call", "id": 7, "to": "Files/open"]
            let sent = try tokens(2)
            func fault(_ code: String, _ send: (RawPeer) throws -> Void) throws {
                let peer = try bus.module("Cat", ["descriptors": true])
                try send(peer)
                try peer.expectEnd(code)
                try bus.operator().asked("bus/ping")
            }
            // None came, and another number.
            try fault("bad-header") { try $0.send(call.with(["descriptors": 1])) }
            try fault("bad-header") { try $0.sendAsIs(call.with(["descriptors": 1]), with: sent) }
            for number in [0, 17, -1] as [JSON] {
                try fault("bad-header") { try $0.send(call.with(["descriptors": number])) }
            }
            // Kinds that have none.
            for kind in ["open", "cancel", "credit", "error", "broadcast"] {
                try fault("bad-header") {
                    try $0.send(
                        ["kind": .string(kind), "id": 7, "name": "n", "url": "test://a/b", "credit": 1], with: sent)
                }
            }
            // Nothing names them: a whole frame, and parts of one.
            try fault("bad-frame") { try $0.sendAsIs(call, with: sent) }
            try fault("bad-frame") { peer in
                try peer.send(bytes: [0], with: sent)
                try peer.send(bytes: [0], with: sent)
            }
            let quiet = try bus.module("Cat")
            try quiet.send(call.with(["descriptors": 1]))
            try quiet.expectEnd("bad-header")
            for token in sent { #expect(token.isClosed()) }
        }
    }

    @Test(.promise("6.63")) func moreThanAFrameMayHaveAreRefused() throws {
        try run { _, owner, caller in
            for count in [17, 253] {
                let sent = try Token()
                let id = caller.newID()
                let header: JSON = ["kind": "call", "id": .integer(Int64(id)), "to": "Files/open", "descriptors": 16]
                try caller.sendAsIs(header, with: [Token](repeating: sent, count: count))
                try caller.expectError(to: id, "overloaded", ran: "no")
                #expect(sent.isClosed())
            }
            try owner.expectNothing()
        }
    }

    @Test(.promise("6.63")) func oneSenderHasABoundInTheBroker() throws {
        try run(.testing(.eager("Late", provides: ["Late"]), .manual("Bee", rank: 2), .manual("Ant", rank: 2))) {
            bus, _, caller in
            _ = try bus.launcher()
            let sent = try tokens(16)
            let waiting = try (0..<Self.mostOfOne / 16).map { _ in try caller.call("Late/take", nil, with: sent) }
            let one = try tokens(1)
            let refused = try caller.call("Late/take", nil, with: one)
            #expect(try caller.expectError(to: refused, "overloaded", ran: "no").message.contains("64"))
            // Another sender isn't held up by that.
            let other = try bus.takingOperator()
            let id = try other.call("Late/take", nil, with: one)
            try other.expectNothing()
            // What ends makes room.
            try caller.cancel(waiting[0])
            try caller.expectError(to: waiting[0], "cancelled", ran: "no")
            try caller.call("Late/take", nil, with: one)
            try caller.expectNothing()
            try other.cancel(id)
            caller.close()
            for token in sent + one { #expect(token.isClosed()) }
        }
    }
}
