import StrataCore
import StrataTesting
import TestSupport
import Testing

/// The rest of a path, and the host that takes what is left.
@Suite struct URLRestTests {
    private static func table(_ patterns: [(host: String, path: String)]) throws -> URLTable<String> {
        var table = URLTable<String>()
        for (host, path) in patterns { try table.add(URLPattern(path), host: host, value: host + path) }
        return table
    }

    private static func resolve<Value>(_ url: String, in table: URLTable<Value>) throws(BusURLError) -> URLMatch<Value>
    {
        try table.resolve(try BusURL(url), schemes: ["m"])
    }

    @Test(
        .promise("9.15"),
        arguments: [
            ("/files/a", #"{"path":"a"}"#), ("/files/a/b/c", #"{"path":"a/b/c"}"#), ("/files/a/b/", #"{"path":"a/b"}"#),
            ("/files/a%20b/%2F/%C3%A9/%61", #"{"path":"a%20b/%2F/%C3%A9/%61"}"#),
            ("/files/../*/:x", #"{"path":"../*/:x"}"#), (#"/files/"/\"#, #"{"path":"\"/\\"}"#),
            ("/files/a?path=1&p=2&path=3#f/g", #"{"path":"a","p":"2"}"#), ("/files/a/?p=/b", #"{"path":"a","p":"/b"}"#),
            ("/f%69les/a", #"{"path":"a"}"#),
            ("/7/deep/a/b?id=1&rest=2&x=3", #"{"id":"7","rest":"a/b","x":"3"}"#),
            ("/files", nil), ("/files/", nil), ("/files//", nil), ("/files//a", nil), ("/files/a//", nil),
            ("/files/a//b", nil), ("/other/a", nil), ("/7/deep", nil), ("/files/%", nil),
        ] as [(String, String?)])
    func aRestIsTheRawPathWithoutItsTrailingSlash(_ path: String, _ body: String?) throws {
        let table = try Self.table([("h", "/files/*path"), ("h", "/:id/deep/*rest")])
        let found = try? Self.resolve("m://h" + path, in: table)
        #expect(found.map { String(decoding: $0.body(), as: UTF8.self) } == body)
    }

    @Test(.promise("9.15")) func aRestMayHaveManyMoreSegmentsThanAnyPattern() throws {
        let longest = String(repeating: "/:s", count: 63).split(separator: "/").enumerated()
            .map { "/\($1)\($0)" }.joined()
        let table = try Self.table([("h", longest + "/*rest"), ("h", "/*all")])
        for count in [1, 63, 64, 65, 5_000] {
            let path = String(repeating: "/%61", count: count)
            let found = try Self.resolve("m://h" + path, in: table)
            #expect(found.value == (count < 64 ? "h/*all" : "h" + longest + "/*rest"))
            let rest = String(decoding: found.body(), as: UTF8.self)
            #expect(rest.hasSuffix("\(path.dropFirst(1 + (count < 64 ? 0 : 63 * 4)))\"}"), "\(count)")
        }
    }

    @Test(
        .promise("9.16"),
        arguments: [
            ("/a", "/a"), ("/x", "/:one"), ("/a/b", "/a/b"), ("/a/x", "/a/:two"), ("/a/b/c", "/a/*rest"),
            ("/x/b", "/:one/b"), ("/x/y", "/:one/*rest"), ("/x/b/c", "/:one/*rest"), ("/a/x/c/d", "/a/*rest"),
            ("/a/b/d", "/a/b/*rest/"), ("/q/1/2", "/q/:n/*rest"), ("/q/1", "/q/:n"), ("/r/1/2/3", "/r/*rest"),
            ("/r/1/2", "/r/:n/2"),
        ])
    func literalBeatsBoundBeatsRest(_ path: String, _ expected: String) throws {
        var patterns = [
            "/a", "/:one", "/a/b", "/a/:two", "/a/*rest", "/:one/b", "/:one/*rest", "/*rest", "/q/:n/*rest", "/q/:n",
            "/r/*rest", "/r/:n/2",
        ]
        if path == "/a/b/d" { patterns.append("/a/b/*rest/") }
        for patterns in [patterns, patterns.reversed()] {
            let table = try Self.table(patterns.map { ("h", $0) })
            #expect(try Self.resolve("m://h" + path, in: table).value == "h" + expected)
        }
    }

    @Test(
        .promise("9.17"),
        arguments: [
            ("m://h/a", "h/a"), ("m://h/b", "*/:any"), ("m://h/b/c", "*/*path"), ("m://other/a", "*/:any"),
            ("m://*/a", "*/:any"), ("m://other", nil), ("m://a*/a", "a*/a"), ("m://a*/b", "*/:any"),
            ("m://aa/a", "*/:any"), ("n://other/a", nil),
        ] as [(String, String?)])
    func theHostStarTakesWhatNothingElseTook(_ url: String, _ expected: String?) throws {
        let table = try Self.table([("h", "/a"), ("*", "/:any"), ("*", "/*path"), ("a*", "/a")])
        #expect((try? Self.resolve(url, in: table))?.value == expected)
    }

    @Test(.promise("9.17")) func aHostIsUnknownOnlyWithoutTheHostStar() throws {
        func code(_ url: String, _ table: URLTable<String>) -> BusURLError? {
            do throws(BusURLError) { _ = try Self.resolve(url, in: table) } catch { return error }
            return nil
        }
        var table = try Self.table([("h", "/a"), ("*", "/b")])
        #expect(code("m://h/c", table)?.code == .unknownPath)
        #expect(code("m://other/c", table)?.code == .unknownPath)
        #expect(code("m://other/c", table)?.message.contains(#"nor for "*"; it has "/b""#) == true)
        try table.remove(URLPattern("/b"), host: "*")
        #expect(code("m://other/c", table)?.code == .unknownHost)
        #expect(code("m://h/c", table)?.code == .unknownPath)
    }

    @Test(
        .promise("9.19"),
        arguments: [
            "/*", "/*/", "/*/a", "/a/*", "/*9", "/**", "/**a", "/*a*", "/a*", "/a*b", "/*a%20", "/*%61", "/*a/b",
            "/*a/*b",
            "/*a/:b", "/:a*", "/:a/*a", "/:*", "/%2A*", "/*" + String(repeating: "a", count: 65),
        ])
    func aStarElsewhereIsRefusedWithAdvice(_ text: String) {
        let error = #expect(throws: BusURLError.self) { try URLPattern(text) }
        #expect(error?.code == .badParams && error?.message.contains("%2A") == true, "\(error?.message ?? "")")
    }

    // MARK: The bound

    /// Returns a path of a shape: `:b3` for a bound segment, else `a`.
    private static func path(_ shape: [Bool]) -> String { shape.enumerated().map { $1 ? "/a" : "/:b\($0)" }.joined() }

    private static func shape(_ number: Int, _ count: Int) -> [Bool] { (0..<count).map { number & 1 << $0 != 0 } }

    @Test(.promise("9.18")) func oneShapeWithARestTooManyIsRefused() throws {
        func pattern(_ number: Int) throws -> URLPattern { try URLPattern(Self.path(Self.shape(number, 9)) + "/*rest") }
        var table = URLTable<Int>()
        for number in 0..<URLShape.most { try table.add(pattern(number), host: "h", value: number) }
        let more = try pattern(URLShape.most)
        let error = #expect(throws: BusURLError.self) { try table.add(more, host: "h", value: 0) }
        #expect(error?.code == .overloaded && error?.message.contains("before a rest") == true)
        // Rests of any length count together, and patterns without one don't count.
        #expect(throws: BusURLError.self) { try table.add(URLPattern("/*rest"), host: "h", value: 0) }
        try table.add(URLPattern(Self.path(Self.shape(7, 10))), host: "h", value: 0)
        try table.add(more, host: "*", value: 0)
        // What comes together is counted together, and a removed one makes room.
        table.remove(try pattern(3), host: "h")
        let coming = try [pattern(3), more].map { (host: "h", pattern: $0) }
        #expect(table.firstBeyondLimit(of: coming.prefix(1)) == nil)
        #expect(table.firstBeyondLimit(of: coming)?.pattern.form == more.form)
        // A row's patterns are always accepted.
        try table.replace(pattern(3), host: "h", value: 3)
        try table.replace(more, host: "h", value: 1)
    }

    @Test(.promise("9.18")) func allRestsOfEightSegmentsHaveRoom() throws {
        var table = URLTable<Int>()
        for count in 0..<8 {
            for number in 0..<(1 << count) {
                try table.add(URLPattern(Self.path(Self.shape(number, count)) + "/*rest"), host: "h", value: 0)
            }
        }
        #expect(table.count == 255)
    }

    /// As many patterns as sessions and rows can have together, none of which matches, at the URL's
    /// host and at `*`.
    @Test(.promise("9.18")) func aURLTakesAtMost2048LookUps() throws {
        var table = URLTable<Int>()
        var random = SeededGenerator(1)
        var shapes: Set<[Bool]> = []
        while shapes.count < 2 * URLShape.most { shapes.insert((0..<62).map { _ in Bool.random(using: &random) }) }
        for host in ["h", "*"] {
            for shape in shapes {
                try table.replace(URLPattern(Self.path(shape) + "/x/y"), host: host, value: 1)
                try table.replace(URLPattern(Self.path(shape) + "/x/*rest"), host: host, value: 2)
            }
        }
        let path = String(repeating: "/a", count: 62)
        #expect(try table.lookUps(BusURL("m://h\(path)/none/y")) == 8 * URLShape.most)
        #expect(try table.lookUps(BusURL("m://other\(path)/none/y")) == 4 * URLShape.most)
        #expect(try table.lookUps(BusURL("m://*\(path)/none/y")) == 4 * URLShape.most)
        #expect(try table.lookUps(BusURL("m://h\(path)/none/y/z")) == 4 * URLShape.most)
        #expect(try table.lookUps(BusURL("m://h\(path)")) == 0)
        #expect(try table.lookUps(BusURL("m://h\(path)//none/y")) == 0)
        // An exact match is found first, and only a better rest is then looked for.
        let all = try table.lookUps(BusURL("m://h\(path)/x/y"))
        #expect(all == 1)
    }
}
