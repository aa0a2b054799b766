import StrataCore
import StrataTesting
import Testing

/// The protocol's section 8: the order of checked calls, what they wait for, and how much may
/// wait.
@Suite(.timeLimit(.hang))
struct AuthorizationWaitingTests: AuthorizationSuite {
    @Test(.promise("6.3")) func aWaitingCallTakesItsPlaceWhenAllowedAndDelaysNoOtherCall() throws {
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
        try MemoryBus.run(table { $0.modules[0].start = .onDemand }) { bus in
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
        try MemoryBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let shop = try bus.module("Shop", Self.offer)
            let hand = try bus.module("Hand")
            let id = try hand.call("Shop/buy")
            try launcher.fail(try launcher.expectCall("launcher/start"), "failed", "no such file")
            try hand.expectError(to: id, "unauthorized", ran: "no")
            try shop.expectNothing()
        }
    }

    /// Section 11: otherwise the start would wait for itself.
    @Test(.promise("11.7")) func theAuthorizersOwnSetUpCannotWaitForIt() throws {
        try MemoryBus.run(table()) { bus in
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

    @Test(.promise("13.20")) func bytesThatWaitForTheAuthorizerAreCountedToTheirSender() throws {
        try run({ $0.limits.held = 100_000 }) { bus, cast in
            // A single one may exceed the limit.
            let large = try cast.hand.call("Shop/buy", .filler(200_000))
            let asked = try cast.gate.expectCall("Guard/authorize")
            let error = try cast.hand.refused("Shop/buy", 1, with: "overloaded")
            #expect(error.message.contains("Hand"))
            // Other callers and other calls are not affected.
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

    @Test(.promise("13.21")) func bytesThatWaitForAllHaveALimitForLargeRequests() throws {
        try run({ $0.limits.total = 150_000 }) { bus, cast in
            let other = try bus.module("Hand2")
            try cast.hand.call("Shop/buy", .filler(100_000))
            try cast.gate.expectCall("Guard/authorize")
            try other.refused("Shop/buy", .filler(70_000), with: "overloaded")
            try other.call("Shop/buy", .filler(60_000))
            try cast.gate.expectCall("Guard/authorize")
        }
    }
}
