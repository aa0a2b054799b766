import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: interfaces with `instances: multiple`.
@Suite(.timeLimit(.hang))
struct InstanceTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Store", provides: ["Cart"]), .manual("Hand", rank: 2), .manual("Hand2", rank: 2), with: change)
    }

    private static let offer: JSON = [
        "interfaces": [
            "Cart": ["instances": "multiple", "actions": ["add": [:]]], "Basket": ["instances": "multiple"],
            "Till": [:],
        ]
    ]

    private func run(
        _ change: (inout AppTable) -> Void = { _ in }, _ test: (TestBus, RawPeer, RawPeer) throws -> Void
    ) throws {
        try MemoryBus.run(table(change)) { bus in
            try test(bus, try bus.module("Store", Self.offer), try bus.module("Hand"))
        }
    }

    /// Connects a module whose row the launcher starts.
    private func arrive(_ bus: TestBus, _ name: String = "Store") throws -> RawPeer {
        let token = try bus.vouch(for: name)
        return try bus.module(name, .object([.init("token", .string(token))] + (Self.offer.object ?? [])))
    }

    private func create(_ peer: RawPeer, _ interface: String = "Cart", line: UInt = #line) throws -> String {
        try peer.asked("bus/create", ["interface": .string(interface)], line: line)["instance"]?.string ?? "none"
    }

    private func released(_ name: String) -> JSON { ["instance": .string(name)] }

    // MARK: calling

    @Test(.promise("6.27", "I.4")) func anInstanceIsCalledByItsCreatorAlone() throws {
        try run { bus, store, hand in
            let cart = try create(hand)
            #expect(cart.hasPrefix("Cart#") && Int(cart.dropFirst(5)) != nil, "\(cart)")
            let id = try hand.call("\(cart)/add", ["thing": "hat"])
            let call = try store.expectCall("\(cart)/add", ["thing": "hat"], ["from": "Hand"])
            try store.reply(to: call, ["count": 1])
            try hand.expectReply(to: id, body: ["count": 1])
            try bus.module("Hand2").refused("\(cart)/add", with: "unknown-instance")
            try bus.operator().refused("\(cart)/add", with: "unknown-instance")
            try store.refused("\(cart)/add", with: "unknown-instance")
            try store.expectNothing()
        }
    }

    @Test(.promise("6.27")) func eachInstanceHasANameOfItsOwn() throws {
        try run { bus, store, hand in
            let other = try bus.module("Hand2")
            let names = try [create(hand), create(hand), create(other), create(other, "Basket"), create(store)]
            #expect(Set(names.map { $0.drop { $0 != "#" } }).count == 5, "\(names)")
            for (peer, name) in zip([hand, hand, other], names) {
                try peer.call("\(name)/add")
                try store.expectCall("\(name)/add")
            }
        }
    }

    @Test func theRouterSuffixIsTakenOff() throws {
        try run { _, store, hand in
            let cart = try create(hand, "CartRouter")
            #expect(cart.hasPrefix("Cart#"))
            try hand.call("CartROUTER\(cart.dropFirst(4))/add")
            try store.expectCall("\(cart)/add")
            let long = "CartRouter\(cart.dropFirst(4))"
            try hand.asked("bus/release", released(long))
            try store.expectCall("module/released", released(cart))
        }
    }

    @Test(.promise("3.13", "6.29", "12.16")) func whatWasNotCreatedIsUnknown() throws {
        try run { _, store, hand in
            let number = try create(hand).dropFirst(5)
            for to in [
                "Cart/add", "Cart#0/add", "Cart#0\(number)/add", "Cart#99999/add", "Cart#18446744073709551615/add",
                "Cart#99999999999999999999999/add", "Basket#\(number)/add", "Till#\(number)/add", "Till#1/add",
            ] {
                try hand.refused(to, with: "unknown-instance")
            }
            // The list of actions is checked first.
            try hand.refused("Cart#99999/take", with: "unknown-action")
            try store.expectNothing()
        }
    }

    @Test(.promise("6.30")) func ofASingleInterfaceItIsThePlainName() throws {
        try run({ $0.limits.instances = 1 }) { _, store, hand in
            for _ in 0..<3 { #expect(try create(hand, "TillRouter") == "Till") }
            for _ in 0..<2 { #expect(try hand.asked("bus/release", released("Till")) == [:]) }
            try hand.call("Till/open")
            try store.expectCall("Till/open")
            hand.close()
            try store.expect(["kind": "cancel"])
            try store.expectNothing()
        }
    }

    // MARK: endings

    @Test(.promise("6.28", "10.5")) func releaseEndsItAndTellsTheOwner() throws {
        try run { _, store, hand in
            let cart = try create(hand)
            let other = try create(hand)
            #expect(try hand.asked("bus/release", released(cart)) == [:])
            let told = try store.expectCall("module/released", released(cart), ["from": "bus"])
            // Its answer doesn't matter.
            try store.fail(told, "unknown-action")
            try hand.refused("\(cart)/add", with: "unknown-instance")
            try hand.refused("bus/release", released(cart), with: "unknown-instance")
            try hand.call("\(other)/add")
            try store.expectCall("\(other)/add")
            try store.expectNothing()
        }
    }

    /// The owner must free what it keeps for the instance, so ending the call by a deadline isn't
    /// enough.
    @Test func anOwnerThatReadsLateIsStillNotified() throws {
        try run {
            $0.startup = 500
        } _: { _, store, hand in
            let cart = try create(hand)
            try store.settle()
            store.isPaused = true
            // More than a socket takes.
            for _ in 0..<12 { try hand.call("Till/act", .filler(30_000)) }
            try hand.asked("bus/release", released(cart))
            let late = try hand.call("Till/act", nil, ["deadline": 1_000])
            try hand.expectError(to: late, "deadline-exceeded")
            store.isPaused = false
            for _ in 0..<12 { try store.expectCall("Till/act") }
            try store.expectCall("module/released", released(cart))
            try store.expectNothing()
        }
    }

    @Test(.promise("6.28")) func onlyItsCreatorReleasesIt() throws {
        try run { bus, store, hand in
            let cart = try create(hand)
            let other = try bus.module("Hand2")
            for peer in [other, store] { try peer.refused("bus/release", released(cart), with: "unknown-instance") }
            let number = cart.dropFirst(5)
            for name in ["Cart", "Cart#", "Cart#x", "Basket#\(number)", "Nothing", "Nothing#\(number)", "#\(number)"] {
                try hand.refused("bus/release", released(name), with: "unknown-instance")
            }
            for body in [nil, [:], ["instance": 5]] as [JSON?] {
                try hand.refused("bus/release", body, with: "bad-params")
            }
            try store.expectNothing()
            try hand.call("\(cart)/add")
            try store.expectCall("\(cart)/add")
        }
    }

    @Test(.promise("6.28")) func theCreatorsEndReleasesAllThatItCreated() throws {
        try run { bus, store, hand in
            let names = try (0..<4).map { try create(hand, $0 % 2 == 0 ? "Cart" : "Basket") }
            let other = try bus.module("Hand2")
            let kept = try create(other)
            try hand.asked("bus/release", released(names[1]))
            try store.expectCall("module/released", released(names[1]))
            try hand.call("\(names[0])/add")
            let call = try store.expectCall("\(names[0])/add")
            hand.close()
            try store.expect(["kind": "cancel", "id": call.number])
            for index in [0, 2, 3] { try store.expectCall("module/released", released(names[index])) }
            try store.expectNothing()
            // The next module of that name doesn't get the instances.
            try bus.waitUntil("Hand", is: "absent")
            let next = try bus.module("Hand")
            try next.refused("\(names[0])/add", with: "unknown-instance")
            try other.call("\(kept)/add")
            try store.expectCall("\(kept)/add")
        }
    }

    @Test(.promise("5.12", "6.28")) func theOwnersEndEndsThem() throws {
        try run({ $0.limits.instances = 1 }) { bus, store, hand in
            let cart = try create(hand)
            store.close()
            try bus.waitUntil("Store", is: "absent")
            try hand.refused("\(cart)/add", with: "unavailable")
            try hand.refused("bus/create", ["interface": "Cart"], with: "unavailable")
            let next = try bus.module("Store", Self.offer)
            try hand.refused("\(cart)/add", with: "unknown-instance")
            try hand.refused("bus/release", released(cart), with: "unknown-instance")
            // Ended instances no longer count for their creator.
            let other = try create(hand)
            #expect(other != cart)
            hand.close()
            try next.expectCall("module/released", released(other))
            try next.expectNothing()
        }
    }

    @Test func anOwnerIsNotNotifiedOfItsOwnEnd() throws {
        try run { bus, store, hand in
            _ = try create(store)
            store.close()
            try bus.waitUntil("Store", is: "absent")
            try bus.module("Store", Self.offer).expectNothing()
        }
    }

    @Test(.promise("6.29")) func aCallToAnInstanceThatWaitedForItsOwnersNextStartIsUnknown() throws {
        try TestBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let hand = try bus.module("Hand")
            let first = try arrive(bus)
            let cart = try create(hand)
            first.close()
            try bus.waitUntil("Store", is: "absent")
            let id = try hand.call("\(cart)/add")
            try launcher.expectCall("launcher/start", ["module": "Store"])
            let second = try arrive(bus)
            try hand.expectError(to: id, "unknown-instance", ran: "no")
            try second.expectNothing()
        }
    }

    @Test func anInterfaceThatIsRegisteredAnewHasNoneOfItsInstances() throws {
        try run { _, store, hand in
            let basket = try create(hand, "Basket")
            try store.asked("bus/unregister", ["interfaces": ["Basket": [:]]])
            try hand.refused("\(basket)/add", with: "unknown-interface")
            try store.asked("bus/register", ["interfaces": ["Basket": ["instances": "multiple"]]])
            try hand.refused("\(basket)/add", with: "unknown-instance")
            #expect(try create(hand, "Basket") != basket)
        }
    }

    // MARK: limits and refusals

    @Test(.promise("13.5")) func instancesBeyondTheLimitAreOverloaded() throws {
        try run({ $0.limits.instances = 2 }) { bus, store, hand in
            let first = try create(hand)
            _ = try create(hand, "Basket")
            let error = try hand.refused("bus/create", ["interface": "Cart"], with: "overloaded")
            #expect(error.message.contains("Hand") && error.message.contains("limits.instances"))
            _ = try create(try bus.module("Hand2"))
            try hand.asked("bus/release", released(first))
            _ = try create(hand)
            try hand.refused("bus/create", ["interface": "Cart"], with: "overloaded")
        }
    }

    @Test(.promise("5.15")) func aURLCannotLeadToAnInstance() throws {
        let urls: JSON = [["host": "shop", "path": "/", "to": "Cart/add"]]
        let interfaces: JSON = ["Cart": ["instances": "multiple"]]
        try MemoryBus.run(table()) { bus in
            let peer = try bus.connect("Store")
            let id = try peer.sendHello("Store", ["interfaces": interfaces, "urls": urls])
            try peer.expectRefusal(of: id, "bad-params")
            let store = try bus.module("Store", ["interfaces": interfaces])
            try store.refused("bus/register", ["urls": urls], with: "bad-params")
            let other: JSON = [["host": "shop", "path": "/", "to": "Bag/add"]]
            try store.refused(
                "bus/register", ["interfaces": ["Bag": ["instances": "multiple"]], "urls": other], with: "bad-params")
            try store.asked("bus/register", ["interfaces": ["Bag": [:]], "urls": other])
            // Nor can such an interface become multiple.
            try store.refused("bus/register", ["interfaces": ["Bag": ["instances": "multiple"]]], with: "bad-params")
        }
        let mapped = table { $0.modules[0].urls = [.init(host: "shop", path: "/", to: "Cart/add")] }
        try MemoryBus.run(mapped) { bus in
            let peer = try bus.connect("Store")
            try peer.expectRefusal(of: try peer.sendHello("Store", ["interfaces": interfaces]), "bad-params")
        }
    }

    @Test(.promise("10.5")) func whatCannotBeCreatedIsRefused() throws {
        try run { bus, store, hand in
            try hand.refused("bus/create", ["interface": "Nothing"], with: "unknown-interface")
            try hand.refused("bus/create", ["interface": "bus"], with: "unknown-interface")
            for body in [nil, [:], ["interface": 5]] as [JSON?] {
                try hand.refused("bus/create", body, with: "bad-params")
            }
            for peer in [try bus.operator(), try bus.launcher()] {
                try peer.refused("bus/create", ["interface": "Cart"], with: "forbidden")
                try peer.refused("bus/release", released("Cart#1"), with: "forbidden")
            }
            try store.expectNothing()
        }
    }

    @Test(.promise("6.31")) func layeredCallsHoldForCreate() throws {
        try run({ $0.calls = .layered }) { bus, store, hand in
            _ = try create(hand)
            try hand.asked("bus/register", ["interfaces": ["Tray": ["instances": "multiple"], "Plain": [:]]])
            for interface in ["Tray", "Plain"] as [JSON] {
                let error = try store.refused("bus/create", ["interface": interface], with: "level-violation")
                #expect(error.message.contains("basic") && error.message.contains("topout"))
            }
            _ = try create(try bus.module("Hand2"), "Tray")
        }
    }

    @Test(.promise("6.31")) func declaredCallsHoldForCreate() throws {
        let change: (inout AppTable) -> Void = {
            $0.calls = .declared
            $0.modules[1].requires = ["Cart"]
        }
        try run(change) { bus, store, hand in
            _ = try create(hand)
            try hand.refused("bus/create", ["interface": "Basket"], with: "undeclared")
            try bus.module("Hand2").refused("bus/create", ["interface": "Cart"], with: "undeclared")
            _ = try create(store)
        }
    }

    // MARK: waiting for the owner

    @Test(.promise("6.31")) func createWaitsForAnOwnerOnDemand() throws {
        try MemoryBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let hand = try bus.module("Hand")
            let other = try bus.module("Hand2")
            let id = try hand.call("bus/create", ["interface": "Cart"])
            let start = try launcher.expectCall("launcher/start", ["module": "Store"])
            let late = try hand.call("bus/create", ["interface": "Cart"], ["deadline": 30])
            try hand.expectError(to: late, "deadline-exceeded", ran: "no")
            let given = try hand.call("bus/create", ["interface": "Cart"])
            try hand.cancel(given)
            try hand.expectError(to: given, "cancelled", ran: "no")
            try other.call("bus/create", ["interface": "Cart"])
            try other.settle()
            other.close()
            try bus.waitUntil("Hand2", is: "absent")
            let store = try arrive(bus)
            try launcher.reply(to: start)
            let cart = try hand.expectReply(to: id).json["instance"]?.string ?? ""
            try hand.call("\(cart)/add")
            try store.expectCall("\(cart)/add")
            // Nothing was created for the requests that were given up.
            try hand.asked("bus/release", released(cart))
            try store.expectCall("module/released", released(cart))
            try hand.expectNothing()
            try store.expectNothing()
        }
    }

    @Test func createWaitsForAnOwnerThatStarts() throws {
        try MemoryBus.run(table()) { bus in
            let hand = try bus.module("Hand")
            let store = try bus.connect("Store")
            try store.hello("Store", Self.offer)
            let setUp = try store.expectCall("module/setUp")
            let id = try hand.call("bus/create", ["interface": "Cart"])
            try hand.expectNothing()
            store.answersLifecycle = true
            try store.reply(to: setUp)
            let answer = try hand.expectReply(to: id).json
            #expect(answer["instance"]?.string?.hasPrefix("Cart#") == true, "\(answer)")
        }
    }

    @Test(.promise("6.31"), arguments: ["failed start", "launcher's word", "launcher's end"])
    func createIsUnavailableWhereTheOwnerDoesNotCome(why: String) throws {
        try MemoryBus.run(table { $0.modules[0].start = .onDemand }) { bus in
            let launcher = try bus.launcher()
            let hand = try bus.module("Hand")
            let id = try hand.call("bus/create", ["interface": "Cart"])
            let start = try launcher.expectCall("launcher/start")
            switch why {
            case "failed start": try launcher.fail(start, "failed", "no such file")
            case "launcher's word":
                try launcher.asked("bus/moduleState", ["module": "Store", "state": "failed", "reason": "it crashed"])
            default: launcher.close()
            }
            try hand.expectError(to: id, "unavailable", ran: "no")
        }
    }

    /// Section 11: otherwise the start would wait for itself.
    @Test(.promise("11.7")) func createInSetUpCannotWaitForAModuleThatIsNotReady() throws {
        try MemoryBus.run(table()) { bus in
            let store = try bus.connect("Store")
            try store.hello("Store", Self.offer)
            try store.expectCall("module/setUp")
            let hand = try bus.connect("Hand")
            try hand.hello("Hand")
            let setUp = try hand.expectCall("module/setUp")
            let id = try hand.call("bus/create", ["interface": "Cart"], ["parent": setUp.number])
            let error = try hand.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message.contains("setUp"))
        }
    }

    /// A session's registrations end with it, so the next session's are used.
    @Test func aCreateThatWaitsIsAnsweredByTheNextSession() throws {
        let rows = AppTable.testing(.eager("Store"), .manual("Hand", rank: 2))
        try MemoryBus.run(rows) { bus in
            let hand = try bus.module("Hand")
            let token = try bus.vouch(for: "Store")
            let hello = JSON.object([.init("token", .string(token))] + (Self.offer.object ?? []))
            let first = try bus.connect("Store")
            try first.hello("Store", hello)
            try first.expectCall("module/setUp")
            let id = try hand.call("bus/create", ["interface": "Cart"])
            try hand.settle()
            // A restart by hand is no failed start.
            try bus.launcher().call("bus/retire", ["module": "Store"])
            try first.expectCall("module/tearDown")
            first.close()
            let second = try bus.module("Store", hello)
            let name = try hand.expectReply(to: id).json["instance"]?.string ?? "none"
            try hand.call("\(name)/add")
            try second.expectCall("\(name)/add")
        }
    }
}
