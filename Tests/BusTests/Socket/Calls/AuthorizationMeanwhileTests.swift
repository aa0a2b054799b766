import StrataCore
import StrataTesting
import Testing

/// The protocol's section 8: what may end or change while the authorizer is asked.
@Suite(.timeLimit(.hang))
struct AuthorizationMeanwhileTests: AuthorizationSuite {
    // MARK: the call's end while the authorizer is asked

    @Test(.promise("8.5"), arguments: ["deadline", "cancel", "death"])
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

    @Test(.promise("8.5")) func theAuthorizersOwnRequestsAreCancelledWithTheCall() throws {
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

    @Test(.promise("8.5")) func aCallIsNoLongerAuthorizedOnceItsParentEnds() throws {
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

    @Test func aStreamUsesTheCreditGivenDuringAuthorization() throws {
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

    /// A credit restarts the step, for the authorizer too.
    @Test func creditGivenWhileAskedGivesTheAuthorizerTimeToo() throws {
        try run { bus, cast in
            let id = try cast.hand.call("Shop/buy", nil, ["deadline": 4_000, "credit": 1])
            let asked = try cast.gate.expectCall("Guard/authorize")
            for _ in 0..<2 {
                // Unanswered calls serve as the clock: 5 s in all.
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

    // MARK: what changes while the authorizer is asked

    /// Runs a bus whose `Shop` the launcher can start, and which has ended while its call waits
    /// for the authorizer.
    /// - Parameter body: the body of the call.
    private func runWhileShopIsAway(
        _ body: JSON? = nil,
        _ test: (_ bus: TestBus, _ gate: RawPeer, _ hand: RawPeer, _ id: UInt64, _ asked: ReceivedFrame) throws -> Void
    ) throws {
        try MemoryBus.run(table { $0.modules[1].start = .onDemand }) { bus in
            _ = try bus.launcher()
            let gate = try bus.provider("Gate", "Guard")
            let hand = try bus.module("Hand")
            let shop = try arrive(bus, "Shop", Self.offer)
            let id = try hand.call("Shop/buy", body)
            let asked = try gate.expectCall("Guard/authorize")
            shop.close()
            try bus.waitUntil("Shop", is: "absent")
            try test(bus, gate, hand, id, asked)
        }
    }

    @Test(.promise("8.9")) func anOwnerThatDiesDuringAuthorizationIsUnavailable() throws {
        try run { bus, cast in
            let id = try cast.hand.call("Shop/buy")
            let asked = try cast.gate.expectCall("Guard/authorize")
            cast.shop.close()
            try bus.waitUntil("Shop", is: "absent")
            try cast.gate.reply(to: asked, ["allow": true])
            try cast.hand.expectError(to: id, "unavailable", ran: "no")
        }
    }

    @Test(.promise("8.9"), arguments: ["before", "after"])
    func anOwnerThatIsStartedAgainMeanwhileGetsTheAllowedCallOnce(back: String) throws {
        try runWhileShopIsAway(["thing": "hat"]) { bus, gate, hand, id, asked in
            if back == "after" {
                try gate.reply(to: asked, ["allow": true])
                try bus.launcher().expectCall("launcher/start", ["module": "Shop"])
            }
            let second = try arrive(bus, "Shop", Self.offer)
            if back == "before" { try gate.reply(to: asked, ["allow": true]) }
            try second.reply(to: try second.expectCall("Shop/buy", ["thing": "hat"]), ["sold": true])
            try hand.expectReply(to: id, body: ["sold": true])
            try gate.expectNothing()
            try second.expectNothing()
        }
    }

    @Test(.promise("8.9"), arguments: ["before", "after"])
    func anActionThatEndsDuringAuthorizationIsUnknown(back: String) throws {
        try runWhileShopIsAway { bus, gate, hand, id, asked in
            if back == "after" {
                try gate.reply(to: asked, ["allow": true])
                try bus.launcher().expectCall("launcher/start")
            }
            let second = try arrive(bus, "Shop", ["interfaces": ["Shop": ["actions": ["look": [:]]]]])
            if back == "before" { try gate.reply(to: asked, ["allow": true]) }
            try hand.expectError(to: id, "unknown-action", ran: "no")
            try second.expectNothing()
        }
    }

    @Test(.promise("8.1")) func anInstanceIsNamedAndChecked() throws {
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
            // An instance that ends meanwhile no longer exists.
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
