import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The protocol's section 9: a broker connects to 16 other apps at most.
@Suite(.timeLimit(.hang))
struct LinkBoundTests: AppLinkSuite {
    /// An open that another app has.
    private struct Opened {
        let app: RawPeer, frame: ReceivedFrame, id: UInt64
    }

    /// Runs a test in which `Shop` has opened a URL of each of 16 apps, and may open one of two more.
    private func full(_ test: (TestBus, RawPeer, [Opened]) throws -> Void) throws {
        let names = (0..<LinkTable.most + 2).map { "s\($0)" }
        let schemes = Dictionary(uniqueKeysWithValues: names.map { ($0, OtherApp(.name($0))) })
        try Self.run(Self.table(schemes)) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let opened = try (0..<LinkTable.most).map { index in
                let id = try shop.open("s\(index)://a")
                let app = try Self.greeted(bus, index)
                return Opened(app: app, frame: try app.expect(["kind": "open"]), id: id)
            }
            try test(bus, shop, opened)
        }
    }

    private func answer(_ opened: Opened, _ shop: RawPeer) throws {
        try opened.app.reply(to: opened.frame)
        try shop.expectReply(to: opened.id)
    }

    @Test(.promise("9.44")) func oneMoreIsRefusedWhileAllServe() throws {
        try full { _, shop, opened in
            let error = try shop.expectError(to: try shop.open("s16://a"), "overloaded", ran: "no")
            #expect(error.message == "16 other apps serve requests, the most at once: try again later")
            let can = try shop.asked("bus/canOpen", ["url": "s16://a"])
            #expect(can == ["open": false, "reason": "overloaded"])
            // Those that are connected serve on.
            let id = try shop.open("s3://b")
            try opened[3].app.reply(to: try opened[3].app.expect(["kind": "open", "url": "s3://b"]))
            try shop.expectReply(to: id)
        }
    }

    @Test(.promise("9.44")) func theLongestIdleIsClosedForOneMore() throws {
        try full { bus, shop, opened in
            for index in [5, 3, 4] {
                try answer(opened[index], shop)
                try opened[index].app.expectNothing(within: bus)
            }
            let id = try shop.open("s16://a")
            try opened[5].app.expectEnd()
            let app = try Self.greeted(bus, 16)
            try app.reply(to: try app.expect(["kind": "open"]))
            try shop.expectReply(to: id)
            // The next longest is another one, and not the one that has just served.
            _ = try shop.open("s17://a")
            try opened[3].app.expectEnd()
            #expect(!opened[4].app.hasEnded && !app.hasEnded)
            for served in opened where ![3, 4, 5].contains(where: { opened[$0].id == served.id }) {
                try answer(served, shop)
            }
        }
    }

    /// A connection that waits for the answer to hello has requests, so it isn't idle.
    @Test(.promise("9.44")) func oneThatIsGreetedIsNotClosed() throws {
        try full { bus, shop, opened in
            try answer(opened[7], shop)
            let waiting = try shop.open("s16://a")
            try opened[7].app.expectEnd()
            let app = try bus.otherApp(16)
            let hello = try app.expect(["kind": "call", "to": "bus/hello"])
            try shop.expectError(to: try shop.open("s17://a"), "overloaded", ran: "no")
            try app.reply(to: hello, ["limits": ["frame": 65_536, "header": 4_096]])
            try app.reply(to: try app.expect(["kind": "open"]))
            try shop.expectReply(to: waiting)
        }
    }

    @Test(.promise("9.44")) func anAppThatCanNotBeReachedCostsNoOtherItsConnection() throws {
        try full { bus, shop, opened in
            for served in opened { try answer(served, shop) }
            bus.reachesOtherApps(false)
            try shop.expectError(to: try shop.open("s16://a"), "unavailable", ran: "no")
            let ids = try opened.indices.map { try shop.open("s\($0)://b") }
            for (served, id) in zip(opened, ids) {
                try served.app.reply(to: try served.app.expect(["kind": "open"]))
                try shop.expectReply(to: id)
            }
        }
    }

    /// Those that have ended meanwhile don't count.
    @Test(.promise("9.41")) func asManyWaitForHelloAsForAModule() throws {
        try Self.run(Self.table { $0.limits.waiting = 2 }) { bus in
            let shop = try bus.provider("Shop", "Shop")
            let ids = [try shop.open("catalog://a"), try shop.open("catalog://b")]
            let error = try shop.expectError(to: try shop.open("catalog://c"), "overloaded", ran: "no")
            #expect(error.message == "2 requests wait for app:catalog already (limits.waiting): try later")
            try shop.cancel(ids[0])
            try shop.expectError(to: ids[0], "cancelled", ran: "no")
            let late = try shop.open("catalog://d")
            let app = try Self.greeted(bus)
            for (url, id) in [("catalog://b", ids[1]), ("catalog://d", late)] {
                try app.reply(to: try app.expect(["kind": "open", "url": .string(url)]))
                try shop.expectReply(to: id)
            }
        }
    }
}
