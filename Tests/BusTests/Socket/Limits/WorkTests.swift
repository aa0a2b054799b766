import StrataCore
import StrataLoop
import StrataTesting
import Testing

@testable import StrataBus

/// The cost of one frame or one session for the bus. The work has a bound, or is done in batches,
/// however much other peers have registered.
@Suite(.timeLimit(.hang))
struct WorkTests {
    /// Interfaces with long names, which have actions with long names.
    private static func interfaces(_ count: Int, actions: Int) -> JSON {
        func name(_ start: String, _ number: Int) -> String {
            start + String(repeating: "x", count: 55) + "\(10_000 + number)"
        }
        return .object(
            (0..<count).map { number in
                .init(
                    name("Face", number),
                    ["actions": .object((0..<actions).map { .init(name("act", $0), ["auth": false]) })])
            })
    }

    /// Registers 200 such interfaces with 64 actions each, in frames of a usual size.
    private static func registerMany(_ peer: RawPeer) throws {
        let all = interfaces(200, actions: 64).object ?? []
        for start in stride(from: 0, to: all.count, by: 8) {
            try peer.asked("bus/register", ["interfaces": .object(Array(all[start..<start + 8]))])
        }
    }

    /// Sends a request for every 128 URLs.
    private static func ask(_ action: String, _ urls: [JSON], _ peer: RawPeer) throws {
        for start in stride(from: 0, to: urls.count, by: 128) {
            try peer.asked(action, ["urls": .array(Array(urls[start..<start + 128]))])
        }
    }

    // MARK: Listings

