import StrataCore
import StrataTesting
import Testing

/// Instances that a module of one node creates of another node's interface. Index in tokyo owns them; Notes and Desk in
/// berlin create them.
@Suite(.timeLimit(.hang), .enabled(if: !TestBus.isHandedOverEachRound, "a replaced broker loses its nodes"))
struct NodeInstanceTests {
    private static func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .twoNodes {
            // No URL can lead to an interface with instances.
            for place in $0.modules.indices { $0.modules[place].urls = [] }
            $0.modules.append(.manual("Desk", rank: 2) { $0.placement = .on(["berlin"]) })
            $0.modules.append(.manual("Shelf", rank: 2) { $0.placement = .on(["tokyo"]) })
            change(&$0)
        }
    }

    private static let offer: JSON = ["interfaces": ["Index": ["instances": "multiple"]]]

    /// Runs a test in which tokyo has an instance of its own already, so that the nodes' numbers differ.
    private func run(
        _ change: (inout AppTable) -> Void = { _ in }, isJoined: Bool = true,
        _ test: (TestNodes, _ notes: RawPeer, _ index: RawPeer) throws -> Void
    ) throws {
        try TestNodes.run(Self.table(change), isJoined: isJoined) { nodes in
            let index = try nodes.tokyo.module("Index", Self.offer)
            index.answersLifecycle = false
            let shelf = try nodes.tokyo.module("Shelf")
            let id = try create(shelf)
            try index.reply(to: try index.expectCall("module/create"))
            try shelf.expectReply(to: id, body: ["instance": "Index#1"])
            try test(nodes, try nodes.berlin.module("Notes"), index)
        }
    }

    private func create(_ peer: RawPeer, _ params: JSON = .null, _ members: JSON = [:]) throws -> UInt64 {
        try peer.call("bus/create", ["interface": "Index", "params": params], members)
    }

    /// Creates an instance, and returns its name for the creator and for the owner.
    private func created(by peer: RawPeer, _ index: RawPeer) throws -> (creators: String, owners: String) {
        let id = try create(peer)
        let question = try index.expectCall("module/create")
        try index.reply(to: question)
        let name = try peer.expectReply(to: id).json["instance"]?.string
        return (try #require(name), try #require(question.json["instance"]?.string))
    }

    @Test(.promise("N.41")) func itIsCreatedUsedAndReleased() throws {
        try run { nodes, notes, index in
            let id = try create(notes, ["for": "Ada"])
            let question = try index.expectCall("module/create", ["instance": "Index#2", "params": ["for": "Ada"]])
            #expect(question.from == "bus")
            #expect(question.header["meta"] == ["from": "Notes", "level": "topout", "node": "berlin"])
            try notes.expectNothing()
            try index.reply(to: question)
            try notes.expectReply(to: id, body: ["instance": "Index#1"])

            let call = try notes.call("Index#1/add", ["n": 1])
            let asked = try index.expectCall("Index#2/add", ["n": 1], ["from": "Notes", "node": "berlin"])
            try index.reply(to: asked, ["n": 2])
            try notes.expectReply(to: call, body: ["n": 2])
            try notes.call("Index#1@tokyo/add")
            try index.reply(to: try index.expectCall("Index#2/add"))

            try notes.asked("bus/release", ["instance": "Index#1"])
            try index.expectCall("module/released", ["instance": "Index#2"])
            try notes.refused("Index#1/add", with: "unknown-instance", ran: "no")
        }
    }

    @Test(.promise("N.41")) func itIsItsCreatorsAlone() throws {
        try run { nodes, notes, index in
            #expect(try created(by: notes, index) == ("Index#1", "Index#2"))
            let desk = try nodes.berlin.module("Desk")
            for name in ["Index#1", "Index#2", "Index#9"] {
                try desk.refused("\(name)/add", with: "unknown-instance", ran: "no")
            }
            try desk.refused("bus/release", ["instance": "Index#1"], with: "unknown-instance", ran: "no")
            // Tokyo has an instance of that number, and berlin none.
            try notes.refused("Index#2/add", with: "unknown-instance", ran: "no")
            try notes.refused("Index/add", with: "unknown-instance", ran: "no")
            try index.expectNothing()
        }
    }

    @Test(.promise("N.41")) func aSingleInterfaceHasNoNumber() throws {
        try TestNodes.run(Self.table()) { nodes in
            let index = try nodes.tokyo.provider("Index", "Index")
            let notes = try nodes.berlin.module("Notes")
            #expect(try notes.asked("bus/create", ["interface": "Index"]) == ["instance": "Index"])
            try notes.call("Index/add")
            try index.expectCall("Index/add")
        }
    }

    @Test(.promise("N.41")) func theOwnerMayRefuse() throws {
        try run { _, notes, index in
            let id = try create(notes)
            try index.fail(try index.expectCall("module/create"), "Index.full")
            try notes.expectError(to: id, "Index.full")
            #expect(try created(by: notes, index).creators == "Index#2")
        }
    }

    @Test(.promise("N.42")) func itEndsWithItsCreator() throws {
        try run { _, notes, index in
            let names = try (0..<3).map { _ in try created(by: notes, index).owners }
            notes.close()
            let released = try names.map { _ in try index.expectCall("module/released").json["instance"]?.string }
            #expect(released == names)
        }
    }

    @Test(.promise("N.42")) func itEndsWithItsOwner() throws {
        try run { nodes, notes, index in
            notes.answersLifecycle = false
            let names = try (0..<3).map { _ in try created(by: notes, index).creators }
            index.close()
            let ended = try names.map { _ in try notes.expectCall("module/instanceEnded").json["instance"]?.string }
            #expect(ended == names)
            try notes.refused("\(names[0])/add", with: "unknown-instance", ran: "no")
        }
    }

    @Test(.promise("N.42")) func itEndsWithTheNode() throws {
        try run { nodes, notes, index in
            notes.answersLifecycle = false
            let (creators, owners) = try created(by: notes, index)
            for line in nodes.lines { line.close() }
            try notes.expectCall("module/instanceEnded", ["instance": .string(creators)])
            try index.expectCall("module/released", ["instance": .string(owners)])
            try TestNodes.wait(for: "lost", of: "tokyo", on: nodes.berlin)
            try TestNodes.wait(for: "lost", of: "berlin", on: nodes.tokyo)
            try nodes.join()
            let (next, _) = try created(by: notes, index)
            #expect(next != creators)
            try notes.refused("\(creators)/add", with: "unknown-instance", ran: "no")
        }
    }

    @Test(.promise("N.42")) func aCancelTakesItBack() throws {
        try run { _, notes, index in
            let id = try create(notes)
            let question = try index.expectCall("module/create")
            try notes.cancel(id)
            try notes.expectError(to: id, "cancelled", ran: "maybe")
            try index.expect(["kind": "cancel", "id": .integer(Int64(question.id))])
            try index.expectCall("module/released", ["instance": question.json["instance"] ?? .null])
        }
    }

    @Test(.promise("N.42")) func aCancelThatCrossesTheConsentTakesItBack() throws {
        try run { nodes, notes, index in
            let id = try create(notes)
            let question = try index.expectCall("module/create")
            nodes.holdTokyo()
            try index.reply(to: question)
            try index.settle()
            try notes.cancel(id)
            try notes.expectError(to: id, "cancelled", ran: "maybe")
            try index.expectCall("module/released", ["instance": question.json["instance"] ?? .null])
        }
    }

    @Test(.promise("N.42")) func theDeadlineTakesItBack() throws {
        try run { _, notes, index in
            let id = try create(notes, .null, ["deadline": 50])
            let question = try index.expectCall("module/create")
            try notes.expectError(to: id, "deadline-exceeded", ran: "maybe")
            try index.expect(["kind": "cancel", "id": .integer(Int64(question.id))])
            try index.expectCall("module/released", ["instance": question.json["instance"] ?? .null])
        }
    }

    @Test(.promise("N.41")) func itWaitsForTheNodeAndForTheOwner() throws {
        try TestNodes.run(Self.table { $0.join = 600_000 }, isJoined: false) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let (one, two) = (try create(notes, 1), try create(notes, 2))
            try notes.expectNothing()
            let index = try nodes.tokyo.module("Index", Self.offer)
            index.answersLifecycle = false
            try nodes.join()
            for (id, number) in [(one, 1), (two, 2)] as [(UInt64, JSON)] {
                let question = try index.expectCall("module/create")
                #expect(question.json["params"] == number)
                try index.reply(to: question)
                try notes.expectReply(to: id)
            }
        }
    }

    @Test(.promise("N.41")) func itIsUnavailableWithoutTheNode() throws {
        try TestNodes.run(Self.table(), isJoined: false) { nodes in
            let notes = try nodes.berlin.module("Notes")
            let refused = try notes.refused("bus/create", ["interface": "Index"], with: "unavailable", ran: "no")
            #expect(refused.message.contains("tokyo"))
        }
    }

    @Test(.promise("N.42")) func itCountsForItsCreator() throws {
        try run({ $0.limits.instances = 2 }) { _, notes, index in
            for _ in 1...2 { _ = try created(by: notes, index) }
            try notes.refused("bus/create", ["interface": "Index"], with: "overloaded", ran: "no")
            try notes.asked("bus/release", ["instance": "Index#1"])
            try index.expectCall("module/released")
            _ = try created(by: notes, index)
        }
    }

    // MARK: A node that lies. Here the test speaks as tokyo's broker, and Storage in berlin is the owner.

    private func asTokyo(_ test: (TestBus, RawPeer, _ store: RawPeer) throws -> Void) throws {
        try BusTests.asTokyo(Self.table()) { bus, line in
            let store = try bus.module("Storage", ["interfaces": ["Storage": ["instances": "multiple"]]])
            store.answersLifecycle = false
            try test(bus, line, store)
        }
    }

    private func create(_ line: RawPeer, _ instance: JSON, id: UInt64) throws {
        try line.call("bus/create", ["interface": "Storage", "instance": instance], ["from": "Index"], id: id)
    }

    @Test(.promise("N.43")) func itsNumbersMeanItsOwnInstancesAlone() throws {
        try asTokyo { bus, line, store in
            let notes = try bus.module("Notes")
            let own = try notes.call("bus/create", ["interface": "Storage"])
            try store.reply(to: try store.expectCall("module/create", ["instance": "Storage#1", "params": .null]))
            try notes.expectReply(to: own, body: ["instance": "Storage#1"])
            try create(line, 7, id: 1)
            try store.reply(to: try store.expectCall("module/create", ["instance": "Storage#2", "params": .null]))
            try line.expectReply(to: 1, body: ["instance": "Storage#2"])
            for (place, number) in ["1", "2", "8", "0", "07"].enumerated() {
                let id = UInt64(place + 10)
                try line.call("Storage#\(number)/get", nil, ["from": "Index"], id: id)
                try line.expectError(to: id, "unknown-instance", ran: "no")
            }
            // Another row of the node isn't its creator.
            try line.call("Storage#7/get", nil, ["from": "Shelf"], id: 20)
            try line.expectError(to: 20, "unknown-instance", ran: "no")
            // What it says to have released or to have ended is not of its creators and owners.
            try line.send(["kind": "node"], body: ["released": [1, 2, 9], "ended": [1, 2, 7, 9]])
            try line.call("Storage#7/get", nil, ["from": "Index"], id: 21)
            try store.reply(to: try store.expectCall("Storage#2/get"))
            try line.expectReply(to: 21)
            try notes.call("Storage#1/get")
            try store.expectCall("Storage#1/get")
            try line.send(["kind": "node"], body: ["released": [7]])
            try store.expectCall("module/released", ["instance": "Storage#2"])
        }
    }

    @Test(.promise("N.43"), arguments: [nil, 0, -1, 7, "x", 1.5] as [JSON?])
    func aNumberMustBeNew(_ number: JSON?) throws {
        try asTokyo { bus, line, store in
            try create(line, 7, id: 1)
            let question = try store.expectCall("module/create")
            try create(line, number ?? .null, id: 2)
            try line.expectError(to: 2, "bad-params", ran: "no")
            try store.reply(to: question)
            try line.expectReply(to: 1)
        }
    }

    @Test(.promise("N.43")) func theEndOfAnInstanceTakesAwayNoNewersNumber() throws {
        let table = Self.table { $0.modules[0].start = .onDemand }
        try BusTests.asTokyo(table) { bus, line in
            let launcher = try bus.launcher()
            // Both wait for the owner, so neither number is taken yet.
            for id in 1...2 as ClosedRange<UInt64> { try create(line, 7, id: id) }
            try launcher.reply(to: try launcher.expectCall("launcher/start"))
            let token = try bus.vouch(for: "Storage")
            let store = try bus.connect("Storage")
            try store.hello(
                "Storage", ["token": .string(token), "interfaces": ["Storage": ["instances": "multiple"]]])
            for step in ["setUp", "initialize"] { try store.reply(to: try store.expectCall("module/\(step)")) }
            let questions = try (0..<2).map { _ in try store.find(["kind": "call", "to": "module/create"]) }
            try store.fail(questions[0], "Storage.full")
            try line.expectError(to: 1, "Storage.full")
            try store.reply(to: questions[1])
            try line.expectReply(to: 2)
            try line.call("Storage#7/get", nil, ["from": "Index"], id: 3)
            try store.find(["kind": "call", "to": "Storage#2/get"])
        }
    }

    @Test(.promise("N.43"), arguments: [#"{"released":7}"#, #"{"ended":[-1]}"#, #"{"ended":["a"]}"#])
    func aListThatIsNoneEndsTheConnection(_ body: String) throws {
        try asTokyo { bus, line, _ in
            try line.send(header: #"{"kind":"node"}"#, body: body)
            try TestNodes.wait(for: "lost", of: "tokyo", on: bus)
        }
    }

    @Test(.promise("N.43")) func itsInstancesAreLimited() throws {
        try BusTests.asTokyo(Self.table { $0.limits.instances = 1 }) { bus, line in
            let store = try bus.module("Storage", ["interfaces": ["Storage": ["instances": "multiple"]]])
            store.answersLifecycle = false
            try create(line, 1, id: 1)
            try store.reply(to: try store.expectCall("module/create"))
            try line.expectReply(to: 1)
            try create(line, 2, id: 2)
            try line.expectError(to: 2, "overloaded", ran: "no")
        }
    }
}
