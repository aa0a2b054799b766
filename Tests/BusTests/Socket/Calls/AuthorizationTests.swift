import StrataCore
import StrataTesting
import Testing

/// The protocol's section 8: actions with `auth: true`, who is asked, and who is checked.
@Suite(.timeLimit(.hang))
struct AuthorizationTests: AuthorizationSuite {
    // MARK: asking

    @Test(.promise("8.1", "I.6")) func anAllowedCallIsDeliveredOnceAndItsResultReturned() throws {
        try run { _, cast in
            let members: JSON = ["deadline": 5_000, "meta": ["k": 1], "trace": "00-aa-bb-01"]
            let id = try cast.hand.call("Shop/buy", ["thing": "hat"], members)
            let asked = try cast.gate.expectCall("Guard/authorize", ["thing": "hat"], ["from": "bus"])
            #expect(asked["meta"] == ["to": "Shop/buy", "from": "Hand", "level": "topout"])
            #expect(asked["trace"] == "00-aa-bb-01")
            #expect((1...5_000).contains(asked["deadline"]?.integer ?? -1))
            try cast.shop.expectNothing()
            try cast.gate.reply(to: asked, ["allow": true])
            let call = try cast.shop.expectCall("Shop/buy", ["thing": "hat"], ["from": "Hand", "credit": 16])
            #expect(call["meta"] == ["k": 1] && call["trace"] == "00-aa-bb-01")
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.shop.reply(to: call, ["sold": true])
            try cast.hand.expectReply(to: id, body: ["sold": true])
            for peer in [cast.gate, cast.shop, cast.hand] { try peer.expectNothing() }
        }
    }

