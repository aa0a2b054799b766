import Glibc
import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 5: the brokers of other apps, which open this app's public URLs.
@Suite(.timeLimit(.hang))
struct OtherAppTests {
    private static func table(_ users: [UInt32] = [geteuid()], level rank: Int = 2) -> AppTable {
        let catalog = AppTable.Row.manual("Catalog", provides: ["Catalog"]) { row in
            row.urls = [
                .init(host: "item", path: "/:id", to: "Catalog/item", isPublic: true),
                .init(host: "item", path: "/secret", to: "Catalog/secret"),
                .init(host: "moved", path: "/", to: "Catalog/item", isPublic: true),
            ]
        }
        return .testing(catalog, .manual("Guard", provides: ["Guard"])) { table in
            table.authorizer = "Guard"
            if !users.isEmpty { table.openableBy = .init(users: users, rank: rank) }
        }
    }

    private static let offer: JSON = [
        "interfaces": ["Catalog": ["actions": ["item": [:], "secret": [:], "admin": [:], "buy": ["auth": true]]]],
        "urls": [
            ["host": "own", "path": "/", "to": "Catalog/item"], ["host": "moved", "path": "/", "to": "Catalog/admin"],
        ],
    ]

    private static func connect(_ bus: TestBus, _ app: JSON = "shop") throws -> (peer: RawPeer, welcome: JSON) {
        let peer = try bus.connect("shop")
        let id = try peer.call("bus/hello", ["protocol": 1, "role": "app", "app": app])
        return (peer, try peer.expectReply(to: id).json)
    }

