import StrataCore
import StrataTesting
import Testing

@testable import StrataTesting

/// The protocol's section 9: URLs of other apps. The tests play the other app's broker.
@Suite(.timeLimit(.hang))
struct AppLinkTests: AppLinkSuite {
    @Test(.promise("9.40")) func anOpenOfAListedSchemeGoesToTheOtherApp() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("Catalog://item/7", ["deadline": 2_000, "credit": 3, "meta": ["a": 1]])
            let app = try Self.greeted(bus)
            let open = try app.expect([
                "kind": "open", "url": "Catalog://item/7", "credit": 3, "depth": 1, "meta": ["a": 1],
            ])
            try app.partialReply(to: open, ["part": 1])
            try shop.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true], body: ["part": 1])
            try shop.credit(id, 2)
            try app.expect(["kind": "credit", "id": open.number, "credit": 2])
            try app.reply(to: open, ["shown": true])
            try shop.expectReply(to: id, body: ["shown": true])
            // The connection stays for the next one, and an operator may open what a row lists.
            let tool = try bus.operator()
            let second = try tool.open("catalog://item/8")
            let next = try app.expect(["kind": "open", "url": "catalog://item/8"])
            try tool.cancel(second)
            try tool.expectError(to: second, "cancelled", ran: "maybe")
            try app.expect(["kind": "cancel", "id": next.number])
        }
    }

    @Test(.promise("9.40", "10.50")) func anUnlistedSchemeIsUnknown() throws {
        try Self.run { bus in
            let other = try bus.module("Other")
            let error = try other.expectError(to: try other.open("catalog://item/7"), "unknown-scheme", ran: "no")
            #expect(error.message.contains("opens: {catalog: {app: catalog}}"))
            let can = try other.asked("bus/canOpen", ["url": "catalog://item/7"])
            #expect(can == ["open": false, "reason": "unknown-scheme"])
            #expect(throws: (any Error).self) { try bus.otherApp() }
        }
    }

    @Test(.promise("9.41", "10.50")) func anAppThatIsNotUpIsUnavailable() throws {
        try Self.run { bus in
            bus.reachesOtherApps(false)
            let shop = try bus.provider("Shop", "Shop")
            try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
            let can = try shop.asked("bus/canOpen", ["url": "catalog://item/7"])
            #expect(can == ["open": false, "reason": "unavailable"])
        }
    }

    @Test(.promise("10.50")) func canOpenAsksTheOtherApp() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.call("bus/canOpen", ["url": "catalog://item/7"])
            let app = try Self.greeted(bus)
            let question = try app.expect(
                ["kind": "call", "to": "bus/canOpen"], body: ["url": "catalog://item/7"])
            try app.reply(to: question, ["open": true])
            try shop.expectReply(to: id, body: ["open": true])
        }
    }

    @Test(.promise("9.41")) func anAppThatRefusesTheConnectionSaysWhy() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            for index in 0...1 {
                let id = try shop.open("catalog://item/7")
                let app = try bus.otherApp(index)
                let hello = try app.expect(["kind": "call", "to": "bus/hello"])
                try app.fail(hello, "forbidden", "user 7 may not")
                let error = try shop.expectError(to: id, "unavailable", ran: "no")
                #expect(error.message.contains("forbidden: user 7 may not"))
                try app.expectEnd()
            }
        }
    }

    @Test(
        .promise("9.41"),
        arguments: ["{}", "{\"limits\":{\"frame\":1}}", "{\"limits\":{\"frame\":-1,\"header\":1}}", "x", ""])
    func aHelloAnsweredBadlyEndsTheConnection(body: String) throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://item/7")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            try app.send(header: #"{"kind":"reply","id":1}"#, body: body)
            try shop.expectError(to: id, "unavailable", ran: "no")
            try app.expectEnd()
        }
    }

    @Test(.promise("9.41")) func anAppThatDoesNotAnswerHelloIsUnavailable() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let first = try shop.open("catalog://item/7", ["deadline": 1_000])
            let second = try shop.open("catalog://item/7")
            try shop.expectError(to: first, "deadline-exceeded", ran: "no")
            try shop.expectError(to: second, "unavailable", ran: "no")
        }
    }

    @Test(.promise("9.42")) func theOtherAppMayAskNothing() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop", ["observes": ["news"]])
            let id = try shop.open("catalog://item/7")
            let app = try Self.greeted(bus)
            let open = try app.expect(["kind": "open"])
            for to in [
                "Shop/act", "Nobody/act", "bus/modules", "bus/ping", "bus/canOpen", "bus/hello", "launcher/stop",
            ] {
                try app.expectError(to: try app.call(to), "forbidden", ran: "no")
            }
            try app.expectError(to: try app.open("test://shop/"), "forbidden", ran: "no")
            try app.expectError(to: try app.report("news", to: "Shop"), "forbidden", ran: "no")
            try app.expectError(to: try app.broadcast("news"), "forbidden", ran: "no")
            try shop.expectNothing()
            try app.reply(to: open)
            try shop.expectReply(to: id)
        }
    }

    @Test(
        .promise("9.43"),
        arguments: [
            ("forbidden", "forbidden"), ("unknown-path", "unknown-path"), ("died", "died"), ("Item.gone", "Item.gone"),
            ("made-up", "failed"),
        ])
    func codesOfTheOtherAppPass(sent: String, got: String) throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://item/7")
            let app = try Self.greeted(bus)
            try app.fail(try app.expect(["kind": "open"]), sent, "so", ["ran": "maybe", "root": ["code": "x"]])
            let error = try shop.expectError(to: id, got, ran: "maybe")
            #expect(error["root"] == nil)
        }
    }

    @Test(.promise("9.42")) func anAppThatEndsHarmsItsOwnRequestsAlone() throws {
        let second = OtherApp(.name("second"))
        try Self.run(Self.table(["catalog": Self.catalog, "second": second])) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let ids = [try shop.open("catalog://a"), try shop.open("second://b")]
            let (first, second) = (try Self.greeted(bus, 0), try Self.greeted(bus, 1))
            _ = try first.expect(["kind": "open", "url": "catalog://a"])
            let open = try second.expect(["kind": "open", "url": "second://b"])
            // The length of a header beyond this app's limit.
            try first.send(bytes: [0, 15, 0, 0, 0, 14, 0, 0])
            let error = try shop.expectError(to: ids[0], "died", ran: "maybe")
            #expect(error.message.contains("app:catalog"))
            try second.reply(to: open)
            try shop.expectReply(to: ids[1])
        }
    }

    @Test(.promise("9.42")) func aHeaderThatTheOtherAppDoesNotTakeIsNotSent() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let first = try shop.open("catalog://a")
            let app = try Self.greeted(bus, header: 1_024)
            let open = try app.expect(["kind": "open", "url": "catalog://a"])
            let long = "catalog://a/" + String(repeating: "x", count: 1_000)
            try shop.expectError(to: try shop.open(long), "bad-url", ran: "no")
            try app.reply(to: open)
            try shop.expectReply(to: first)
        }
    }

    @Test(.promise("9.44")) func anIdleConnectionIsClosed() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a", ["deadline": 86_400_000])
            let app = try Self.greeted(bus)
            let open = try app.expect(["kind": "open"])
            #expect(try app.nextIfAny(within: .seconds(200)) == nil)
            try app.reply(to: open)
            try shop.expectReply(to: id)
            let before = bus.now
            try app.expectEnd()
            #expect(bus.now - before >= .seconds(59) && bus.now - before <= .seconds(121))
        }
    }

    @Test(.promise("9.40", "10.32")) func aReplacedBrokerKeepsItsLinks() throws {
        let second = OtherApp(.socket("/run/second"), user: 7)
        try Self.run(Self.table(["catalog": Self.catalog, "second": second])) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let open = try shop.open("catalog://a")
            let app = try Self.greeted(bus)
            let call = try app.expect(["kind": "open"])
            let waiting = try shop.open("second://b", ["meta": ["a": 1]])
            let greeting = try bus.otherApp(1)
            let hello = try greeting.expect(["kind": "call", "to": "bus/hello"])
            try bus.memory?.broker.replace()
            try app.reply(to: call, 1)
            try shop.expectReply(to: open, body: 1)
            try greeting.reply(to: hello, ["limits": ["frame": 4_096, "header": 1_024]])
            let late = try greeting.expect(["kind": "open", "url": "second://b", "meta": ["a": 1]])
            try bus.memory?.broker.replace()
            try greeting.reply(to: late, 2)
            try shop.expectReply(to: waiting, body: 2)
            // The link and its limits are still there.
            let long = "second://b/" + String(repeating: "x", count: 1_000)
            try shop.expectError(to: try shop.open(long), "bad-url", ran: "no")
            let again = try shop.open("catalog://c")
            try app.reply(to: try app.expect(["kind": "open", "url": "catalog://c"]), 3)
            try shop.expectReply(to: again, body: 3)
        }
    }

    @Test(.promise("9.40")) func aReloadEndsALinkThatNoRowWants() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try Self.greeted(bus)
            _ = try app.expect(["kind": "open"])
            _ = try bus.reload(Self.table([:]))
            try shop.expectError(to: id, "died", ran: "maybe")
            try app.expectEnd("shutting-down")
            try shop.expectError(to: try shop.open("catalog://a"), "unknown-scheme", ran: "no")
        }
    }
}
