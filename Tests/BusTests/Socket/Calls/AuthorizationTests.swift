import StrataCore
import StrataTesting
import Testing

/// The protocol's section 8: actions with `auth: true`, and who is asked.
@Suite(.timeLimit(.minutes(1)))
struct AuthorizationTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Gate", provides: ["Guard"]), .manual("Shop", rank: 1, provides: ["Shop"]),
            .manual("Hand", rank: 2), .manual("Hand2", rank: 2) { $0.trusted = true }
        ) { table in
            table.authorizer = "Guard"
            change(&table)
        }
    }

    private static let offer: JSON = [
        "interfaces": ["Shop": ["actions": ["buy": ["auth": true], "look": [:]]]],
        "urls": [["host": "shop", "path": "/buy/:thing", "to": "Shop/buy"]],
    ]

    private struct Cast {
        let gate: RawPeer, shop: RawPeer, hand: RawPeer
    }

    /// The authorizer, the owner of `Shop/buy`, and a caller.
    private func run(_ change: (inout AppTable) -> Void = { _ in }, _ test: (TestBus, Cast) throws -> Void) throws {
        try TestBus.run(table(change)) { bus in
            try test(
                bus,
                Cast(
                    gate: try bus.provider("Gate", "Guard"), shop: try bus.module("Shop", Self.offer),
                    hand: try bus.module("Hand")))
        }
    }

    /// A module of a row that the launcher starts.
    private func arrive(_ bus: TestBus, _ name: String, _ hello: JSON) throws -> RawPeer {
        let token = try bus.vouch(for: name)
        return try bus.module(name, .object([.init("token", .string(token))] + (hello.object ?? [])))
    }

    // MARK: asking

    @Test func anAllowedCallGoesOnOnceAndItsResultToItsCaller() throws {
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

    @Test func anActionWithoutAuthIsNotAskedFor() throws {
        try run { _, cast in
            try cast.hand.call("Shop/look")
            try cast.shop.expectCall("Shop/look")
            try cast.gate.expectNothing()
        }
    }

    @Test(
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

    @Test func anAnswerThatIsNoJSONRefuses() throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            try cast.gate.send(header: #"{"kind":"reply","id":\#(asked.id)}"#, body: #"{"allow":true"#)
            try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            try cast.shop.expectNothing()
        }
    }

    @Test(arguments: ["Guard.broken", "unknown-action", "deadline-exceeded", "cancelled"])
    func anErrorRefuses(code: String) throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy")
            try cast.gate.fail(try cast.gate.expectCall("Guard/authorize"), code, "the book is lost")
            let error = try cast.hand.expectError(to: id, "unauthorized", ran: "no")
            #expect(error.message.contains("the book is lost"))
            try cast.shop.expectNothing()
        }
    }

    @Test func withoutAuthorizerInTheManifestNobodyIsAllowed() throws {
        try run({ $0.authorizer = nil }) { _, cast in
            let error = try cast.hand.refused("Shop/buy", with: "unauthorized")
            #expect(error.message.contains("authorizer"))
            try cast.gate.expectNothing()
            try cast.shop.expectNothing()
        }
    }

    @Test func whereTheAuthorizerDoesNotRunNobodyIsAllowed() throws {
        try run { bus, cast in
            cast.gate.close()
            try bus.waitUntil("Gate", is: "absent")
            let error = try cast.hand.refused("Shop/buy", with: "unauthorized")
            #expect(error.message.contains("Gate"))
            try cast.shop.expectNothing()
        }
    }

    @Test func theAuthorizersDeathRefusesWhatItWasAsked() throws {
        try run { _, cast in
            let ids = try (0..<3).map { _ in try cast.hand.call("Shop/buy") }
            for _ in ids { try cast.gate.expectCall("Guard/authorize") }
            cast.gate.close()
            for id in ids { try cast.hand.expectError(to: id, "unauthorized", ran: "no") }
            try cast.shop.expectNothing()
        }
    }

    // MARK: the call's end while the authorizer is asked

    @Test(arguments: ["deadline", "cancel", "death"])
    func aCallThatEndsWhileAskedNeverRuns(ending: String) throws {
        try run { bus, cast in
            let id = try cast.hand.call("Shop/buy", nil, ending == "deadline" ? ["deadline": 40] : [:])
            let asked = try cast.gate.expectCall("Guard/authorize")
            switch ending {
            case "deadline": try cast.hand.expectError(to: id, "deadline-exceeded", ran: "no")
            case "cancel":
                try cast.hand.cancel(id)
                try cast.hand.expectError(to: id, "cancelled", ran: "no")
            default: cast.hand.close()
            }
            try cast.gate.expect(["kind": "cancel", "id": asked.number])
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.gate.expectNothing()
            try cast.shop.expectNothing()
            if ending != "death" { try cast.hand.expectNothing() }
        }
    }

    @Test func whatTheAuthorizerAskedForItIsCancelledWithTheCall() throws {
        try run { bus, cast in
            let other = try bus.provider("Hand2", "SignIn")
            let id = try cast.hand.call("Shop/buy", nil, ["deadline": 20_000])
            let asked = try cast.gate.expectCall("Guard/authorize")
            let made = try cast.gate.call("SignIn/show", nil, ["parent": asked.number])
            let shown = try other.expectCall("SignIn/show")
            #expect((1...20_000).contains(shown["deadline"]?.integer ?? -1))
            try cast.hand.cancel(id)
            try cast.gate.expectError(to: made, "cancelled", ran: "maybe")
            try other.expect(["kind": "cancel", "id": shown.number])
        }
    }

    @Test func whenItsParentEndsACallIsNotAskedForAnyMore() throws {
        try run { bus, cast in
            let middle = try bus.provider("Hand2", "Outer")
            let outer = try cast.hand.call("Outer/act")
            let parent = try middle.expectCall("Outer/act")
            let inner = try middle.call("Shop/buy", nil, ["parent": parent.number])
            let asked = try cast.gate.expectCall("Guard/authorize")
            try cast.hand.cancel(outer)
            try middle.expectError(to: inner, "cancelled", ran: "no")
            try cast.gate.expect(["kind": "cancel", "id": asked.number])
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.gate.settle()
            try cast.shop.expectNothing()
        }
    }

    @Test func aStreamGoesOnWithTheCreditGivenWhileAsked() throws {
        try run { _, cast in
            let id = try cast.hand.call("Shop/buy", nil, ["deadline": 0, "credit": 1])
            let asked = try cast.gate.expectCall("Guard/authorize", nil, ["deadline": 0])
            try cast.hand.credit(id, 1)
            try cast.hand.settle()
            try cast.gate.reply(to: asked, ["allow": true])
            let call = try cast.shop.expectCall("Shop/buy", nil, ["deadline": 0, "credit": 2])
            for _ in 0..<2 {
                try cast.shop.partialReply(to: call)
                try cast.hand.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true])
            }
            try cast.shop.reply(to: call)
            try cast.hand.expectReply(to: id)
        }
    }

    /// A credit begins the step anew, for the authorizer too.
    @Test func creditGivenWhileAskedGivesTheAuthorizerTimeToo() throws {
        try run { bus, cast in
            let id = try cast.hand.call("Shop/buy", nil, ["deadline": 4_000, "credit": 1])
            let asked = try cast.gate.expectCall("Guard/authorize")
            for _ in 0..<2 {
                // Calls that nobody answers are the clock: 5 s in all.
                let clock = try bus.operator().call("Guard/hang", nil, ["deadline": 2_500])
                try cast.gate.expectCall("Guard/hang")
                try bus.operator().expectError(to: clock, "deadline-exceeded")
                try cast.gate.expect(["kind": "cancel"])
                try cast.hand.credit(id, 1)
                try cast.hand.settle()
            }
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.shop.reply(to: try cast.shop.expectCall("Shop/buy"))
            try cast.hand.expectReply(to: id)
        }
    }

    // MARK: who is checked

    @Test func operatorsAreChecked() throws {
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

    @Test func theOwnerIsChecked() throws {
        try run { _, cast in
            let id = try cast.shop.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"] == ["to": "Shop/buy", "from": "Shop", "level": "middle"])
            try cast.gate.reply(to: asked, ["allow": false])
            try cast.shop.expectError(to: id, "unauthorized", ran: "no")
            try cast.shop.expectNothing()
        }
    }

    @Test func theAuthorizersOwnInterfaceIsNeverChecked() throws {
        try TestBus.run(table()) { bus in
            let interfaces: JSON = [
                "Guard": ["actions": ["authorize": ["auth": true], "unlock": ["auth": true]]],
                "Vault": ["actions": ["open": ["auth": true]]],
            ]
            let gate = try bus.module("Gate", ["interfaces": interfaces])
            let hand = try bus.module("Hand")
            try hand.call("Guard/unlock")
            try gate.expectCall("Guard/unlock", nil, ["from": "Hand"])
            // Another interface of the same module is.
            let id = try hand.call("Vault/open")
            let asked = try gate.expectCall("Guard/authorize", nil, ["from": "bus"])
            try gate.reply(to: asked, ["allow": true])
            try gate.reply(to: try gate.expectCall("Vault/open", nil, ["from": "Hand"]))
            try hand.expectReply(to: id)
        }
    }

    @Test func authSkipIsForTrustedRowsAndNeverForAnOpen() throws {
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
            // Trusted, and not skipping, is asked for.
            try trusted.call("Shop/buy")
            try cast.gate.expectCall("Guard/authorize")
            try cast.shop.expectNothing()
        }
    }

    @Test func aURLIsChecked() throws {
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

    @Test(arguments: ["ShopRouter/buy", "ShopROUTER/buy", "Shoprouter/buy"])
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

    @Test func whatTheOtherChecksRefuseIsNotAskedFor() throws {
        try run({ $0.calls = .layered }) { bus, cast in
            try cast.hand.refused("Shop/bye", with: "unknown-action")
            try cast.hand.refused("Shop#1/buy", with: "unknown-instance")
            try cast.gate.refused("Shop/buy", with: "level-violation")
            try cast.gate.expectNothing()
        }
    }

    // MARK: order, waiting and limits

    @Test func aCallThatWaitsTakesItsPlaceWhenAllowedAndDelaysNoOther() throws {
        try run { _, cast in
            try cast.hand.call("Shop/buy", 1)
            try cast.hand.call("Shop/look", 2)
            try cast.hand.call("Shop/buy", 3)
            let asked = try [1, 3].map { try cast.gate.expectCall("Guard/authorize", $0 as JSON) }
            try cast.shop.expectCall("Shop/look", 2)
            try cast.shop.expectNothing()
            try cast.gate.reply(to: asked[1], ["allow": true])
            try cast.shop.expectCall("Shop/buy", 3)
            try cast.hand.call("Shop/look", 4)
            try cast.shop.expectCall("Shop/look", 4)
            try cast.gate.reply(to: asked[0], ["allow": true])
            try cast.shop.expectCall("Shop/buy", 1)
        }
    }

    @Test func aCallToAModuleThatStartsIsAskedForWhenItIsReady() throws {
        try TestBus.run(table { $0.modules[1].start = .onDemand }) { bus in
            let gate = try bus.provider("Gate", "Guard")
            let hand = try bus.module("Hand")
            let trusted = try bus.module("Hand2")
            let launcher = try bus.launcher()
            let id = try hand.call("Shop/buy", ["thing": "hat"])
            let unknown = try hand.call("Shop/bye")
            try hand.settle()
            let skipping = try trusted.call("Shop/buy", ["thing": "bag"], ["auth": "skip"])
            try launcher.expectCall("launcher/start", ["module": "Shop"])
            try gate.expectNothing()
            let shop = try arrive(bus, "Shop", Self.offer)
            try hand.expectError(to: unknown, "unknown-action", ran: "no")
            try shop.reply(to: try shop.expectCall("Shop/buy", ["thing": "bag"]))
            try trusted.expectReply(to: skipping)
            let asked = try gate.expectCall("Guard/authorize", ["thing": "hat"])
            try shop.expectNothing()
            try gate.reply(to: asked, ["allow": true])
            try shop.reply(to: try shop.expectCall("Shop/buy", ["thing": "hat"], ["from": "Hand"]))
            try hand.expectReply(to: id)
        }
    }

    @Test func anAuthorizerOnDemandIsStartedAndThenAsked() throws {
        try TestBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let shop = try bus.module("Shop", Self.offer)
            let hand = try bus.module("Hand")
            let id = try hand.call("Shop/buy", 1)
            let late = try hand.call("Shop/buy", 2, ["deadline": 30])
            try launcher.expectCall("launcher/start", ["module": "Gate"])
            try hand.expectError(to: late, "deadline-exceeded", ran: "no")
            let gate = try arrive(bus, "Gate", ["interfaces": ["Guard": [:]]])
            try gate.reply(to: try gate.expectCall("Guard/authorize", 1), ["allow": true])
            try shop.reply(to: try shop.expectCall("Shop/buy", 1))
            try hand.expectReply(to: id)
            try gate.expectNothing()
            try shop.expectNothing()
        }
    }

    @Test func anAuthorizerThatCannotBeStartedRefuses() throws {
        try TestBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let shop = try bus.module("Shop", Self.offer)
            let hand = try bus.module("Hand")
            let id = try hand.call("Shop/buy")
            try launcher.fail(try launcher.expectCall("launcher/start"), "failed", "no such file")
            try hand.expectError(to: id, "unauthorized", ran: "no")
            try shop.expectNothing()
        }
    }

    /// Section 11: else the start would wait for itself.
    @Test func theAuthorizersOwnSetUpCannotWaitForIt() throws {
        try TestBus.run(table()) { bus in
            let shop = try bus.module("Shop", Self.offer)
            let gate = try bus.connect("Gate")
            try gate.hello("Gate", ["interfaces": ["Guard": [:]]])
            let setUp = try gate.expectCall("module/setUp")
            let id = try gate.call("Shop/buy", nil, ["parent": setUp.number])
            let error = try gate.expectError(to: id, "unauthorized", ran: "no")
            #expect(error.message.contains("setUp"))
            try shop.expectNothing()
        }
    }

    @Test func bytesThatWaitForTheAuthorizerAreCountedToTheirSender() throws {
        try run({ $0.limits.held = 100_000 }) { bus, cast in
            // One alone may exceed it.
            let large = try cast.hand.call("Shop/buy", .filler(200_000))
            let asked = try cast.gate.expectCall("Guard/authorize")
            let error = try cast.hand.refused("Shop/buy", 1, with: "overloaded")
            #expect(error.message.contains("Hand"))
            // Neither other callers nor other calls are concerned.
            let other = try bus.module("Hand2")
            try other.call("Shop/buy", 2)
            try cast.gate.expectCall("Guard/authorize", 2)
            try cast.hand.call("Shop/look")
            try cast.shop.expectCall("Shop/look")
            try cast.gate.reply(to: asked, ["allow": false])
            try cast.hand.expectError(to: large, "unauthorized")
            let next = try cast.hand.call("Shop/buy", 3)
            try cast.gate.reply(to: try cast.gate.expectCall("Guard/authorize", 3), ["allow": true])
            try cast.shop.reply(to: try cast.shop.expectCall("Shop/buy", 3))
            try cast.hand.expectReply(to: next)
            try cast.hand.call("Shop/buy", .filler(200_000))
            try cast.gate.expectCall("Guard/authorize")
        }
    }

    @Test func bytesThatWaitForAllHaveALimitForLargeRequests() throws {
        try run({ $0.limits.total = 150_000 }) { bus, cast in
            let other = try bus.module("Hand2")
            try cast.hand.call("Shop/buy", .filler(100_000))
            try cast.gate.expectCall("Guard/authorize")
            try other.refused("Shop/buy", .filler(70_000), with: "overloaded")
            try other.call("Shop/buy", .filler(60_000))
            try cast.gate.expectCall("Guard/authorize")
        }
    }

    // MARK: what changes while the authorizer is asked

    @Test func anOwnerThatDiesMeanwhileIsUnavailable() throws {
        try run { bus, cast in
            let id = try cast.hand.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            cast.shop.close()
            try bus.waitUntil("Shop", is: "absent")
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.hand.expectError(to: id, "unavailable", ran: "no")
        }
    }

    @Test(arguments: ["before", "after"])
    func anOwnerThatIsStartedAgainMeanwhileGetsTheAllowedCallOnce(back: String) throws {
        try TestBus.run(table { $0.modules[1].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let gate = try bus.provider("Gate", "Guard")
            let hand = try bus.module("Hand")
            let first = try arrive(bus, "Shop", Self.offer)
            let id = try hand.call("Shop/buy", ["thing": "hat"])
            let asked = try gate.expectCall("Guard/authorize")
            first.close()
            try bus.waitUntil("Shop", is: "absent")
            if back == "after" {
                try gate.reply(to: asked, ["allow": true])
                try launcher.expectCall("launcher/start", ["module": "Shop"])
            }
            let second = try arrive(bus, "Shop", Self.offer)
            if back == "before" { try gate.reply(to: asked, ["allow": true]) }
            try second.reply(to: try second.expectCall("Shop/buy", ["thing": "hat"]), ["sold": true])
            try hand.expectReply(to: id, body: ["sold": true])
            try gate.expectNothing()
            try second.expectNothing()
        }
    }

    @Test(arguments: ["before", "after"])
    func anActionThatWentAwayMeanwhileIsUnknown(back: String) throws {
        try TestBus.run(table { $0.modules[1].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let gate = try bus.provider("Gate", "Guard")
            let hand = try bus.module("Hand")
            let first = try arrive(bus, "Shop", Self.offer)
            let id = try hand.call("Shop/buy")
            let asked = try gate.expectCall("Guard/authorize")
            first.close()
            try bus.waitUntil("Shop", is: "absent")
            if back == "after" {
                try gate.reply(to: asked, ["allow": true])
                try launcher.expectCall("launcher/start")
            }
            let second = try arrive(bus, "Shop", ["interfaces": ["Shop": ["actions": ["look": [:]]]]])
            if back == "before" { try gate.reply(to: asked, ["allow": true]) }
            try hand.expectError(to: id, "unknown-action", ran: "no")
            try second.expectNothing()
        }
    }

    @Test func anInstanceIsNamedAndChecked() throws {
        try run { bus, cast in
            let cart: JSON = ["Cart": ["instances": "multiple", "actions": ["pay": ["auth": true]]]]
            try cast.shop.asked("bus/register", ["interfaces": cart])
            let created = try cast.hand.asked("bus/create", ["interface": "Cart"])
            let name = created["instance"]?.string ?? ""
            let first = try cast.hand.call("\(name)/pay")
            let asked = try cast.gate.expectCall("Guard/authorize")
            #expect(asked["meta"]?["to"]?.string == "\(name)/pay")
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.shop.reply(to: try cast.shop.expectCall("\(name)/pay"))
            try cast.hand.expectReply(to: first)
            // One that ends meanwhile is gone.
            let second = try cast.hand.call("\(name)/pay")
            let again = try cast.gate.expectCall("Guard/authorize")
            try cast.hand.asked("bus/release", created)
            try cast.gate.reply(to: again, ["allow": true])
            try cast.hand.expectError(to: second, "unknown-instance", ran: "no")
            try cast.shop.expectCall("module/released", created)
            try cast.shop.expectNothing()
        }
    }
}
