import StrataCore
import Testing

@testable import Strata

/// The user's side of interfaces with `instances: multiple`.
@Suite(.timeLimit(.hang))
struct RuntimeInstanceUserTests {
    /// Creates an instance to which the fake broker gives this name.
    @ModuleActor
    private func create(_ harness: Harness<PlayerModule>, _ name: String) async throws -> Instance {
        let bus = Bus(harness.runtime)
        let creating = Task { @ModuleActor in try await bus.create(Cart.self) }
        let create = try await harness.peer.expect("call")
        #expect(create["to"] == "bus/create")
        #expect(create.body == ["interface": "Cart"])
        harness.peer.reply(create, ["instance": .string(name)])
        return try await creating.value
    }

    /// Returns the next frame, which must release the instance.
    @ModuleActor
    private func expectRelease(_ harness: Harness<PlayerModule>, _ name: String) async throws -> FakeFrame {
        let release = try await harness.peer.expect("call")
        #expect(release["to"] == "bus/release")
        #expect(release.body == ["instance": .string(name)])
        return release
    }

    @Test func itsCallsGoToTheInstance() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let cart = try await create(harness, "Cart#12")
            #expect(cart.name == "Cart#12")
            let typed = Task { @ModuleActor in
                try await cart.call(Cart.Add(thing: "hat"), deadline: .seconds(2), meta: ["a": 1])
            }
            let add = try await peer.expect("call")
            #expect(add["to"] == "Cart#12/add")
            #expect(add["deadline"] == 2_000)
            #expect(add["meta"] == ["a": 1])
            #expect(add.body == ["thing": "hat"])
            peer.reply(add, 3)
            #expect(try await typed.value == 3)
            let untyped = Task { @ModuleActor in try await cart.call("owner", [1], auth: .skip) }
            let owner = try await peer.expect("call")
            #expect(owner["to"] == "Cart#12/owner")
            #expect(owner["auth"] == "skip")
            #expect(owner.body == [1])
            peer.reply(owner, "me")
            #expect(try await untyped.value == "me")
            let other = await #expect(throws: BusError.self) { try await cart.call(Player.Stop()) }
            #expect(other?.code == .unknownAction)
        }
    }

    struct Wish: Codable, Equatable { var hats: Int }

    @Test(.promise("6.36")) func itsParamsGoToTheBus() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            let typed = Task { @ModuleActor in try await bus.create(Cart.self, Wish(hats: 2)) }
            let first = try await harness.peer.expect("call")
            #expect(first.body == ["interface": "Cart", "params": ["hats": 2]])
            harness.peer.reply(first, ["instance": "Cart#1"])
            let untyped = Task { @ModuleActor in try await bus.create("Cart", [1], deadline: .seconds(2)) }
            let second = try await harness.peer.expect("call")
            #expect(second.body == ["interface": "Cart", "params": [1]] && second["deadline"] == 2_000)
            harness.peer.reply(second, ["instance": "Cart#2"])
            _ = (try await typed.value, try await untyped.value)
        }
    }

    @Test(.promise("6.38")) func itsEndWithItsOwnerIsNoticed() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let (cart, other) = (try await create(harness, "Cart#12"), try await create(harness, "Cart#13"))
            let waiting = Task { @ModuleActor in await cart.ended() }
            let lost = Task { @ModuleActor in await other.ended() }
            let told = try await harness.peer.call("module/instanceEnded", ["instance": "Cart#12"])
            #expect(told.kind == "reply")
            await waiting.value
            let error = await #expect(throws: BusError.self) { try await cart.call(Cart.Add(thing: "hat")) }
            #expect(error?.code == .unknownInstance && error?.message.contains("owner") == true)
            await cart.ended()
            harness.peer.close()
            await lost.value
        }
    }

    @Test func itIsReleasedWithItsLastReference() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            do { _ = try await create(harness, "Cart#1") }
            harness.peer.reply(try await expectRelease(harness, "Cart#1"))
            // It is not released again.
            _ = try await harness.peer.call("Player/echo", 1)
        }
    }

    @Test func aStreamKeepsItsInstance() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            var stream: ReplyStream<String>? = try await create(harness, "Cart#5").stream(Cart.Things())
            let things = try await peer.expect("call")
            #expect(things["to"] == "Cart#5/things")
            _ = try await peer.call("Player/echo", 1)
            peer.send(["kind": "reply", "id": things.id, "more": true], "hat")
            peer.reply(things)
            var seen: [String] = []
            for try await thing in stream! { seen.append(thing) }  // because it was just made
            #expect(seen == ["hat"])
            stream = nil
            _ = try await expectRelease(harness, "Cart#5")
        }
    }

    @Test func afterItsReleaseCallsFailHere() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let cart = try await create(harness, "Cart#1")
            let releasing = Task { @ModuleActor in try await cart.release() }
            harness.peer.reply(try await expectRelease(harness, "Cart#1"))
            try await releasing.value
            try await cart.release()
            let error = await #expect(throws: BusError.self) { try await cart.call(Cart.Clear()) }
            #expect(error?.code == .unknownInstance)
            #expect(error?.ran == BusError.Ran.no)
            #expect(error?.message.contains("Cart#1 has been released") == true)
            #expect(throws: BusError.self) { try cart.stream("things") }
            _ = try await harness.peer.call("Player/echo", 1)
        }
    }

    @Test func aRefusedReleaseCanBeTriedAgain() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let cart = try await create(harness, "Cart#1")
            let refused = Task { @ModuleActor in try await cart.release() }
            harness.peer.fail(try await expectRelease(harness, "Cart#1"), "overloaded")
            await #expect(throws: BusError.self) { try await refused.value }
            let ended = Task { @ModuleActor in try await cart.release() }
            harness.peer.fail(try await expectRelease(harness, "Cart#1"), "unknown-instance")
            try await ended.value
        }
    }

    @Test func itEndsWithTheConnection() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            var cart: Instance? = try await create(harness, "Cart#1")
            harness.peer.close()
            let peer = try await harness.broker.peer()
            // Before there is another connection, and after.
            for _ in 0..<2 {
                let error = await #expect(throws: BusError.self) { try await cart?.call(Cart.Clear()) }
                #expect(error?.code == .unknownInstance)
                #expect(error?.message.contains("ended when this module lost") == true)
                if harness.runtime.connection.session == nil {
                    try await peer.welcome()
                    _ = try await peer.call("Player/echo", 1)
                }
            }
            try await cart?.release()
            cart = nil
            _ = try await peer.call("Player/echo", 2)
        }
    }

    @Test func ofASingleInterfaceItIsThePlainName() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            var cart: Instance? = try await create(harness, "Cart")
            try await cart?.release()
            harness.peer.close()
            let peer = try await harness.broker.peer()
            try await peer.welcome()
            let calling = Task { @ModuleActor [cart] in try await cart?.call(Cart.Add(thing: "hat")) }
            let add = try await peer.expect("call")
            #expect(add["to"] == "Cart/add")
            peer.reply(add, 1)
            #expect(try await calling.value == 1)
            cart = nil
            _ = try await peer.call("Player/echo", 2)
        }
    }

    @Test func behindAnAdapterItTakesTheNameThatWasAskedFor() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            // Created as Cart, and provided as Basket.
            let cart = try await create(harness, "Basket#4")
            let calling = Task { @ModuleActor in try await cart.call(Cart.Add(thing: "hat")) }
            let add = try await harness.peer.expect("call")
            #expect(add["to"] == "Basket#4/add")
            harness.peer.reply(add, 1)
            _ = try await calling.value
        }
    }

    @Test func releasesOfManyTakeOneRequestAtATime() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            var carts: [Instance] = []
            for number in 1...3 { carts.append(try await create(harness, "Cart#\(number)")) }
            // hello announced a limit of 64.
            let calls = (0..<64).map { _ in Task { @ModuleActor in try await bus.call("Slow/work") } }
            var open: [FakeFrame] = []
            for _ in calls { open.append(try await harness.peer.expect("call")) }
            carts = []
            // There is no room for a release until a request ends.
            #expect(harness.runtime.releases.count == 3)
            harness.peer.reply(open[0])
            _ = try await calls[0].value
            let creating = Task { @ModuleActor in try? await bus.create(Cart.self) }
            var names: Set<String> = []
            while names.count < 3 {
                let frame = try await harness.peer.expect("call")
                if frame["to"] == "bus/release" { names.insert(frame.body["instance"]?.string ?? "") }
                harness.peer.reply(frame, ["instance": "Cart"])
            }
            #expect(names == ["Cart#1", "Cart#2", "Cart#3"])
            _ = await creating.value
        }
    }
}
