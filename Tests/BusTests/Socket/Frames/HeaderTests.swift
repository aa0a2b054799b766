import StrataCore
import StrataTesting
import Testing

/// The protocol's sections 3 and 4: members, names and kinds.
@Suite(.timeLimit(.hang))
struct HeaderTests {
    @Test(.promise("3.1")) func theBrokerWritesKindFirstThenIDWithoutWhiteSpace() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.send(header: "{ \"to\" : \"Test/\\u0061\\u002fct\" , \"kind\" : \"call\", \"id\": 900 }")
            try caller.expectError(to: 900, "unknown-interface", ran: "no")
            try caller.send(header: "{ \"to\" : \"Test/\\u0061ct\" , \"kind\" : \"call\", \"id\": 901 }")
            let call = try callee.expectCall("Test/act")
            let text = String(decoding: call.headerBytes, as: UTF8.self)
            #expect(text.hasPrefix(#"{"kind":"call","id":\#(call.id),"#))
            #expect(!text.contains(" "))
            try callee.reply(to: call)
            let reply = try caller.expectReply(to: 901)
            #expect(String(decoding: reply.headerBytes, as: UTF8.self) == #"{"kind":"reply","id":901}"#)
        }
    }

    @Test(.promise("3.2")) func membersThatTheProtocolDoesNotKnowAreNotForwarded() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.call("Test/act", nil, ["colour": "red", "level": "basic", "subscription": 4, "missed": 2])
            let call = try callee.expectCall("Test/act")
            let names = Set(call.header.object?.map(\.name) ?? [])
            #expect(names == ["kind", "id", "to", "from", "deadline", "credit"])
        }
    }

    @Test(.promise("3.3")) func fromIsTheBrokersAndNeverBelieved() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.call("Test/act", nil, ["from": "operator"])
            #expect(try callee.expectCall("Test/act").from == "Bee")
            try bus.operator().call("Test/act", nil, ["from": "Bee"])
            #expect(try callee.expectCall("Test/act").from == "operator")
        }
    }

    @Test(.promise("3.4")) func traceAndMetaPassAsTheSameBytes() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            let caller = try bus.module("Bee")
            let carried = #""trace":"00-\u0061b-\/","meta":{ "b":1.50e2, "a":"\u00e9" }"#
            func carries(_ frame: ReceivedFrame) -> Bool {
                String(decoding: frame.headerBytes, as: UTF8.self).contains(carried)
            }
            try caller.send(header: #"{"kind":"call","id":900,"to":"Test/act",\#(carried)}"#)
            let call = try callee.expectCall("Test/act")
            #expect(carries(call))
            try callee.send(header: #"{"kind":"reply","id":\#(call.id),\#(carried)}"#)
            #expect(carries(try caller.answer(to: 900)))
            try caller.send(header: #"{"kind":"report","id":901,"to":"Ant","name":"news",\#(carried)}"#)
            let notice = try callee.expectNotice("news")
            #expect(carries(notice))
            try callee.send(header: #"{"kind":"error","id":\#(notice.id),"code":"a.b","message":"m",\#(carried)}"#)
            _ = try caller.expectError(to: 901, "a.b", ran: "yes")
        }
    }

    @Test(.promise("3.12", "I.5"), arguments: ["Test", "TestRouter", "TestROUTER", "Testrouter"])
    func oneSuffixRouterIsTakenOff(name: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", name)
            let caller = try bus.module("Bee")
            for asked in ["Test/act", "TestRouter/act", "Testrouter/act"] {
                try caller.call(asked)
                try callee.expectCall("Test/act")
            }
            try caller.refused("TestRouterRouter/act", with: "unknown-interface")
        }
    }

    @Test(
        .promise("3.7", "12.14", "I.5"),
        arguments: [
            ("", "unknown-interface"), ("Test", "unknown-interface"), ("/act", "unknown-interface"),
            ("Test/", "unknown-interface"), ("1Test/act", "unknown-interface"), ("Test/a b", "unknown-interface"),
            ("test/act", "unknown-interface"), ("Tést/act", "unknown-interface"), ("Nobody/act", "unknown-interface"),
            ("operator/act", "unknown-interface"), ("module/setUp", "forbidden"), ("bus/nothing", "unknown-action"),
            ("Test#1/act", "unknown-instance"),
        ])
    func aCallThatLeadsNowhereIsRefusedWithItsReason(to: String, code: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.refused(to, with: code)
            try callee.expectNothing()
            try caller.expectNothing()
        }
    }

    @Test(.promise("12.29")) func aMistypedNameGetsTheNearestOne() throws {
        try TestBus.run(.sixModules()) { bus in
            _ = try bus.module("Ant", ["interfaces": ["Storage": ["actions": ["find": [:]]]]])
            let caller = try bus.module("Bee")
            #expect(try caller.refused("Storge/find", with: "unknown-interface").message.contains("Storage"))
            #expect(try caller.refused("Storage/fnd", with: "unknown-action").message.contains("find"))
            let report = try caller.report("news", to: "Annt")
            #expect(try caller.expectError(to: report, "unknown-module", ran: "no").message.contains("Ant"))
        }
    }

    @Test(.promise("3.7"), arguments: [#""id":0"#, #""id":-1"#, #""id":9007199254740992"#, #""x":1"#])
    func aRequestWithoutAUsableIDIsABadIDWithoutID(member: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(header: #"{"kind":"call",\#(member),"to":"bus/ping"}"#)
            try peer.expectRemark("bad-id")
            try peer.expectNothing()
        }
    }

    @Test(
        .promise("3.6"),
        arguments: [#""id":1.5"#, #""id":1e2"#, #""id":"1""#, #""id":null"#, #""deadline":"5""#, #""credit":-1"#])
    func aKnownMemberOfAWrongTypeOrRangeEndsTheConnection(member: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(header: #"{"kind":"call","to":"bus/ping",\#(member)}"#)
            try peer.expectEnd("bad-header")
        }
    }

    @Test(.promise("4.8")) func anIDInUseIsABadIDWithoutIDAndTheOpenRequestGoesOn() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            try caller.call("Test/act", ["n": 1], id: 77)
            let call = try callee.expectCall("Test/act", ["n": 1])
            try caller.call("Test/act", ["n": 2], id: 77)
            #expect(try caller.expectRemark("bad-id").message.contains("77"))
            try callee.expectNothing()
            try callee.reply(to: call, ["n": 1])
            try caller.expectReply(to: 77, body: ["n": 1])
            // After its final answer the id may be used again.
            try caller.call("Test/act", ["n": 3], id: 77)
            try callee.reply(to: try callee.expectCall("Test/act", ["n": 3]))
            try caller.expectReply(to: 77)
        }
    }

    @Test(.promise("3.8")) func theBrokerNeverUsesANumberTwiceOnAConnection() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            var seen: Set<UInt64> = []
            for _ in 0..<600 {
                try caller.call("Test/act", id: 77)
                let call = try callee.expectCall("Test/act")
                #expect(seen.insert(call.id).inserted)
                try callee.reply(to: call)
                try caller.expectReply(to: 77)
            }
        }
    }

    @Test(.promise("4.6", "12.11"), arguments: ["subscribe", "notice", "Call", ""])
    func anUnknownKindIsRefusedWithItsID(kind: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(["kind": .string(kind), "id": 900, "name": "news"])
            try peer.expectError(to: 900, "unknown-kind", ran: "no")
            try peer.send(["kind": .string(kind), "name": "news"])
            try peer.expectRemark("unknown-kind")
            try peer.expectNothing()
        }
    }

    /// With the id of an open request, it would be taken for the answer to that request.
    @Test(.promise("4.6"), arguments: ["subscribe", "notice"])
    func anUnknownKindWithAnOpenRequestsIDIsARemark(kind: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Ant", "Shop")
            let peer = try bus.module("Bee")
            let id = try peer.call("Shop/buy")
            let call = try owner.expectCall("Shop/buy")
            try peer.send(["kind": .string(kind), "id": .integer(Int64(id)), "name": "news"])
            #expect(try peer.expectRemark("unknown-kind").message.contains("\(id)"))
            try owner.reply(to: call, 7)
            try peer.expectReply(to: id, body: 7)
        }
    }

    @Test(.promise("4.7")) func whatAnswersNothingOpenIsDroppedAndCounted() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            let before = try peer.asked("bus/stats")["counters"]?["dropped"]?.integer ?? -1
            for kind in ["reply", "error", "cancel", "credit"] as [JSON] {
                try peer.send(["kind": kind, "id": 123_456, "credit": 1, "code": "a.b", "message": "m"])
            }
            try peer.expectNothing()
            let after = try peer.asked("bus/stats")["counters"]?["dropped"]?.integer ?? -1
            #expect(after == before + 4)
        }
    }

    @Test(.promise("3.6"), arguments: ["broadcast", "report"])
    func aNotificationWithoutNameEndsTheConnection(kind: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.send(["kind": .string(kind), "id": 900, "to": "Ant"])
            try peer.expectEnd("bad-header")
        }
    }

    @Test(.promise("4.7")) func anAnswerToAnotherPeersCallIsDropped() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let stranger = try bus.module("Cat")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            let call = try callee.expectCall("Test/act")
            try stranger.reply(to: call, ["forged": true])
            try stranger.expectNothing()
            try caller.expectNothing()
            try callee.reply(to: call, ["forged": false])
            try caller.expectReply(to: id, body: ["forged": false])
        }
    }
}