    @Test(.promise("5.46")) func anotherAppOpensPublicURLs() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let (shop, welcome) = try Self.connect(bus)
            // It learns neither settings, nor levels, nor schemes.
            #expect(welcome.object?.map(\.name) == ["app", "limits"])
            #expect(welcome["limits"]?.object?.map(\.name) == ["frame", "header"])
            let id = try shop.open("test://item/7", ["meta": ["a": 1]])
            let call = try owner.expectCall(
                "Catalog/item", ["id": "7"], ["from": "app:shop", "url": "test://item/7", "meta": ["a": 1]])
            try owner.partialReply(to: call)
            try shop.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true])
            try owner.reply(to: call, ["shown": true])
            try shop.expectReply(to: id, body: ["shown": true])
            #expect(try shop.asked("bus/canOpen", ["url": "test://item/7"]) == ["open": true])
        }
    }

    /// A URL that isn't public and one that isn't mapped are the same to another app.
    @Test(
        .promise("5.47"),
        arguments: [
            "test://item/secret", "test://own/", "test://moved/", "test://item/a/b", "test://nothing/",
            "catalog://item/7",
        ])
    func anotherAppOpensNothingElse(url: String) throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let (shop, _) = try Self.connect(bus)
            let error = try shop.expectError(to: try shop.open(url), "forbidden", ran: "no")
            #expect(
                error.message
                    == "test does not let other apps open this URL: its manifest must say public: true at it"
            )
            let can = try shop.asked("bus/canOpen", ["url": .string(url)])
            #expect(can == ["open": false, "reason": "forbidden"])
            try owner.expectNothing()
        }
    }

    @Test(.promise("5.48")) func anotherAppMayDoNothingElse() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Catalog", Self.offer.with(["observes": ["news"]]))
            let (shop, _) = try Self.connect(bus)
            for to in [
                "Catalog/item", "Catalog/nothing", "Nobody/act", "nonsense", "launcher/stop", "module/setUp",
                "operator/x", "bus/modules", "bus/interfaces", "bus/levels", "bus/names", "bus/stats", "bus/watch",
                "bus/emit", "bus/observe", "bus/register", "bus/create", "bus/monitor", "bus/reload", "bus/handOver",
                "bus/vouch", "bus/hello", "bus/nope", "bus#1/ping",
            ] {
                let error = try shop.expectError(to: try shop.call(to, ["name": "x"]), "forbidden", ran: "no")
                #expect(!error.message.contains("Guard"))
            }
            try shop.expectError(to: try shop.report("news", to: "Catalog"), "forbidden", ran: "no")
            try shop.expectError(to: try shop.broadcast("news"), "forbidden", ran: "no")
            try shop.expectError(to: try shop.open("test://item/7", ["auth": "skip"]), "forbidden", ran: "no")
            try shop.asked("bus/ping")
            try owner.expectNothing()
        }
    }

    @Test(
        .promise("5.46"),
        arguments: [
            (["role": "app", "app": "shop"], "forbidden"), (["role": "app"], "bad-params"),
            (["role": "app", "app": "Shop"], "bad-params"), (["role": "app", "app": "a:b"], "bad-params"),
            (["role": "app", "app": ""], "bad-params"), (["role": "app", "app": 7], "bad-params"),
            (["role": "app", "app": "shop", "module": "Catalog"], "bad-params"),
        ] as [(JSON, String)])
    func aHelloOfAnotherAppIsRefused(hello: JSON, code: String) throws {
        for users in [[], [geteuid() + 1]] {
            try MemoryBus.run(Self.table(users)) { bus in
                let peer = try bus.connect()
                let id = try peer.call("bus/hello", JSON.object([.init("protocol", 1)]).with(hello))
                try peer.expectError(to: id, code, ran: "no")
                try peer.expectEnd()
            }
        }
    }

    @Test(.promise("5.46")) func aUserHas16ConnectionsOfOtherApps() throws {
        try MemoryBus.run(Self.table()) { bus in
            for _ in 1...16 { _ = try Self.connect(bus) }
            let peer = try bus.connect()
            let id = try peer.call("bus/hello", ["protocol": 1, "role": "app", "app": "other"])
            try peer.expectError(to: id, "overloaded", ran: "no")
        }
    }

    /// Messages of the bus name neither modules nor reasons; a root stays inside.
    @Test(.promise("5.49")) func anotherAppLearnsNoNames() throws {
        try MemoryBus.run(Self.table()) { bus in
            let (shop, _) = try Self.connect(bus)
            let absent = try shop.expectError(to: try shop.open("test://item/7"), "unavailable", ran: "no")
            #expect(!absent.message.contains("Catalog"))
            let owner = try bus.module("Catalog", Self.offer)
            let id = try shop.open("test://item/7")
            let call = try owner.expectCall("Catalog/item")
            try owner.expectError(to: try owner.call("Guard/look", nil, ["parent": call.number]), "unavailable")
            try owner.fail(call, "failed", "no luck")
            let failed = try shop.expectError(to: id, "failed", ran: "yes")
            #expect(failed["root"] == nil && failed.message == "no luck")
            let other = try shop.open("test://item/7")
            _ = try owner.expectCall("Catalog/item")
            owner.close()
            let died = try shop.expectError(to: other, "died", ran: "maybe")
            #expect(!died.message.contains("Catalog"))
        }
    }

    @Test(.promise("5.50")) func theAuthorizerGetsTheAppsNameAndLevel() throws {
        var table = Self.table()
        table.modules[0].urls = [.init(host: "buy", path: "/", to: "Catalog/buy", isPublic: true)]
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let authorizer = try bus.provider("Guard", "Guard")
            let (shop, _) = try Self.connect(bus)
            let id = try shop.open("test://buy")
            let asked = try authorizer.expectCall(
                "Guard/authorize", nil,
                ["meta": ["to": "Catalog/buy", "from": "app:shop", "level": "topout", "url": "test://buy"]])
            try authorizer.reply(to: asked, ["allow": true])
            try owner.reply(to: try owner.expectCall("Catalog/buy"))
            try shop.expectReply(to: id)
        }
    }

    @Test(.promise("6.50")) func anotherAppsChainContinuesHere() throws {
        var table = Self.table()
        table.limits.depth = 3
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let (shop, _) = try Self.connect(bus)
            try shop.expectError(to: try shop.open("test://item/7", ["depth": 4]), "too-deep", ran: "no")
            let id = try shop.open("test://item/7", ["depth": 3])
            let call = try owner.expectCall("Catalog/item")
            try owner.expectError(
                to: try owner.call("Catalog/item", nil, ["parent": call.number]), "too-deep", ran: "no")
            try owner.reply(to: call)
            try shop.expectReply(to: id)
            // From any other peer the member means nothing.
            let own = try owner.open("test://item/7", ["depth": 4])
            try owner.reply(to: try owner.expectCall("Catalog/item"))
            try owner.expectReply(to: own)
        }
    }

    @Test(.promise("5.46", "10.32")) func aReplacedBrokerKeepsOtherApps() throws {
        let table = Self.table(level: 1)
        let memory = MemoryBus(table, isLaunched: false)
        try TestBus(table, memory).run { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let (shop, _) = try Self.connect(bus)
            let id = try shop.open("test://item/7")
            let call = try owner.expectCall("Catalog/item")
            try memory.broker.replace()
            try owner.reply(to: call, 1)
            try shop.expectReply(to: id, body: 1)
            try shop.expectError(to: try shop.open("test://item/secret"), "forbidden", ran: "no")
            try shop.expectError(to: try shop.call("bus/modules"), "forbidden", ran: "no")
            let again = try shop.open("test://item/8")
            try owner.reply(to: try owner.expectCall("Catalog/item", nil, ["from": "app:shop"]))
            try shop.expectReply(to: again)
        }
    }

    @Test(.promise("5.46")) func aReloadEndsFormerApps() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Catalog", Self.offer)
            let (shop, _) = try Self.connect(bus)
            _ = try bus.reload(Self.table())
            let id = try shop.open("test://item/7")
            try owner.reply(to: try owner.expectCall("Catalog/item"))
            try shop.expectReply(to: id)
            _ = try bus.reload(Self.table(level: 1))
            try shop.expectEnd("shutting-down")
            let (again, _) = try Self.connect(bus)
            _ = try bus.reload(Self.table([]))
            try again.expectEnd("shutting-down")
        }
    }
}
