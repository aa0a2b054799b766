import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// Two apps with real launchers, brokers and modules: a module of `shop` opens URLs of `catalog`.
@Suite(.timeLimit(.hang))
struct OtherAppsTests {
    private let catalog: UpProcess
    private let shop: UpProcess

    init() throws {
        let module = try BuiltExecutable.path("StrataFixture")
        let user = try #require(getpwuid(geteuid())?.pointee.pw_name)
        catalog = try UpProcess(
            """
            app: catalog
            schemes: [catalog]
            openableBy: {users: ["\(String(cString: user))"], level: topout}
            modules:
              Base:
                run: [\(module)]
                provides: [Base]
                urls:
                  show/:what: {to: Base/echo, public: true}
                  ticks: {to: Base/ticks, public: true}
                  hang: {to: Base/hang, public: true}
                  secret: Base/facts
            """)
        // The other app may take long to start.
        shop = try UpProcess(
            """
            app: shop
            hello: 1h
            modules:
              Top: {run: [\(module)], provides: [Top], opens: {catalog: {socket: \(catalog.socket)}}}
              Hand: {start: manual, opens: {catalog: {socket: \(catalog.socket)}}}
            """)
    }

    private func start(_ app: UpProcess, passed: Int32? = nil) throws {
        let isReady = { (line: String) in line.contains("ready after") }
        let before = app.lines.count(where: isReady)
        try app.start(passed: passed)
        try app.until { app.lines.count(where: isReady) > before }
    }

    private func end(_ app: UpProcess) throws {
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
    }

    /// Ends the other app. After two round trips the shop's broker knows that the connection is gone.
    private func endCatalog(_ peer: RawPeer) throws {
        try end(catalog)
        for _ in 1...2 { try peer.settle() }
    }

    private func tool() throws -> RawPeer {
        let tool = try RawPeer(path: shop.socket, label: "tool")
        try tool.hello(role: "operator")
        return tool
    }

    /// Connects a module of the shop that the test plays.
    private func hand() throws -> RawPeer {
        let hand = try RawPeer(path: shop.socket, label: "Hand", answersLifecycle: true)
        try hand.hello("Hand")
        try hand.becomeReady()
        return hand
    }

    /// Returns the code that a module of the shop got for opening a URL.
    private func refusal(_ tool: RawPeer, _ url: String) throws -> JSON? {
        try tool.answer(to: try tool.call("Top/open", ["url": .string(url)]))["root"]?["code"]
    }

    @Test(.promise("9.40", "9.41", "5.47")) func aModuleOpensURLsOfAnAppThatComesAndGoes() throws {
        defer { for app in [shop, catalog] { app.cleanUp() } }
        try start(shop)
        let tool = try tool()
        #expect(try refusal(tool, "catalog://show/7") == "unavailable")
        for _ in 1...2 {
            try start(catalog)
            #expect(try tool.asked("Top/open", ["url": "catalog://show/7"]) == ["what": "7"])
            #expect(try refusal(tool, "catalog://secret") == "forbidden")
            #expect(try refusal(tool, "catalog://nothing") == "forbidden")
            #expect(try refusal(tool, "elsewhere://nothing") == "unknown-scheme")
            try endCatalog(tool)
            #expect(try refusal(tool, "catalog://show/7") == "unavailable")
        }
        try end(shop)
    }

    @Test(.promise("9.40", "9.42", "6.21")) func streamsAndCancelsGoFromAppToApp() throws {
        defer { for app in [shop, catalog] { app.cleanUp() } }
        try start(catalog)
        try start(shop)
        let hand = try hand()
        let id = try hand.open("catalog://ticks", ["credit": 3, "deadline": 0])
        let part: JSON = ["kind": "reply", "id": .integer(Int64(id)), "more": true]
        for _ in 1...3 { try hand.expect(part, body: true) }
        try hand.expectNothing()
        try hand.credit(id, 2)
        for _ in 1...2 { try hand.expect(part, body: true) }
        #expect(!catalog.said("ticks end"))
        // With credit left, the stream is cancelled while it runs.
        try hand.credit(id, 1_000_000)
        try hand.cancel(id)
        try hand.expectError(to: id, "cancelled", ran: "maybe")
        try catalog.until { catalog.said("ticks end") }
        // So does the end of the module, and its death isn't the end of the connection.
        let hanging = try hand.open("catalog://hang")
        let there = try RawPeer(path: catalog.socket, label: "catalog's tool")
        try there.hello(role: "operator")
        let row = try there.asked("bus/modules")["modules"]?.array?.first
        let pid = Int32(try #require(row?["pid"]?.integer))
        try catalog.until { (try? there.asked("bus/modules")["modules"]?.array?.first?["open"]) == 1 }
        kill(pid, SIGKILL)
        let died = try hand.expectError(to: hanging, "died", ran: "maybe")
        #expect(!died.message.contains("Base"), "\(died.message)")
        let again = try hand.open("catalog://show/8")
        try hand.expectReply(to: again, body: ["what": "8"])
        for app in [shop, catalog] { try end(app) }
    }

    /// A service manager's socket, whose app starts when the first connection comes.
    @Test(.promise("1.20", "9.40", "M.89")) func anAppThatStartsOnItsFirstConnectionIsWaitedFor() throws {
        defer { for app in [shop, catalog] { app.cleanUp() } }
        let listening = DatagramServer.listener(path: catalog.socket)
        defer { close(listening) }
        try start(shop)
        let hand = try hand()
        let id = try hand.open("catalog://show/7", ["deadline": 86_400_000])
        var wanted = pollfd(fd: listening, events: Int16(POLLIN), revents: 0)
        try shop.until { poll(&wanted, 1, 0) == 1 }
        try start(catalog, passed: listening)
        try hand.expectReply(to: id, body: ["what": "7"])
        // The next one has the same socket, and the open waits in between.
        try endCatalog(hand)
        let next = try hand.open("catalog://show/8", ["deadline": 86_400_000])
        try shop.until { poll(&wanted, 1, 0) == 1 }
        try start(catalog, passed: listening)
        try hand.expectReply(to: next, body: ["what": "8"])
        for app in [catalog, shop] { try end(app) }
    }
}
