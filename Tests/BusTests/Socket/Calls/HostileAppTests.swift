import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 9: other apps that lie, flood, fall silent or die. They harm their own
/// requests alone.
@Suite(.timeLimit(.hang))
struct HostileAppTests: AppLinkSuite {
    private static var two: [String: OtherApp] { ["catalog": catalog, "maps": OtherApp(.name("maps"))] }

    /// Opens a URL of another app, and lets it answer.
    private func open(_ url: String, _ shop: RawPeer, _ app: RawPeer) throws {
        let id = try shop.open(url)
        try app.reply(to: try app.find(["kind": "open", "url": .string(url)]))
        try shop.expectReply(to: id)
    }

    // MARK: Lies about limits

    @Test(
        .promise("9.41"),
        arguments: [
            #"{"frame":65536,"header":0}"#, #"{"frame":65536,"header":-1}"#, #"{"frame":4294967296,"header":64}"#,
            #"{"frame":65536,"header":9007199254740991}"#, #"{"frame":"65536","header":64}"#, #"{"frame":65536}"#,
        ])
    func limitsThatNoBrokerHasAreRefused(limits: String) throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            try app.send(header: #"{"kind":"reply","id":1}"#, body: #"{"limits":\#(limits)}"#)
            let error = try shop.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message.hasSuffix("bad-frame: its answer to hello can't be understood"))
            try app.expectEnd()
        }
    }

    /// What is longer isn't sent, so the app can only shut itself out.
    @Test(.promise("9.42"), arguments: [(65_536, 1), (0, 16_384), (300, 16_384)])
    func tinyLimitsShutTheAppOut(frame: Int64, header: Int64) throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://item/" + String(repeating: "x", count: 40))
            let app = try Self.greeted(bus, frame: frame, header: header)
            let error = try shop.expectError(to: id, "bad-url", ran: "no")
            #expect(error.message.contains("app:catalog takes \(header) in \(frame)"))
            try app.expectNothing(within: bus)
        }
    }

    @Test(.promise("9.42")) func hugeLimitsLetNothingLongerThrough() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try Self.greeted(bus, frame: 4_294_967_295, header: 4_294_967_295)
            try app.reply(to: try app.expect(["kind": "open"]))
            try shop.expectReply(to: id)
            let url = "catalog://item/" + String(repeating: "x", count: 16_000)
            let long = try shop.open(url)
            let open = try app.expect(["kind": "open", "url": .string(url)])
            try app.reply(to: open)
            try shop.expectReply(to: long)
        }
    }

    // MARK: Around hello

    /// A refusal ends the connection, whatever comes with it.
    @Test(.promise("9.41")) func whatFollowsARefusalMeansNothing() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            let refusal: JSON = ["kind": "error", "id": 1, "code": "forbidden", "message": "no"]
            let welcome: JSON = ["limits": ["frame": 65_536, "header": 4_096]]
            try app.send(
                bytes: FrameBytes.frame(refusal) + FrameBytes.frame(["kind": "reply", "id": 1], body: welcome),
                inPiecesOf: 1 << 16)
            let error = try shop.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message == "app:catalog did not take this app's connection: forbidden: no")
            try app.expectEnd()
        }
    }

    @Test(.promise("9.41")) func aWelcomeInPartsIsRefused() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            try app.send(
                header: #"{"kind":"reply","id":1,"more":true}"#, body: #"{"limits":{"frame":65536,"header":4096}}"#)
            let error = try shop.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message.hasSuffix("bad-frame: its answer to hello can't be understood"))
            try app.expectEnd()
        }
    }

    @Test(.promise("9.41")) func aRefusalWithoutWordsIsTold() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            try app.send(["kind": "error", "id": 1])
            let error = try shop.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message.hasSuffix("failed: it gave no message"))
        }
    }

    /// Also in a broker that has been replaced meanwhile.
    @Test(.promise("9.41", "2.3"), arguments: [false, true]) func theAnswerToHelloHasABound(isReplaced: Bool) throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a")
            let app = try bus.otherApp()
            _ = try app.expect(["kind": "call", "to": "bus/hello"])
            if isReplaced { try bus.memory?.broker.replace() }
            try app.send(bytes: FrameBytes.lengths(frame: 65_537, header: 20), inPiecesOf: 8)
            let error = try shop.expectError(to: id, "unavailable", ran: "no")
            #expect(error.message.contains("this broker ended it with too-large: "))
            try app.expectEnd("too-large")
        }
    }

    // MARK: Floods, silence and death

    @Test(.promise("9.42")) func framesWithUnknownIDsAreDropped() throws {
        try Self.run(Self.table(Self.two)) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let first = try shop.open("catalog://a")
            let app = try Self.greeted(bus)
            let open = try app.expect(["kind": "open"])
            let other = try shop.open("maps://a")
            let maps = try Self.greeted(bus, 1)
            let foreign = try maps.expect(["kind": "open"]).number
            let before = try dropped(bus)
            for id in [foreign, 4_242, 9_007_199_254_740_991] as [JSON] {
                for kind in ["reply", "error", "cancel", "credit"] as [JSON] {
                    try app.send(["kind": kind, "id": id, "credit": 1])
                }
            }
            #expect(try dropped(bus) == before + 12)
            try maps.send(["kind": "reply", "id": foreign])
            try shop.expectReply(to: other)
            try app.reply(to: open)
            try shop.expectReply(to: first)
        }
    }

    private func dropped(_ bus: TestBus) throws -> Int64 {
        try bus.operator().asked("bus/stats")["counters"]?["dropped"]?.integer ?? -1
    }

    /// It isn't read any more while too many answers wait for it, and then read again.
    @Test(.promise("9.42")) func oneThatAsksAndDoesNotReadIsNotRead() throws {
        try Self.run(Self.table(Self.two) { $0.limits.queue = 1 << 10 }) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a", ["deadline": 86_400_000])
            let app = try Self.greeted(bus)
            let open = try app.expect(["kind": "open"])
            let pipe = try #require(bus.memory?.broker.linked.first?.pipe)
            pipe.capacity = 0
            let question = FrameBytes.frame(["kind": "call", "id": 7, "to": "bus/ping"])
            try app.send(bytes: Array(repeating: question, count: 4_000).flatMap { $0 }, inPiecesOf: 1 << 16)
            #expect(pipe.unread > 0)
            try app.reply(to: open, ["late": true])
            let second = try shop.open("maps://a")
            let maps = try Self.greeted(bus, 1)
            try maps.reply(to: try maps.expect(["kind": "open"]))
            // The reply is behind what isn't read.
            try shop.expectReply(to: second)
            pipe.capacity = 1 << 20
            try shop.expectReply(to: id, body: ["late": true])
        }
    }

    @Test(.promise("9.42")) func oneThatNeverReadsGetsNoMoreThanItsQueue() throws {
        try Self.run(Self.table(Self.two) { $0.limits.queue = 32 << 10 }) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let first = try shop.open("catalog://a")
            let app = try Self.greeted(bus)
            try app.reply(to: try app.expect(["kind": "open"]))
            try shop.expectReply(to: first)
            let pipe = try #require(bus.memory?.broker.linked.first?.pipe)
            pipe.capacity = 0
            let url = "catalog://a/" + String(repeating: "x", count: 1_000)
            var waiting: [UInt64] = []
            for _ in 0..<64 {
                let id = try shop.open(url, ["deadline": 1_000])
                guard let answer = try shop.nextIfAny(within: .milliseconds(1)) else {
                    waiting.append(id)
                    continue
                }
                #expect(answer.id == id && answer.code == "overloaded")
                #expect(answer.message.hasPrefix("the queue to app:catalog is full"), "\(answer.message)")
            }
            #expect((1...32).contains(waiting.count), "\(waiting.count)")
            let second = try shop.open("maps://a")
            let maps = try Self.greeted(bus, 1)
            try maps.reply(to: try maps.expect(["kind": "open"]))
            try shop.expectReply(to: second)
            // Not one byte of them was written.
            for id in waiting { try shop.expectError(to: id, "deadline-exceeded", ran: "no") }
        }
    }

    @Test(.promise("9.42"), arguments: [false, true]) func oneThatDiesInAFrameLeavesNothingOpen(isGreeted: Bool) throws
    {
        try Self.run(Self.table(Self.two)) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let ids = [try shop.open("catalog://a"), try shop.open("catalog://b")]
            let app = isGreeted ? try Self.greeted(bus) : try bus.otherApp()
            for _ in ids.prefix(isGreeted ? 2 : 1) { _ = try app.next() }
            let frame = FrameBytes.frame(["kind": "reply", "id": 1], body: ["limits": [:]])
            try app.send(bytes: Array(frame.dropLast(3)), inPiecesOf: 1 << 10)
            app.close()
            for id in ids {
                try shop.expectError(
                    to: id, isGreeted ? "died" : "unavailable", ran: isGreeted ? "maybe" : "no")
            }
            // It may be back at once.
            let again = try shop.open("catalog://c")
            let next = try Self.greeted(bus, 1)
            try next.reply(to: try next.expect(["kind": "open"]))
            try shop.expectReply(to: again)
        }
    }

    @Test(.promise("9.42", "2.8")) func oneThatNeverFinishesAFrameIsClosed() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let id = try shop.open("catalog://a", ["deadline": 86_400_000])
            let app = try Self.greeted(bus)
            _ = try app.expect(["kind": "open"])
            try app.send(bytes: FrameBytes.lengths(frame: 90, header: 20), inPiecesOf: 8)
            try shop.expectError(to: id, "died", ran: "maybe")
            try app.expectEnd("bad-frame")
        }
    }

    /// What another app says of where its error began is its own.
    @Test(.promise("6.34", "9.43")) func theRootOfAFailedOpenNamesTheAppAndNoAction() throws {
        try Self.run { bus in
            let shop = try bus.provider("Shop", "Shop")
            let other = try bus.module("Other")
            let asked = try other.call("Shop/act")
            let call = try shop.expectCall("Shop/act")
            let opened = try shop.open("catalog://a", ["parent": call.number])
            let app = try Self.greeted(bus)
            try app.fail(try app.expect(["kind": "open"]), "Item.gone", "gone", ["root": ["code": "x", "module": "y"]])
            try shop.expectError(to: opened, "Item.gone")
            try shop.fail(call, "failed", "sorry")
            let root = try other.answer(to: asked)["root"]
            #expect(root == ["code": "Item.gone", "message": "gone", "module": "app:catalog"])
        }
    }

    @Test(.promise("9.40")) func theAppsEndEndsItsLinks() throws {
        try Self.run(Self.table(Self.two)) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let ids = [try shop.open("catalog://a"), try shop.open("maps://a")]
            let app = try Self.greeted(bus)
            let open = try app.expect(["kind": "open"])
            let maps = try bus.otherApp(1)
            _ = try maps.expect(["kind": "call", "to": "bus/hello"])
            bus.beginShutDown()
            for (id, ran) in zip(ids, ["maybe", "no"]) { try shop.expectError(to: id, "shutting-down", ran: ran) }
            try app.expect(["kind": "cancel", "id": open.number])
            try app.expectEnd("shutting-down")
            try maps.expectEnd("shutting-down")
        }
    }
}
