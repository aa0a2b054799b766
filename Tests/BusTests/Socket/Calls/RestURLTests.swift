import StrataCore
import StrataTesting
import TestSupport
import Testing

/// The protocol's section 9: the rest of a path, and the host that takes what is left.
@Suite(.timeLimit(.hang))
struct RestURLTests {
    private static func url(_ host: String, _ path: String, _ to: String = "Shop/show") -> JSON {
        ["host": .string(host), "path": .string(path), "to": .string(to)]
    }

    @Test(.promise("5.38")) func everyPeerIsToldOfTheFeatures() throws {
        try MemoryBus.run(.sixModules()) { bus in
            for hello: JSON in [["module": "Ant"], ["role": "operator"], ["role": "launcher"]] {
                let peer = try bus.connect()
                let members = [JSON.Member("protocol", 1)] + (hello.object ?? [])
                let id = try peer.call("bus/hello", .object(members))
                #expect(
                    try peer.expectReply(to: id).json["features"] == [
                        "rest-urls", "contracts", "settings", "patterns", "retain", "replicas", "descriptors", "memory",
                    ])
            }
        }
    }

    @Test(
        .promise("9.15"),
        arguments: [
            ("test://shop/files/a", ["path": "a"]), ("test://shop/files/a/b%20c/", ["path": "a/b%20c"]),
            ("test://shop/files/a/b?path=x&q=1", ["path": "a/b", "q": "1"]),
        ] as [(String, JSON)])
    func aRestIsAMemberOfTheBody(url: String, params: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Cat", "Shop", ["urls": [Self.url("shop", "/files/*path")]])
            let caller = try bus.module("Ant")
            let id = try caller.open(url)
            let call = try owner.expectCall("Shop/show", nil, ["url": .string(url)])
            #expect(call.json == params)
            try owner.reply(to: call, 1)
            try caller.expectReply(to: id, body: 1)
            try caller.expectError(to: try caller.open("test://shop/files/"), "unknown-path", ran: "no")
            try caller.expectError(to: try caller.open("test://shop/files/a//b"), "unknown-path", ran: "no")
        }
    }

    @Test(.promise("9.16", "9.17")) func theHostStarHasTheLastWord() throws {
        let table = AppTable.testing(
            .manual("Ant"),
            .manual("Bee", provides: ["Row"]) { row in
                row.urls = [.init(host: "*", path: "/*all", to: "Row/act")]
            })
        try MemoryBus.run(table) { bus in
            let other = try bus.provider(
                "Ant", "Shop", ["urls": [Self.url("shop", "/a/:b"), Self.url("shop", "/a/*rest")]])
            // The host `*` belongs to its row like any host.
            try other.refused("bus/register", ["urls": [Self.url("*", "/*other")]], with: "forbidden")
            try other.asked("bus/register", ["urls": [Self.url("*", "/own/:way")]])
            let row = try bus.provider("Bee", "Row")
            for (url, to, params) in [
                ("test://shop/a/1", "Shop/show", ["b": "1"]), ("test://shop/a/1/2", "Shop/show", ["rest": "1/2"]),
                ("test://any/own/1", "Shop/show", ["way": "1"]),
            ] as [(String, String, JSON)] {
                try row.open(url)
                #expect(try other.expectCall(to, nil, ["url": .string(url)]).json == params)
            }
            for url in ["test://shop/b", "test://any/a/b", "test://any/own/1/2", "test://*/x"] {
                try other.open(url)
                let params: JSON = ["all": .string(url.split(separator: "/").dropFirst(2).joined(separator: "/"))]
                #expect(try row.expectCall("Row/act", nil, ["url": .string(url)]).json == params)
                #expect(
                    try other.asked("bus/canOpen", ["url": .string(url)])
                        == ["open": true, "to": "Row/act", "module": "Bee"])
            }
            try other.expectError(to: try other.open("test://any/"), "unknown-path", ran: "no")
            try other.expectError(to: try other.open("none://any/x"), "unknown-scheme", ran: "no")
            let listed = try other.asked("bus/interfaces")["interfaces"]?.array?.first { $0["name"] == "Row" }
            #expect(listed?["urls"] == [["host": "*", "path": "/*all", "to": "Row/act"]])
        }
    }

    @Test(.promise("9.17")) func withoutTheHostStarAHostIsUnknown() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.provider("Cat", "Shop", ["urls": [Self.url("a*", "/")]])
            let star: JSON = ["urls": [Self.url("*", "/only")]]
            try owner.expectError(to: try owner.open("test://ab/"), "unknown-host", ran: "no")
            try owner.asked("bus/register", star)
            try owner.expectError(to: try owner.open("test://ab/"), "unknown-path", ran: "no")
            try owner.asked("bus/unregister", star)
            try owner.expectError(to: try owner.open("test://ab/only"), "unknown-host", ran: "no")
        }
    }

    @Test(.promise("9.19"), arguments: ["/*", "/*a/b", "/a*", "/**", "/:a*", "/:a/*a", "/*9"])
    func aStarElsewhereIsBadParams(path: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.provider("Ant", "Shop")
            let id = try peer.call("bus/register", ["urls": [Self.url("shop", path)]])
            let error = try peer.expectError(to: id, "bad-params", ran: "no")
            #expect(error.header["message"]?.string?.contains("%2A") == true)
            let other = try bus.connect()
            let hello = try other.sendHello(
                "Bee", ["interfaces": ["Two": [:]], "urls": [Self.url("s", path, "Two/a")]])
            try other.expectRefusal(of: hello, "bad-params")
        }
    }

    @Test(.promise("9.8", "9.18")) func restsShareTheirLimitAndTheirNamesDontMatter() throws {
        try MemoryBus.run(.sixModules()) { bus in
            func url(_ number: Int) -> JSON {
                Self.url("shop", (0..<9).map { number & 1 << $0 == 0 ? "/:b\($0)" : "/a" }.joined() + "/*rest")
            }
            let peer = try bus.provider("Ant", "Shop", ["urls": .array((0..<256).map(url))])
            let id = try peer.call("bus/register", ["urls": [url(256)]])
            #expect(try peer.expectError(to: id, "overloaded").header["message"]?.string?.contains("rest") == true)
            let other = try bus.provider("Bee", "Other")
            let same = Self.url("shop", String(repeating: "/a", count: 8) + "/:b/*left", "Other/show")
            try other.refused("bus/register", ["urls": [same]], with: "name-taken")
            try other.asked("bus/register", ["urls": [Self.url("*", "/*rest", "Other/show")]])
            try other.open("test://shop" + String(repeating: "/a", count: 8) + "/x/rest/of%20it")
            let call = try peer.expectCall("Shop/show")
            #expect(call.json["rest"] == "rest/of%20it" && call.json["b8"] == "x")
        }
    }
}
