import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: an owner's consent to a new instance, and the end of an instance with
/// its owner.
@Suite(.timeLimit(.hang))
struct CreationTests {
    private static let offer: JSON = ["interfaces": ["Cart": ["instances": "multiple"], "Till": [:]]]

    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .manual("Store", provides: ["Cart"]), .manual("Hand", rank: 2), .manual("Hand2", rank: 2), with: change)
    }

    private func run(
        _ change: (inout AppTable) -> Void = { _ in }, _ test: (TestBus, RawPeer, RawPeer) throws -> Void
    ) throws {
        try MemoryBus.run(table(change)) { try test($0, try store($0), try $0.module("Hand")) }
    }

    /// Connects an owner that leaves `module/create` to the test.
    private func store(_ bus: TestBus) throws -> RawPeer {
        let store = try bus.module("Store", Self.offer)
        store.answersLifecycle = false
        return store
    }

    private func create(_ peer: RawPeer, _ params: JSON? = nil, _ members: JSON = [:]) throws -> UInt64 {
        let params = params.map { [JSON.Member("params", $0)] } ?? []
        return try peer.call("bus/create", .object([.init("interface", "Cart")] + params), members)
    }

    /// Takes `module/create`, and returns it with the instance's name.
    private func asked(_ store: RawPeer) throws -> (ReceivedFrame, String) {
        let call = try store.expectCall("module/create")
        return (call, call.json["instance"]?.string ?? "none")
    }

    private func instances(of name: JSON, _ bus: TestBus) throws -> JSON? {
        let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
        return rows.first { $0["name"] == name }?["usage"]?["instances"]
    }

    // MARK: consent

    @Test(.promise("6.36")) func theOwnerGetsTheParamsAsTheyWereWritten() throws {
        try run { _, store, hand in
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            try hand.send(
                header: #"{"kind":"call","id":7,"to":"bus/create","deadline":5000,"trace":"\#(trace)"}"#,
                body: #"{"params" : { "n": 1.50, "s":"\u0041"} , "interface":"Cart"}"#)
            let (call, name) = try asked(store)
            #expect(
                String(decoding: call.body, as: UTF8.self)
                    == #"{"instance":"\#(name)","params":{ "n": 1.50, "s":"\u0041"}}"#)
            #expect(call.from == "bus" && call.header["trace"]?.string == trace)
            #expect(call.header["meta"] == ["from": "Hand", "level": "topout"])
            #expect((1...5_000).contains(call.header["deadline"]?.integer ?? 0))
            try hand.expectNothing()
            try store.reply(to: call)
            try hand.expectReply(to: 7, body: ["instance": .string(name)])
            try hand.call("\(name)/add")
            try store.expectCall("\(name)/add")
        }
    }

    @Test(.promise("6.36")) func missingParamsAreNullAndAnUnknownActionConsents() throws {
        try run { _, store, hand in
            let id = try create(hand)
            let (call, name) = try asked(store)
            #expect(call.json["params"] == .null)
            try store.fail(call, "unknown-action")
            try hand.expectReply(to: id, body: ["instance": .string(name)])
        }
    }

    @Test(.promise("6.36"), arguments: ["Cart.full", "overloaded", "died"])
    func anErrorRefuses(code: String) throws {
        try run { bus, store, hand in
            let id = try create(hand, ["hats": 9])
            let (call, name) = try asked(store)
            try store.send(
                header: #"{"kind":"error","id":\#(call.id),"code":"\#(code)","message":"no room"}"#,
                body: #"{"most":3}"#)
            let error = try hand.expectError(to: id, code == "died" ? "failed" : code)
            #expect(error.message == "no room" && error.json == ["most": 3])
            #expect(error.ran == (code == "overloaded" ? "no" : "yes"))
            try hand.refused("\(name)/add", with: "unknown-instance")
            #expect(try instances(of: "Hand", bus) == 0)
            try store.expectNothing()
            _ = try create(hand)
            #expect(try asked(store).1 != name)
        }
    }

    @Test(.promise("6.36")) func anInstanceIsNobodysBeforeItsOwnerHasConsented() throws {
        try run { bus, store, hand in
            _ = try create(hand)
            let (call, name) = try asked(store)
            try hand.refused("\(name)/add", with: "unknown-instance")
            try hand.refused("bus/release", ["instance": .string(name)], with: "unknown-instance")
            #expect(try instances(of: "Hand", bus) == 1)
            try store.reply(to: call)
            try store.expectNothing()
        }
    }

    @Test(.promise("13.5")) func instancesThatAreBeingCreatedCount() throws {
        try run({ $0.limits.instances = 1 }) { _, store, hand in
            let id = try create(hand)
            try hand.refused("bus/create", ["interface": "Cart"], with: "overloaded")
            let call = try asked(store).0
            try store.fail(call, "Cart.no")
            try hand.expectError(to: id, "Cart.no")
            _ = try create(hand)
            _ = try asked(store)
        }
    }

    @Test(.promise("6.30", "6.36")) func nobodyIsAskedAboutASingleInterface() throws {
        try run { _, store, hand in
            #expect(try hand.asked("bus/create", ["interface": "Till", "params": 5]) == ["instance": "Till"])
            try store.expectNothing()
        }
    }

    @Test(.promise("6.36")) func throughAnAdapterTheOwnerIsAskedUnderItsOwnNames() throws {
        try run({
            $0.adapters = [.init(name: "Bag", to: "Cart")]
        }) { _, store, hand in
            let id = try hand.call("bus/create", ["interface": "Bag", "params": 1])
            let (call, name) = try asked(store)
            #expect(name.hasPrefix("Cart#") && call.json["params"] == 1)
            try store.reply(to: call)
            try hand.expectReply(to: id, body: ["instance": .string(name)])
        }
    }

    // MARK: a request that ends first

    /// The ways in which the creator's request ends before the owner has answered.
    enum End: CaseIterable { case deadline, cancel, close }

    @Test(.promise("6.37"), arguments: End.allCases)
    func theOwnerIsNotifiedIfItMayHaveMadeIt(end: End) throws {
        try run { bus, store, hand in
            let id = try create(hand, 1, end == .deadline ? ["deadline": 20] : [:])
            let (call, name) = try asked(store)
            switch end {
            case .deadline:
                #expect(try hand.expectError(to: id, "deadline-exceeded", ran: "maybe").message.contains("Store"))
            case .cancel:
                try hand.cancel(id)
                try hand.expectError(to: id, "cancelled", ran: "maybe")
            case .close: hand.close()
            }
            try store.expect(["kind": "cancel", "id": call.number])
            try store.expectCall("module/released", ["instance": .string(name)])
            // What it still answers is dropped.
            try store.reply(to: call)
            try store.settle()
            try store.expectNothing()
            if end != .close { #expect(try instances(of: "Hand", bus) == 0) }
        }
    }

    @Test(.promise("6.37")) func aQuestionThatWasNotWrittenIsTakenBack() throws {
        try run { _, store, hand in
            store.isPaused = true
            // More than a socket takes.
            for _ in 0..<12 { try hand.call("Till/act", .filler(30_000)) }
            let late = try create(hand, 1, ["deadline": 20])
            try hand.expectError(to: late, "deadline-exceeded", ran: "no")
            let given = try create(hand)
            try hand.cancel(given)
            try hand.expectError(to: given, "cancelled", ran: "no")
            store.isPaused = false
            for _ in 0..<12 { try store.expectCall("Till/act") }
            try store.expectNothing()
        }
    }

    @Test(.promise("6.37")) func theOwnersEndEndsTheRequest() throws {
        try run { bus, store, hand in
            let id = try create(hand)
            _ = try asked(store)
            store.close()
            try hand.expectError(to: id, "died", ran: "maybe")
            #expect(try instances(of: "Hand", bus) == 0)
            try hand.expectNothing()
        }
    }

    @Test func aCreatorWithManyOpenRequestsThatEndsLeavesNothing() throws {
        try run { _, store, hand in
            for _ in 0..<200 { _ = try create(hand) }
            let questions = try (0..<200).map { _ in try asked(store) }
            hand.close()
            var released: Set<String> = []
            for _ in questions {
                try store.expect(["kind": "cancel"])
                released.insert(try store.expectCall("module/released").json["instance"]?.string ?? "")
            }
            #expect(released == Set(questions.map(\.1)))
            for (call, _) in questions { try store.reply(to: call) }
            try store.expectNothing()
        }
    }

    // MARK: waiting, and the next program

    @Test(.promise("6.31", "6.36")) func paramsWaitWithTheirRequest() throws {
        let table = table {
            $0.modules[0].start = .onDemand
            $0.limits.held = 1_000
        }
        try MemoryBus.run(table) { bus in
            let launcher = try bus.launcher()
            let hand = try bus.module("Hand")
            let id = try create(hand, ["hats": .filler(600)])
            try launcher.expectCall("launcher/start")
            #expect(
                try hand.refused("bus/create", ["interface": "Cart", "params": .filler(600)], with: "overloaded")
                    .message.contains("limits.held"))
            let token = try bus.vouch(for: "Store")
            let store = try bus.connect("Store")
            try store.hello("Store", .object([.init("token", .string(token))] + (Self.offer.object ?? [])))
            for step in ["setUp", "initialize", "didStart"] {
                try store.reply(to: try store.expectCall("module/\(step)"))
                if step == "initialize" {
                    let (call, name) = try asked(store)
                    #expect(call.json["params"]?["hats"] == .filler(600))
                    try store.reply(to: call)
                    try hand.expectReply(to: id, body: ["instance": .string(name)])
                }
            }
        }
    }

    @Test(.promise("6.36", "10.32")) func theNextProgramContinues() throws {
        try TestBus.run(table(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let (store, hand) = (try store(bus), try bus.module("Hand"))
            let ids = [try create(hand), try create(hand), try create(hand)]
            let questions = try ids.map { _ in try asked(store) }
            try bus.operator().asked("bus/handOver")
            #expect(try instances(of: "Hand", bus) == 3)
            try hand.refused("\(questions[0].1)/add", with: "unknown-instance")
            try store.reply(to: questions[0].0)
            try hand.expectReply(to: ids[0], body: ["instance": .string(questions[0].1)])
            try store.fail(questions[1].0, "Cart.no")
            try hand.expectError(to: ids[1], "Cart.no")
            try hand.cancel(ids[2])
            try hand.expectError(to: ids[2], "cancelled", ran: "maybe")
            try store.expect(["kind": "cancel"])
            try store.expectCall("module/released", ["instance": .string(questions[2].1)])
            store.close()
            try hand.expectCall("module/instanceEnded", ["instance": .string(questions[0].1)])
        }
    }

    // MARK: the end of an instance with its owner

    @Test(.promise("6.38")) func theCreatorIsNotifiedWhenAnInstanceEndsWithItsOwner() throws {
        try run { bus, store, hand in
            store.answersLifecycle = true
            let other = try bus.module("Hand2")
            func made(_ peer: RawPeer) throws -> JSON {
                try peer.asked("bus/create", ["interface": "Cart"])["instance"] ?? .null
            }
            let names = [try made(hand), try made(hand), try made(other), try made(hand), try made(store)]
            try hand.asked("bus/release", ["instance": names[1]])
            store.close()
            for name in [names[0], names[3]] {
                let told = try hand.expectCall("module/instanceEnded", ["instance": name], ["from": "bus"])
                // Its answer doesn't matter.
                try hand.fail(told, "unknown-action")
            }
            try other.expectCall("module/instanceEnded", ["instance": names[2]])
            for peer in [hand, other] { try peer.expectNothing() }
        }
    }

    @Test(.promise("6.38")) func aCreatorThatAnswersNothingGetsNoMoreInstances() throws {
        try run({ $0.limits.calls = 2 }) { bus, store, hand in
            store.answersLifecycle = true
            for _ in 0..<2 { _ = try hand.asked("bus/create", ["interface": "Cart"]) }
            store.close()
            let told = try (0..<2).map { _ in try hand.expectCall("module/instanceEnded") }
            _ = try bus.module("Store", Self.offer)
            let error = try hand.refused("bus/create", ["interface": "Cart"], with: "overloaded")
            #expect(error.message.contains("module/instanceEnded"))
            try hand.reply(to: told[0])
            _ = try hand.asked("bus/create", ["interface": "Cart"])
        }
    }

    @Test(.promise("6.38")) func aCreatorWithoutRoomIsDisconnected() throws {
        try run({
            $0.limits.queue = 64 << 10
            $0.limits.instances = 100
        }) { bus, store, hand in
            store.answersLifecycle = true
            try hand.asked("bus/register", ["interfaces": ["Sink": [:]]])
            for _ in 0..<100 { _ = try hand.asked("bus/create", ["interface": "Cart"]) }
            hand.isPaused = true
            let other = try bus.module("Hand2")
            // More than a socket takes, and then nearly all of the queue.
            for _ in 0..<40 { try other.call("Sink/take", .filler(30_000)) }
            try other.settle()
            for _ in 0..<20 { try other.call("Sink/take", .filler(3_000)) }
            try other.settle()
            store.close()
            try bus.waitUntil("Hand", is: "absent")
            hand.isPaused = false
            try hand.expectEnd("slow-consumer")
        }
    }
}
