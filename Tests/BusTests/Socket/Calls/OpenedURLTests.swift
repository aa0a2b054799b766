import StrataCore
import StrataTesting
import Testing

/// The protocol's section 9: what an open carries, waits for and shares.
@Suite(.timeLimit(.hang))
struct OpenedURLTests {
    private static func shop(_ path: String) -> JSON { ["host": "shop", "path": .string(path), "to": "Shop/show"] }

    @Test(.promise("9.12")) func aBodySentWithAnOpenIsIgnored() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Cat", "Shop", ["urls": [Self.shop("/:id")]])
            let caller = try bus.module("Ant")
            try caller.send(["kind": "open", "id": 900, "url": "test://shop/7?a=1#b"], body: ["id": "8", "z": 1])
            let call = try owner.expectCall("Shop/show", nil, ["url": "test://shop/7?a=1#b"])
            #expect(call.json == ["id": "7", "a": "1"])
            try owner.fail(call, "Shop.closed", body: ["until": 8])
            #expect(try caller.expectError(to: 900, "Shop.closed", ran: "yes").json == ["until": 8])
        }
    }

    @Test(.promise("9.5", "9.10")) func modulesMayShareAHostAndALiteralBeatsABoundSegmentAcrossThem() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let bound = try bus.provider("Cat", "Shop", ["urls": [Self.shop("/:kind/:id"), Self.shop("/:kind/new")]])
            let literal = try bus.provider(
                "Bee", "Other", ["urls": [["host": "SHOP", "path": "/item/:id", "to": "Other/item"]]])
            let caller = try bus.module("Ant")
            try caller.open("test://shop/item/new")
            #expect(try literal.expectCall("Other/item").json == ["id": "new"])
            try caller.open("test://shop/hat/new")
            #expect(try bound.expectCall("Shop/show").json == ["kind": "hat"])
            try caller.open("test://shop/hat/7")
            #expect(try bound.expectCall("Shop/show").json == ["kind": "hat", "id": "7"])
        }
    }

    @Test(.promise("9.9"), arguments: ["/:a/:a", "a", "/a//b", "/a?b", "/%4", "/:1"])
    func anInvalidPatternIsBadParams(path: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.provider("Ant", "Shop")
            try peer.refused("bus/register", ["urls": [Self.shop(path)]], with: "bad-params")
            let other = try bus.connect()
            let hello = try other.sendHello("Bee", ["interfaces": ["Shop2": [:]], "urls": [Self.shop(path)]])
            try other.expectRefusal(of: hello, "bad-params")
        }
    }

    @Test(.promise("9.8")) func theSamePatternTwiceForAHostIsTakenWhateverItsSegmentsAreCalled() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .manual("Bee", provides: ["Row"]) { row in
                row.urls = [.init(host: "row", path: "/a/:b", to: "Row/act")]
            })
        try MemoryBus.run(table) { bus in
            let peer = try bus.provider("Ant", "Shop")
            // A row's URLs belong to its module, live or not.
            let rows: JSON = ["urls": [["host": "row", "path": "/%61/:other", "to": "Shop/show"]]]
            try peer.refused("bus/register", rows, with: "forbidden")
            let twice: JSON = ["urls": [Self.shop("/:a"), Self.shop("/:b")]]
            try peer.refused("bus/register", twice, with: "name-taken")
            // The host in any case, and a segment escaped or not.
            let again: JSON = [
                "urls": [Self.shop("/p"), ["host": "SHOP", "path": "/%70", "to": "Shop/show"]]
            ]
            try peer.refused("bus/register", again, with: "name-taken")
            try peer.refused("bus/unregister", twice, with: "unknown-path")
            try peer.asked("bus/register", ["urls": [Self.shop("/:a")]])
            try peer.asked("bus/unregister", twice)
            let bee = try bus.connect("Bee")
            let hello: JSON = [
                "interfaces": ["Row": [:]],
                "urls": [
                    ["host": "m", "path": "/:a", "to": "Row/a"], ["host": "m", "path": "/:b", "to": "Row/b"],
                ],
            ]
            try bee.expectRefusal(of: try bee.sendHello("Bee", hello), "name-taken")
        }
    }

    @Test(.promise("10.2")) func aURLIsTakenAwayByItsOwnerAloneAndARowsStays() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .manual("Bee", provides: ["Row"]) { row in
                row.urls = [.init(host: "row", path: "/", to: "Row/act")]
            })
        try MemoryBus.run(table) { bus in
            let owner = try bus.provider("Ant", "Shop", ["urls": [Self.shop("/:a")]])
            let rows: JSON = ["host": "row", "path": "/", "to": "Row/act"]
            let other = try bus.provider("Bee", "Row", ["urls": [rows]])
            try other.refused("bus/unregister", ["urls": [Self.shop("/:a")]], with: "unknown-path")
            try other.refused("bus/unregister", ["urls": [rows]], with: "forbidden")
            try owner.asked("bus/unregister", ["urls": [Self.shop("/:b")]])
            try other.expectError(to: try other.open("test://shop/7"), "unknown-host", ran: "no")
            // The interface stays without its URL.
            try other.call("Shop/show")
            try owner.expectCall("Shop/show")
        }
    }

    @Test(.promise("9.13")) func anOpenStartsItsOwnerOnDemandAndWaits() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .eager("Shop", rank: 2, provides: ["Shop"]) { row in
                row.start = .onDemand
                row.urls = [.init(host: "shop", path: "/:id", to: "Shop/show")]
            })
        try MemoryBus.run(table) { bus in
            let launcher = try bus.launcher()
            let caller = try bus.module("Ant")
            let can = try caller.asked("bus/canOpen", ["url": "test://shop/7"])
            #expect(can == ["open": true, "to": "Shop/show", "module": "Shop"])
            // Asking alone starts no module.
            try launcher.expectNothing()
            let id = try caller.open("test://shop/7?a=1")
            let start = try launcher.expectCall("launcher/start", ["module": "Shop"])
            let token = try bus.vouch(for: "Shop")
            let owner = try bus.provider("Shop", "Shop", ["token": .string(token)])
            try launcher.reply(to: start)
            let call = try owner.expectCall("Shop/show", ["id": "7", "a": "1"], ["url": "test://shop/7?a=1"])
            try owner.reply(to: call, ["shown": true])
            try caller.expectReply(to: id, body: ["shown": true])
        }
    }
}
