import StrataCore
import StrataTesting
import Testing

/// A name is parsed once. A name that ends in `Router` twice keeps one of them, and stays so.
@Suite(.timeLimit(.hang))
struct RouterNameTests {
    private func run(_ test: (TestBus) throws -> Void) throws {
        let table = AppTable.testing(
            .manual("Gate", provides: ["Guard"]),
            .manual("Shop", provides: ["TillRouter"]) {
                $0.urls = [.init(host: "till", path: "/:coin", to: "TillRouter/ring")]
            }, .manual("Hand")
        ) { $0.authorizer = "Guard" }
        try TestBus.run(table, executable: try BuiltExecutable.path("strata-broker"), test)
    }

    @Test(.promise("3.12")) func aHandOverTakesNoSecondSuffixOff() throws {
        try run { bus in
            let gate = try bus.provider("Gate", "Guard")
            let shop = try bus.module(
                "Shop",
                [
                    "interfaces": [
                        "FooRouterRouter": ["actions": ["buy": ["auth": true]]],
                        "Foo": ["actions": ["buy": [:]]], "TillRouterRouter": ["actions": ["ring": ["auth": true]]],
                    ],
                    "urls": [["host": "foo", "path": "/buy", "to": "FooRouterRouter/buy"]],
                ])
            let hand = try bus.module("Hand")
            for isHandedOver in [false, true] {
                if isHandedOver { try bus.operator().asked("bus/handOver") }
                for (url, to) in [("test://foo/buy", "FooRouter/buy"), ("test://till/1", "TillRouter/ring")] {
                    let id = try hand.open(url)
                    let asked = try gate.expectCall("Guard/authorize")
                    #expect(asked["meta"]?["to"]?.string == to)
                    try gate.reply(to: asked, ["allow": true])
                    try shop.reply(to: try shop.expectCall(to))
                    try hand.expectReply(to: id)
                }
            }
        }
    }

    /// The answer of `create` can be used as it is.
    @Test(.promise("3.12")) func anInstancesNameLeadsToIt() throws {
        try run { bus in
            _ = try bus.provider("Gate", "Guard")
            let shop = try bus.module(
                "Shop",
                [
                    "interfaces": [
                        "CartRouterRouter": ["instances": "multiple"], "TillRouterRouter": [:], "OneRouterRouter": [:],
                    ]
                ])
            let hand = try bus.module("Hand")
            func create(_ interface: String) throws -> String {
                try hand.asked("bus/create", ["interface": .string(interface)])["instance"]?.string ?? ""
            }
            let cart = try create("CartRouterRouter")
            let add = try hand.call("\(cart)/add")
            try shop.reply(to: try shop.expectCall("CartRouter#1/add"))
            try hand.expectReply(to: add)
            try hand.asked("bus/release", ["instance": .string(cart)])
            try shop.expectCall("module/released", ["instance": "CartRouter#1"])
            let one = try hand.call("\(try create("OneRouterRouter"))/add")
            try shop.reply(to: try shop.expectCall("OneRouter/add"))
            try hand.expectReply(to: one)
        }
    }
}
