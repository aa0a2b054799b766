import StrataCore
import Testing

@testable import Strata

/// The owner's side of interfaces with `instances: multiple`.
@Suite(.timeLimit(.hang))
struct RuntimeInstanceTests {
    private func released(_ name: String) -> JSON { ["instance": .string(name)] }

    @Test func helloSaysThatItHasInstances() async throws {
        try await withModule(CartModule.self) { harness in
            harness.runtime.start()
            let hello = try await harness.broker.peer().welcome()
            let cart = hello.body["interfaces"]?["Cart"]
            #expect(cart?["instances"] == "multiple")
            #expect(
                cart?["actions"]?.object?.map(\.name)
                    == ["add", "clear", "owner", "bytes", "hang", "things", "json"])
            #expect(hello.body["interfaces"]?["Till"]?["instances"] == "single")
            let described = try JSON(parsing: try ModuleRuntime.describe(CartModule.self))
            #expect(described["interfaces"] == hello.body["interfaces"])
        }
    }

    @Test func eachInstanceHasAnObjectOfItsOwnMadeByItsFirstCall() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(harness.module.made.isEmpty)
            #expect(try await peer.call("Cart#12/add", ["thing": "hat"]).body == 1)
            #expect(try await peer.call("Cart#13/add", ["thing": "coat"]).body == 1)
            #expect(try await peer.call("Cart#12/add", ["thing": "scarf"]).body == 2)
            #expect(harness.module.made == ["Cart#12", "Cart#13"])
            #expect(try await peer.call("Cart#12/owner").body == ["Tester", "Tester"])
            #expect(try await peer.call("Cart#12/bytes", "x").body == "x")
            #expect(try await peer.call("Cart#13/clear", [:]).body == [:])
            #expect(try await peer.call("Cart#13/add", ["thing": "coat"]).body == 1)
            #expect(try await peer.call("Cart#12/add", ["ding": 1])["code"] == "bad-params")
        }
    }

    @Test(arguments: ["Cart/add", "Cart#/add", "Cart#0/add", "Cart#x/add", "Cart#12/take", "Till#1/count"])
    func whatNamesNoInstanceIsRefused(to: String) async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let answer = try await harness.peer.call(to, ["thing": "hat"])
            #expect(answer["code"] == "unknown-action")
            #expect(answer["ran"] == "no")
            #expect(harness.module.made.isEmpty)
        }
    }

    @Test(arguments: ["things", "json"])
    func instancesStream(action: String) async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            for thing in ["hat", "coat"] { _ = try await peer.call("Cart#7/add", ["thing": .string(thing)]) }
            let id = peer.send(call: "Cart#7/\(action)", ["endless": false])
            for thing in ["hat", "coat"] {
                let part = try await peer.expect("reply")
                #expect(part["more"] == true)
                #expect(part.body == .string(thing))
            }
            #expect(try await peer.expect("reply").id == .integer(id))
        }
    }

    @Test func aReleasedInstancesObjectIsFreed() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            for number in 1...2 { _ = try await peer.call("Cart#\(number)/add", ["thing": "hat"]) }
            #expect(try await peer.call("module/released", released("Cart#1")).kind == "reply")
            #expect(harness.module.released == ["Cart#1"])
            #expect(harness.module.freed == ["Cart#1"])
            // An instance that was never called, and names that are no instance.
            for name in ["Cart#1", "Cart#9", "Nothing#1", "Cart", ""] {
                #expect(try await peer.call("module/released", released(name)).kind == "reply")
            }
            #expect(harness.module.released == ["Cart#1"])
            #expect(try await peer.call("Cart#2/add", ["thing": "coat"]).body == 2)
        }
    }

    @Test func aReleaseBehindACallFindsItsObject() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            // Both are read together, before any handler runs.
            _ = peer.send(call: "Cart#1/add", ["thing": "hat"])
            _ = peer.send(call: "module/released", released("Cart#1"))
            for _ in 0..<2 { _ = try await peer.expect("reply") }
            #expect(harness.module.released == ["Cart#1"])
            #expect(harness.module.freed == ["Cart#1"])
        }
    }

    @Test func aHandlerKeepsItsObjectAndAFailedReleaseIsTold() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("Cart#1/add", ["thing": "bomb"])
            let hanging = peer.send(call: "Cart#1/hang")
            #expect(try await peer.call("module/released", released("Cart#1"))["code"] == "Store.bomb")
            #expect(harness.module.freed.isEmpty)
            peer.send(["kind": "cancel", "id": .integer(hanging)])
            #expect(try await peer.expect("error")["code"] == "cancelled")
            _ = try await peer.call("Till/count")
            #expect(harness.module.freed == ["Cart#1"])
        }
    }

    @Test func aLostConnectionEndsAllInstances() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.startFully()
            for number in 1...3 { _ = try await harness.peer.call("Cart#\(number)/add", ["thing": "hat"]) }
            harness.peer.close()
            let peer = try await harness.broker.peer()
            try await peer.welcome()
            #expect(try await peer.call("Till/count").body == 3)
            #expect(harness.module.released.sorted() == ["Cart#1", "Cart#2", "Cart#3"])
            #expect(harness.module.freed.sorted() == ["Cart#1", "Cart#2", "Cart#3"])
            // Another broker's numbers may be the same.
            #expect(try await peer.call("Cart#1/add", ["thing": "hat"]).body == 1)
        }
    }

    /// Asks the module for a new instance, as the broker does.
    @ModuleActor
    private func create(_ peer: FakePeer, _ name: String, _ params: JSON = nil, by creator: String = "Tester")
        async throws -> FakeFrame
    {
        let meta: JSON = ["from": .string(creator), "level": "topout"]
        return try await peer.call(
            "module/create", ["instance": .string(name), "params": params], [.init("meta", meta)])
    }

    @Test(.promise("6.36")) func theObjectIsMadeWithTheParamsWhenTheBusAsks() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            #expect(try await create(peer, "Cart#5", ["hat", "coat"], by: "Ann").kind == "reply")
            #expect(harness.module.made == ["Cart#5"])
            #expect(try await peer.call("Cart#5/add", ["thing": "scarf"]).body == 3)
            #expect(try await peer.call("Cart#5/owner").body == ["Ann", "Tester"])
            #expect(harness.module.made == ["Cart#5"])
            // What the owner refuses isn't made.
            #expect(try await create(peer, "Cart#6", 7)["code"] == "bad-params")
            #expect(try await create(peer, "Cart#6", nil, by: "Refused")["code"] == "Store.closed")
            #expect(try await create(peer, "Bag#6")["code"] == "unknown-action")
            #expect(harness.module.made == ["Cart#5"])
            for number in 7...8 { #expect(try await create(peer, "Cart#\(number)").kind == "reply") }
            #expect(try await create(peer, "Cart#9")["code"] == "overloaded")
        }
    }

    @Test func objectsHaveABound() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            for number in 1...3 { _ = try await peer.call("Cart#\(number)/add", ["thing": "hat"]) }
            let refused = try await peer.call("Cart#4/add", ["thing": "hat"])
            #expect(refused["code"] == "overloaded")
            #expect(refused["ran"] == "no")
            _ = try await peer.call("module/released", released("Cart#2"))
            #expect(try await peer.call("Cart#4/add", ["thing": "hat"]).body == 1)
        }
    }

    @Test func anObjectThatCannotBeMadeIsTriedAgain() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let from = JSON.Member("from", "Refused")
            let refused = try await harness.peer.call("Cart#1/add", ["thing": "hat"], [from])
            #expect(refused["code"] == "Store.closed")
            #expect(try await harness.peer.call("Cart#1/add", ["thing": "hat"], [from]).body == 1)
        }
    }
}