    @Test(.promise("10.15")) func otherPeersAreServedWhileALongAnswerIsMade() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            try Self.registerMany(try bus.module("Bee"))
            let asking = try bus.module("Ant")
            let other = try bus.module("Ant2")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            var id: UInt64 = 0
            try bus.whileBrokerIsHalted {
                id = try asking.call("bus/interfaces")
                try asking.send(["kind": "broadcast", "name": "news"])
                try other.send(["kind": "broadcast", "name": "news"])
            }
            // Frames after the question wait for the answer, as before.
            #expect(try observer.expectNotice("news").from == "Ant2")
            #expect(try observer.expectNotice("news").from == "Ant")
            let listed = try asking.expectReply(to: id).json["interfaces"]?.array ?? []
            #expect(listed.count == 200 && listed.allSatisfy { $0["actions"]?.array?.count == 64 })
        }
    }

    /// The answer is as the page says, whether it is made in one batch or in many.
    @Test(.promise("10.15")) func aLongListingIsWhole() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .manual("Bee", provides: ["Row"]) { row in
                row.urls = [.init(host: "z", path: "/a", to: "Row/act"), .init(host: "a", path: "/b", to: "Row/act")]
                row.requires = ["Many"]
            }, .manual("Cat", rank: 2))
        try TestBus.run(table) { bus in
            let actions: JSON = .object((0..<70).map { .init("act\($0)", ["auth": .bool($0 == 3)]) })
            let urls = (0..<40).map { number -> JSON in
                ["host": "many", "path": .string("/p\(100 + number)/\"\\"), "to": "Many/act0"]
            }
            _ = try bus.module("Ant", ["interfaces": ["Many": ["actions": actions]], "urls": .array(urls.reversed())])
            _ = try bus.module("Cat", ["requires": ["Many", "Row", "Many", "None"]])
            let listed = try bus.operator().asked("bus/interfaces")["interfaces"]?.array ?? []
            #expect(listed.map { $0["name"] } == ["Many", "Row"])
            #expect(listed[0]["actions"]?.array?.map { $0["name"] } == (0..<70).map { .string("act\($0)") })
            #expect(listed[0]["actions"]?.array?.filter { $0["auth"] == true }.count == 1)
            #expect(listed[0]["urls"]?.array == urls)
            #expect(listed[0]["requiredBy"] == ["Bee", "Cat"] && listed[1]["requiredBy"] == ["Cat"])
            #expect(listed[1]["urls"]?.array?.map { $0["host"] } == ["a", "z"])
            #expect(listed[1]["module"] == "Bee" && listed[1]["actions"] == [])
        }
    }

    /// A listing is forgotten when its peer closes, and copes when a listed peer closes.
    @Test(.promise("10.15")) func aListingEndsWithItsPeer() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.module("Bee")
            try Self.registerMany(owner)
            let asking = try bus.module("Ant")
            let other = try bus.module("Ant2")
            var id: UInt64 = 0
            try bus.whileBrokerIsHalted {
                try asking.call("bus/interfaces")
                asking.close()
                id = try other.call("bus/interfaces")
                owner.close()
            }
            let listed = try other.expectReply(to: id).json["interfaces"]?.array ?? []
            #expect(listed.count <= 200)
            try bus.waitUntil("Ant", is: "absent")
        }
    }

    @Test(.promise("10.15")) func aListingThatNoFrameHoldsIsRefused() throws {
        try TestBus.run(.sixModules { $0.limits.frame = 64 << 10 }) { bus in
            _ = try bus.module("Bee", ["interfaces": Self.interfaces(6, actions: 64)])
            _ = try bus.module("Bee2", ["interfaces": ["Other": ["actions": ["a": [:]]]]])
            let tool = try bus.operator()
            _ = try tool.asked("bus/interfaces")
            let more = try bus.module("Cat")
            for number in 0..<3 {
                let interfaces = JSON.object(
                    (0..<64).map {
                        .init("More\(number)x\($0)", ["actions": ["act\(String(repeating: "x", count: 60))": [:]]])
                    })
                try more.asked("bus/register", ["interfaces": interfaces])
            }
            let error = try tool.refused("bus/interfaces", with: "overloaded")
            #expect(error.message.contains("limits.frame"), "\(error)")
            _ = try tool.asked("bus/modules")
        }
    }

    /// Each part of a module's listing is small, whatever the module has.
    @Test(.promise("10.15")) func noPartOfAListingIsLarge() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let loop = try Loop()
        let broker = try Broker(loop, table: .testing([.manual("Ant")]), path: "\(folder.path)/bus")
        let found = broker.bus.modules.find("Ant")
        let owner = try #require(found)
        var offer = Hello.Offer()
        for member in Self.interfaces(8, actions: 2_000).object ?? [] {
            offer.interfaces.append(try Hello.Interface(member))
        }
        for number in 0..<1_000 {
            offer.urls.append(try Hello.URL(host: "h", path: "/\(number)", to: offer.interfaces[0].name + "/a"))
        }
        broker.bus.add(offer, to: owner)
        owner.session.add(events: [], requires: offer.interfaces.map { RequiredInterface(name: $0.name) })
        let listing = InterfaceListing(broker.bus)
        var (bytes, parts) = ([UInt8](), 0)
        while true {
            let before = bytes.count
            guard listing.appendPart(to: &bytes) else { break }
            parts += 1
            #expect(bytes.count - before <= 16 * 256, "part \(parts)")
        }
        #expect(parts >= 8 * 2_000 / 16)
        let listed = try JSON(parsing: bytes)["interfaces"]?.array ?? []
        #expect(listed.map { $0["actions"]?.array?.count } == Array(repeating: 2_000, count: 8))
        #expect(listed[0]["urls"]?.array?.count == 1_000)
        broker.shutDown {}
        loop.run()
    }

    // MARK: Turns

    /// Calls that are refused after a slow comparison of names, with a broadcast after each.
    private static let costly = (0..<200 as Range<Int64>).flatMap { number -> [UInt8] in
        // As similar to the other names as possible without being near.
        let to = "Face" + String(repeating: "x", count: 52) + "abcdefgh/act"
        return FrameBytes.frame(["kind": "call", "id": .integer(1_000 + number), "to": .string(to)])
            + FrameBytes.frame(["kind": "broadcast", "name": "news"])
    }

    /// Small frames that take long.
    @Test(.promise("13.31")) func aTurnEndsWithItsTime() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            _ = try bus.module("Bee", ["interfaces": Self.interfaces(256, actions: 1)])
            let flooding = try bus.module("Ant")
            let other = try bus.module("Ant2")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            try #require(Self.costly.count < ReadBuffer.turn)
            try bus.whileBrokerIsHalted {
                try flooding.send(bytes: Self.costly)
                try other.send(["kind": "broadcast", "name": "news"])
            }
            let senders = try (0..<201).map { _ in try observer.expectNotice("news").from }
            let before = senders.firstIndex(of: "Ant2") ?? .max
            #expect(before < 100, "\(before) of its frames came first")
            // All are answered, in order.
            for number in 0..<200 { try flooding.expectError(to: UInt64(1_000 + number), "unknown-interface") }
        }
    }

    /// Its frames are read to the last one.
    @Test(.promise("13.31")) func aPeerThatClosesAfterItsTurnIsReadToItsEnd() throws {
        try TestBus.run(.sixModules(), executable: BuiltExecutable.path("strata-broker")) { bus in
            _ = try bus.module("Bee", ["interfaces": Self.interfaces(256, actions: 1)])
            let flooding = try bus.module("Ant")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            try bus.whileBrokerIsHalted {
                try flooding.send(bytes: Self.costly)
                flooding.close()
            }
            for _ in 0..<200 { try observer.expectNotice("news") }
            try bus.waitUntil("Ant", is: "absent")
        }
    }

    // MARK: Watches

    @Test(.promise("10.16")) func onePeerHasFewWatches() throws {
        try TestBus.run(.sixModules()) { bus in
            let tool = try bus.operator()
            let ids = try (0..<16).map { _ in try tool.call("bus/watch", nil, ["credit": 0]) }
            let error = try tool.refused("bus/watch", with: "overloaded")
            #expect(error.message.contains("16 watches"), "\(error)")
            try tool.cancel(ids[3])
            try tool.expectError(to: ids[3], "cancelled")
            try tool.call("bus/watch", nil, ["credit": 0])
            // The limit is the peer's own.
            try bus.operator().call("bus/watch", nil, ["credit": 0])
            try tool.refused("bus/watch", with: "overloaded")
        }
    }

    @Test(.promise("10.16")) func allOfManyStatesAreSent() throws {
        let table = AppTable.testing((0..<200).map { .manual("Row\(1_000 + $0)") } + [.manual("Ant")])
        try TestBus.run(table) { bus in
            let tool = try bus.operator()
            let ids = try (0..<3).map { _ in try tool.call("bus/watch", nil, ["credit": 1_000]) }
            var told: [UInt64: [String]] = [:]
            for _ in 0..<3 * 201 {
                let frame = try tool.expect(["kind": "reply", "more": true])
                told[UInt64(frame["id"]?.integer ?? 0), default: []].append(frame.json["module"]?.string ?? "")
            }
            #expect(ids.allSatisfy { told[$0]?.count == 201 && Set(told[$0] ?? []).count == 201 })
            try tool.expectNothing()
        }
    }

    // MARK: Registration

    /// The most URLs and interfaces that there may be, over and over.
    @Test(.promise("13.32")) func theMostOfAllIsTakenReplacedAndGivenBack() throws {
        let patterns = (0..<1_024).map { number in
            "/\(number)" + String(repeating: "/a", count: 31) + (0..<32).map { "/:b\($0)" }.joined()
        }
        let names = (0..<256).map { "Face\($0)" }
        let table = AppTable.testing(
            .manual("Ant", provides: names) { row in
                row.urls = patterns.enumerated().map { .init(host: "h", path: $1, to: "\(names[$0 % 256])/act") }
                row.observes = (0..<1_024).map { .init(name: "name\($0)", object: "object\($0)") }
            }, .manual("Bee"))
        let interfaces: JSON = .object(names.map { .init($0, [:]) })
        let urls: [JSON] = patterns.enumerated().map { number, path in
            ["host": "H", "path": .string(path), "to": .string("\(names[number % 256])/other")]
        }
        // A broker in its own process, because replacing it after each round would take minutes.
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let hello: JSON = [
                "interfaces": interfaces,
                "observes": .array(
                    (0..<1_024).map { ["name": .string("name\($0)"), "object": .string("object\($0)")] }),
            ]
            let caller = try bus.module("Bee")
            let url = "test://h/1023" + String(repeating: "/a", count: 31) + String(repeating: "/x", count: 32)
            for _ in 0..<2 {
                let owner = try bus.module("Ant", hello)
                // All of them are the row's own, so nothing is counted twice.
                for _ in 0..<2 {
                    try owner.asked("bus/register", ["interfaces": interfaces])
                    try Self.ask("bus/register", urls, owner)
                }
                try caller.open(url)
                try owner.expectCall("\(names[255])/other")
                try owner.refused("bus/unregister", ["urls": .array(Array(urls[..<128]))], with: "forbidden")
                owner.close()
                try bus.waitUntil("Ant", is: "absent")
                #expect(try caller.asked("bus/canOpen", ["url": .string(url)])["to"] == .string("\(names[255])/act"))
            }
            // Names that no row has can be given back.
            let others: JSON = .object((0..<256).map { .init("Other\($0)", [:]) })
            let own: [JSON] = patterns.enumerated().map { number, path in
                ["host": "own", "path": .string(path), "to": .string("Other\(number % 256)/act")]
            }
            for _ in 0..<2 {
                try caller.asked("bus/register", ["interfaces": others])
                for action in ["register", "register", "unregister", "register"] {
                    try Self.ask("bus/\(action)", own, caller)
                }
                try caller.asked("bus/unregister", ["interfaces": others])
                let reason = try caller.asked("bus/canOpen", ["url": "test://own/1"])["reason"]
                #expect(reason == "unknown-host")
            }
        }
    }

    /// A reload gives rows the names that a session had.
    @Test(.promise("13.32")) func aReloadTakesTheMostAway() throws {
        let patterns = (0..<1_024).map { "/\($0)/:a" }
        let names = (0..<256).map { "Face\($0)" }
        try TestBus.run(.testing(.manual("Ant"), .manual("Bee"))) { bus in
            let owner = try bus.module("Ant", ["interfaces": .object(names.map { .init($0, [:]) })])
            let urls: [JSON] = patterns.enumerated().map { number, path in
                ["host": "h", "path": .string(path), "to": .string("\(names[number % 256])/act")]
            }
            try Self.ask("bus/register", urls, owner)
            let table = AppTable.testing(
                .manual("Ant"),
                .manual("Bee", provides: names) { row in
                    row.urls = patterns.enumerated().map { .init(host: "h", path: $1, to: "\(names[$0 % 256])/act") }
                })
            _ = try bus.reload(table)
            let modules = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
            let usage = modules.first { $0["name"] == "Ant" }?["usage"]
            #expect(usage?["interfaces"] == 0 && usage?["urls"] == 0)
            #expect(try owner.asked("bus/canOpen", ["url": "test://h/9/x"])["module"] == "Bee")
            _ = try bus.reload(.testing(.manual("Ant"), .manual("Bee")))
            #expect(try owner.asked("bus/canOpen", ["url": "test://h/9/x"])["reason"] == "unknown-host")
        }
    }

    // MARK: Shapes

    private static func shaped(_ number: Int) -> JSON {
        let path = (0..<10).map { number & 1 << $0 != 0 ? "/a" : "/:b\($0)" }.joined()
        return ["host": "shop", "path": .string(path), "to": "Shop/show"]
    }

    @Test(.promise("9.7")) func aHostHasManyShapesOfPatternsAndNoMore() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Ant", "Shop", ["urls": .array((0..<256).map(Self.shaped))])
            let error = try owner.refused("bus/register", ["urls": [Self.shaped(256)]], with: "overloaded")
            #expect(error.message.contains("256 ways"), "\(error)")
            let other = try bus.connect()
            let urls = ["/c/:a", "/a/a/a/a/a/a/a/a/:x/a"].map { path -> JSON in
                ["host": "shop", "path": .string(path), "to": "Other/show"]
            }
            let hello = try other.sendHello("Bee", ["interfaces": ["Other": [:]], "urls": .array(urls)])
            try other.expectRefusal(of: hello, "overloaded")
            // As soon as one shape is free, another may take it.
            try owner.asked("bus/unregister", ["urls": [Self.shaped(1)]])
            try owner.asked("bus/register", ["urls": [Self.shaped(256)]])
        }
    }

    /// A row's own patterns have room, whatever a guest has registered.
    @Test(.promise("9.7")) func aRowsPatternsHaveRoomAfterAReload() throws {
        try TestBus.run(.testing(.manual("Ant"), .manual("Bee"))) { bus in
            _ = try bus.provider("Ant", "Shop", ["urls": .array((0..<256).map(Self.shaped))])
            _ = try bus.reload(
                .testing(
                    .manual("Ant"),
                    .manual("Bee", provides: ["Row"]) { row in
                        row.urls = [.init(host: "shop", path: Self.shaped(256)["path"]?.string ?? "", to: "Row/act")]
                    }))
            let owner = try bus.module("Bee", ["interfaces": ["Row": [:]]])
            let answer = try owner.asked("bus/canOpen", ["url": "test://shop/x/x/x/x/x/x/x/x/a/x"])
            #expect(answer["open"] == true && answer["to"] == "Row/act", "\(answer)")
        }
    }
}