    /// A `meta` has at most 4,096 bytes, even the bus's own.
    @Test(.promise("8.2")) func anOpenWhoseURLIsTooLongToBeAskedAboutIsUnauthorized() throws {
        try run { _, cast in
            let longest = "test://shop/buy/" + String(repeating: "a", count: 3_900)
            try cast.hand.open(longest)
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"]?["url"]?.string == longest)
            let id = try cast.hand.open("test://shop/buy/" + String(repeating: "a", count: 4_100))
            let error = try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            #expect(error.message.contains("URL"), "\(error)")
            try cast.gate.expectNothing()
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.3")) func anActionWithoutAuthIsNotAskedFor() throws {
        try run { _, cast in
            try cast.hand.call("Shop/look")
            try cast.shop.expectCall("Shop/look")
            try cast.gate.expectNothing()
        }
    }

    @Test(
        .promise("8.4", "12.21"),
        arguments: [
            (["allow": false, "reason": "not you"], "not you"), (["allow": false], ""), ([:], ""), (nil, ""),
            (["allow": "true"], ""), (["allow": 1], ""), ([["allow": true]], ""), (true, ""),
        ] as [(JSON?, String)])
    func anyAnswerButAllowRefuses(answer: JSON?, reason: String) throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            try cast.gate.send(["kind": "reply", "id": asked.number], body: answer)
            let error = try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            #expect(reason.isEmpty || error.message == reason, "\(error)")
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.4")) func anAnswerThatIsNoJSONRefuses() throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            try cast.gate.send(header: #"{"kind":"reply","id":\#(asked.id)}"#, body: #"{"allow":true"#)
            try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.4"), arguments: ["Guard.broken", "unknown-action", "deadline-exceeded", "cancelled"])
    func anErrorRefuses(code: String) throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy")
            try cast.gate.fail(try cast.gate.expectCall("Guard/authorize"), code, "the book is lost")
            let error = try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            #expect(error.message.contains("the book is lost"))
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.4")) func nothingIsAllowedWithoutAnAuthorizerInTheManifest() throws {
        try run({ $0.authorizer = nil }) { _, cast in
            let error = try cast.hand.refused("Shop/buy", with: "unauthorized")
            #expect(error.message.contains("authorizer"))
            try cast.gate.expectNothing()
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.4")) func nothingIsAllowedWhileTheAuthorizerIsNotRunning() throws {
        try run { bus, cast in
            cast.gate.close()
            try bus.waitUntil("Gate", is: "absent")
            let error = try cast.hand.refused("Shop/buy", with: "unauthorized")
            #expect(error.message.contains("Gate"))
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.4")) func theAuthorizersDeathRefusesWhatItWasAsked() throws {
        try run { _, cast in
            let ids = try (0..<3).map { _ in try cast.hand.call("Shop/buy") }
            for _ in ids { try cast.gate.expectCall("Guard/authorize") }
            cast.gate.close()
            for id in ids { try cast.hand.expectError(to: id, "unauthorized", ran: "no") }
            try cast.shop.expectNothing()
        }
    }

    // MARK: who is checked

    @Test(.promise("5.34", "8.6")) func operatorsAreChecked() throws {
        try run { bus, cast in
            let tool = try bus.operator()
            let id = try tool.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"] == ["to": "Shop/buy", "from": "operator"])
            try cast.gate.reply(to: asked, ["allow": false])
            try tool.expectError(to: id, "unauthorized", ran: "no")
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.6")) func theOwnerIsChecked() throws {
        try run { _, cast in
            let id = try cast.shop.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"] == ["to": "Shop/buy", "from": "Shop", "level": "middle"])
            try cast.gate.reply(to: asked, ["allow": false])
            try cast.shop.expectError(to: id, "unauthorized", ran: "no")
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.6")) func theAuthorizersOwnInterfaceIsNeverChecked() throws {
        try TestBus.run(table()) { bus in
            let interfaces: JSON = [
                "Guard": ["actions": ["authorize": ["auth": true], "unlock": ["auth": true]]],
                "Vault": ["actions": ["open": ["auth": true]]],
            ]
            let gate = try bus.module("Gate", ["interfaces": interfaces])
            let hand = try bus.module("Hand")
            try hand.call("Guard/unlock")
            try gate.expectCall("Guard/unlock", nil, ["from": "Hand"])
            // Another interface of the same module is checked.
            let id = try hand.call("Vault/open")
            let asked = try gate.expectCall("Guard/authorize", nil, ["from": "bus"])
            try gate.reply(to: asked, ["allow": true])
            try gate.reply(to: try gate.expectCall("Vault/open", nil, ["from": "Hand"]))
            try hand.expectReply(to: id)
        }
    }

    @Test(.promise("8.8", "I.6")) func authSkipIsForTrustedRowsAndNeverForAnOpen() throws {
        try run { bus, cast in
            let trusted = try bus.module("Hand2")
            try trusted.call("Shop/buy", nil, ["auth": "skip"])
            try cast.shop.expectCall("Shop/buy", nil, ["from": "Hand2"])
            try cast.hand.refused("Shop/buy", nil, ["auth": "skip"], with: "forbidden")
            for peer in [trusted, cast.hand] {
                let id = try peer.open("test://shop/buy/hat", ["auth": "skip"])
                try peer.expectError(to: id, "forbidden", ran: "no")
            }
            try cast.gate.expectNothing()
            // A trusted module that doesn't skip the authorizer is checked.
            try trusted.call("Shop/buy")
            try cast.gate.expectCall("Guard/authorize")
            try cast.shop.expectNothing()
        }
    }

    @Test(.promise("8.7")) func aURLIsChecked() throws {
        try run { _, cast in
            let url = "test://shop/buy/hat?size=L#top"
            let id = try cast.hand.open(url)
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked.json == ["thing": "hat", "size": "L"] || asked.json == ["size": "L", "thing": "hat"])
            #expect(
                asked["meta"]
                    == ["to": "Shop/buy", "from": "Hand", "level": "topout", "url": .string(url)])
            try cast.shop.expectNothing()
            try cast.gate.reply(to: asked, ["allow": true])
            let call = try cast.shop.expectCall("Shop/buy", asked.json, ["from": "Hand", "url": .string(url)])
            try cast.shop.reply(to: call, ["sold": true])
            try cast.hand.expectReply(to: id, body: ["sold": true])
        }
    }

    @Test(.promise("8.7"), arguments: ["ShopRouter/buy", "ShopROUTER/buy", "Shoprouter/buy"])
    func theRouterSuffixDoesNotBypass(to: String) throws {
        try run { _, cast in
            let id = try cast.hand.call(to)
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"]?["to"] == "Shop/buy")
            try cast.shop.expectNothing()
            try cast.gate.reply(to: asked, ["allow": false])
            try cast.hand.expectError(to: id, "unauthorized", ran: "no")
        }
    }

    @Test(.promise("6.19")) func callsThatOtherChecksRefuseAreNotAuthorized() throws {
        try run({ $0.calls = .layered }) { bus, cast in
            try cast.hand.refused("Shop/bye", with: "unknown-action")
            try cast.hand.refused("Shop#1/buy", with: "unknown-instance")
            try cast.gate.refused("Shop/buy", with: "level-violation")
            try cast.gate.expectNothing()
        }
    }
}
