import StrataCore
import Testing

/// A `"` or a `\` in JSON would make these tables unreadable, so `'` stands for `"`.
private func json(_ text: String) -> String {
    String(text.map { $0 == "'" ? "\"" : $0 })
}

private func table(_ patterns: [String], host: String = "h") throws -> URLTable<String> {
    var table = URLTable<String>()
    for pattern in patterns { try table.add(URLPattern(pattern), host: host, value: pattern) }
    return table
}

private func code<T>(_ body: () throws(BusURLError) -> T) -> String? {
    do {
        _ = try body()
        return nil
    } catch {
        return error.code.rawValue
    }
}

extension URLTable {
    fileprivate func resolve(_ url: String) throws(BusURLError) -> URLMatch<Value> {
        try resolve(try BusURL(url), schemes: ["moments", "Web+App"])
    }
}

@Suite struct URLTests {
    @Test(
        .promise("9.1"),
        arguments: [
            ("moments://h", "moments", "h", [], []),
            ("moments://h/", "moments", "h", [], []),
            ("moments://h?", "moments", "h", [], []),
            ("moments://h/?#", "moments", "h", [], []),
            ("moments://h#f?a&&=/%20", "moments", "h", [], []),
            ("MoMents://Com.Example.H/Show", "moments", "com.example.h", ["Show"], []),
            ("a1+-.://h", "a1+-.", "h", [], []),
            ("m://h/a/b/", "m", "h", ["a", "b"], []),
            ("m://h//", "m", "h", ["", ""], []),
            ("m://h//a", "m", "h", ["", "a"], []),
            ("m://h/a//", "m", "h", ["a", "", ""], []),
            ("m://h/a//b/", "m", "h", ["a", "", "b"], []),
            ("m://h///", "m", "h", ["", "", ""], []),
            ("m://h/./../a", "m", "h", [".", "..", "a"], []),
            ("m://h/a%2Fb/%2e%2E", "m", "h", ["a/b", ".."], []),
            ("m://h/%253A/+", "m", "h", ["%3A", "+"], []),
            ("m://h/%C3%A9%c3%a9/%00/%F0%9F%98%80", "m", "h", ["éé", "\0", "😀"], []),
            ("m://h/a:b@c://d", "m", "h", ["a:b@c:", "", "d"], []),
            ("m://h/\"<>[\\]^`{|}", "m", "h", ["\"<>[\\]^`{|}"], []),
            ("m://h/%2F/", "m", "h", ["/"], []),
            ("m://h?a", "m", "h", [], ["a="]),
            ("m://h?a=", "m", "h", [], ["a="]),
            ("m://h/p?a=1&b=2&a=3", "m", "h", ["p"], ["a=1", "b=2", "a=3"]),
            ("m://h?a==b=&c=d+e", "m", "h", [], ["a==b=", "c=d+e"]),
            ("m://h?%61%3D=%26%3d", "m", "h", [], ["a==&="]),
            ("m://h?a?b=/c?:@//", "m", "h", [], ["a?b=/c?:@//"]),
            ("m://h?a#b=&&#%", "m", "h", [], nil),
            ("m://h?a#b=&&#", "m", "h", [], ["a="]),
            ("m://a\"b!$&'()*+,;=[]\\", "m", "a\"b!$&'()*+,;=[]\\", [], []),
        ] as [(String, String, String, [String], [String]?)])
    func urlsAreSplit(
        _ text: String, _ scheme: String, _ host: String, _ segments: [String], _ query: [String]?
    ) throws {
        guard let query else {
            #expect(code { () throws(BusURLError) in try BusURL(text) } == "bad-url")
            return
        }
        let url = try BusURL(text)
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.segments.map { Array($0.bytes) } == segments.map { Array($0.utf8) })
        #expect(url.query.map { "\($0.key.string)=\($0.value.string)" } == query)
    }

    /// The message shows that each URL is refused for its own reason.
    @Test(
        .promise("9.2"),
        arguments: [
            ("", "://"), ("moments", "://"), ("moments:", "://"), ("moments:/h", "://"), ("moments:h//", "://"),
            ("://h", "no scheme"), ("//h", "://"), ("/a://h", "scheme"), ("1a://h", "scheme"),
            ("a_b://h", "scheme"), ("m%20://h", "scheme"), ("a:b://h", "scheme"), ("+a://h", "scheme"),
            ("m?a://h", "scheme"), ("m#://h", "scheme"),
            ("m://", "no host"), ("m:///a", "no host"), ("m://?a", "no host"), ("m://#a", "no host"),
            ("m://u@h", "user"), ("m://@h", "user"), ("m://u:p@h", "user"), ("m://u%40@h/", "user"),
            ("m://h:80/", "port"), ("m://h:", "port"), ("m://:80", "port"), ("m://[::1]/", "port"),
            ("m://h%41/", "escape in its host"), ("m://%/", "escape in its host"),
            ("m://h/ ", "0x20"), ("m://h/\u{7F}", "0x7F"), ("m://h/é", "0xC3"), ("m://h#\t", "0x9"),
            ("m://h/a\n", "0xA"), (" m://h", "0x20"), ("m://h?\0", "0x0"),
            ("m://h/%", "bad escape \"%\""), ("m://h/%2", "bad escape \"%2\""), ("m://h/%2/a", "bad escape \"%2\""),
            ("m://h/%G0", "bad escape \"%G0\""), ("m://h/%0g", "bad escape"), ("m://h/%%20", "bad escape"),
            ("m://h?a%=1", "bad escape"), ("m://h?a=%1", "bad escape"), ("m://h?a=%1&b0", "bad escape"),
            ("m://h#%", "bad escape"), ("m://h?a=1#%zz", "bad escape"), ("m://h/%+1", "bad escape"),
            ("m://h/%C3", "UTF-8"), ("m://h/%C3/%A9", "UTF-8"), ("m://h/%80", "UTF-8"), ("m://h/%C0%80", "UTF-8"),
            ("m://h/%ED%A0%80", "UTF-8"), ("m://h/%F4%90%80%80", "UTF-8"), ("m://h/%FF", "UTF-8"),
            ("m://h?%C3=%A9", "UTF-8"), ("m://h?a=%C3&%A9", "UTF-8"), ("m://h#%C3", "UTF-8"),
            ("m://h?a=%E2%82", "UTF-8"),
            ("m://h?&", "empty pair"), ("m://h?a&", "empty pair"), ("m://h?&a", "empty pair"),
            ("m://h?a&&b", "empty pair"),
            ("m://h?=", "empty key"), ("m://h?=a", "empty key"), ("m://h?a&=b", "empty key"), ("m://h?==", "empty key"),
        ] as [(String, String)])
    func badURLsAreRefusedForTheirReason(_ text: String, _ reason: String) {
        let error = #expect(throws: BusURLError.self) { try BusURL(text) }
        #expect(error?.code == .badURL)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(.promise("9.1")) func everyByteOutsideTheAllowedOnesIsRefusedEverywhere() {
        for byte in UInt8.min...UInt8.max {
            for url in ["m://h/%", "m://h?a=%b", "m://h#%"] {
                let bytes = url.utf8.map { $0 == UInt8(ascii: "%") ? byte : $0 }
                let result = bytes.withUnsafeBytes { buffer in
                    code { () throws(BusURLError) in try BusURL(buffer) }
                }
                let isEscape = byte == UInt8(ascii: "%")
                #expect(result == ((0x21...0x7E).contains(byte) && !isEscape ? nil : "bad-url"))
            }
        }
    }

    @Test(
        .promise("9.3"),
        arguments: [
            ("moments//h", "bad-url"), ("other://h/?=", "bad-url"), ("other://x/nowhere", "unknown-scheme"),
            ("moments://x/a#%", "bad-url"), ("moments://x/b", "unknown-host"), ("moments://h/b", "unknown-path"),
            ("moments://h/a", nil), ("MOMENTS://H/a", nil), ("web+app://h/a", nil), ("moments://h/A", "unknown-path"),
            ("moments://h", "unknown-path"), ("moment://h/a", "unknown-scheme"),
        ] as [(String, String?)])
    func judgementsComeInTheirOrder(_ url: String, _ expected: String?) throws {
        let table = try table(["/a"])
        #expect(code { () throws(BusURLError) in try table.resolve(url) } == expected)
        let bytes = Array(url.utf8)
        bytes.withUnsafeBytes { buffer in
            #expect(
                code { () throws(BusURLError) in
                    try table.resolve(buffer, schemes: ["moments", "Web+App"])
                } == expected)
        }
    }

    @Test(
        .promise("9.4", "9.5"),
        arguments: [
            ("/", "/"), ("", "/"), ("//", nil), ("/a", "/a"), ("/a/", "/a"), ("/a//", nil), ("//a", nil),
            ("/x", "/:one"), ("/x/", "/:one"), ("/a/b", "/a/b"), ("/a/c", "/a/:two"), ("/x/b", "/:one/b"),
            ("/x/c", "/:one/:two"), ("/a/", "/a"), ("/a//b", nil), ("/a/b/c", nil), ("/a/x/d", "/a/:two/d"),
            ("/x/b/d", "/:one/b/d"), ("/a/b/d", "/a/:two/d"), ("/x/y/d", nil), ("/%61", "/a"), ("/%3Aone", "/%3Aone"),
            ("/:one", "/%3Aone"), ("/a%2Fb", "/:one"), ("/e%CC%81", "/e%CC%81"), ("/%C3%A9", "/:one"),
            ("/s/t", "/s/t/"), ("/s/t/", "/s/t/"), ("/%2525", "/%2525"), ("/%25", "/:one"),
        ] as [(String, String?)])
    func theBestMatchIsFound(_ path: String, _ expected: String?) throws {
        let patterns = [
            "/", "/a", "/:one", "/a/b", "/a/:two", "/:one/b", "/:one/:two", "/a/:two/d", "/:one/b/d",
            "/%3Aone", "/e%CC%81", "/s/t/", "/%2525",
        ]
        for patterns in [patterns, patterns.reversed()] {
            let table = try table(patterns)
            let found = try? table.resolve("moments://h" + path)
            #expect(found?.value == expected)
            #expect(found?.pattern.text == expected)
        }
    }

    @Test(.promise("9.4")) func anEmptySegmentMatchesNoBoundOne() throws {
        let table = try table(["/:a", "/:a/:b", "/:a/:b/:c"])
        for path in ["", "/", "//", "/x//", "//x", "/x//y", "///"] {
            #expect(code { () throws(BusURLError) in try table.resolve("moments://h" + path) } == "unknown-path")
        }
    }

    @Test(
        .promise("9.11"),
        arguments: [
            ("", "{}"), ("/?", "{}"), ("?a", "{'a':''}"), ("?a=&b=+&c=%2B%20", "{'a':'','b':'+','c':'+ '}"),
            ("?a=1&b=2&a=3&a=", "{'a':['1','3',''],'b':'2'}"), ("?b=1&%61=2&a=3&b=4", "{'b':['1','4'],'a':['2','3']}"),
            ("/show/7", "{'tip':'7'}"), ("/show/7?z=1&tip=8&y=2&tip=9", "{'tip':'7','z':'1','y':'2'}"),
            ("/show/7?%74ip=8", "{'tip':'7'}"), ("/show/7?Tip=8", "{'tip':'7','Tip':'8'}"),
            ("/z/1/y/2?a=3", "{'z':'1','y':'2','a':'3'}"),
            ("/show/a%2Fb#x=1", "{'tip':'a/b'}"),
            ("?%C3%A9=1&e%CC%81=2", "{'é':'1','e\u{301}':'2'}"),
            ("?a=%22%5C%2F%08%09%0A%0C%0D%00%1F%7F", "{'a':'\\'\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\u{7F}'}"),
            ("?%22=%F0%9F%98%80&%00=1", "{'\\'':'😀','\\u0000':'1'}"),
            ("?tip=1&tip=2", "{'tip':['1','2']}"), ("?__proto__=1", "{'__proto__':'1'}"),
        ])
    func theBodyIsOneObjectOfAllParameters(_ url: String, _ expected: String) throws {
        let table = try table(["/", "/show/:tip", "/z/:z/y/:y"])
        let match = try table.resolve("moments://h" + url)
        #expect(match.body() == Array(json(expected).utf8), "\(String(decoding: match.body(), as: UTF8.self))")
        var appended: [UInt8] = [1]
        match.appendBody(to: &appended)
        #expect(appended == [1] + match.body())
    }

    @Test(
        arguments: [
            ("/", [], []), ("/show/:tip", ["show"], ["tip"]), ("/show/:tip/", ["show"], ["tip"]),
            ("/:_a/:b.c-d9", [], ["_a", "b.c-d9"]), ("/%3Aa/b:c/%253A", [":a", "b:c", "%3A"], []),
            ("/%2F/%C3%A9", ["/", "é"], []), ("/:a/a", ["a"], ["a"]), ("/./..", [".", ".."], []),
            ("/:a/:A", [], ["a", "A"]), ("/a=b&c", ["a=b&c"], []),
            (String(repeating: "/a", count: 64), Array(repeating: "a", count: 64), []),
            ("/files/*path", ["files"], ["*path"]), ("/*_a.b-9/", [], ["*_a.b-9"]), ("/:a/*A", [], ["a", "*A"]),
            ("/%2Aall/a%2Ab/%2A", ["*all", "a*b", "*"], []),
        ] as [(String, [String], [String])])
    func patternsAreSplit(_ text: String, _ literals: [String], _ bound: [String]) throws {
        let segments = try URLPattern(text).segments
        var found: (literals: [String], bound: [String]) = ([], [])
        for segment in segments {
            switch segment {
            case .literal(let text): found.literals.append(text.string)
            case .bound(let name): found.bound.append(name.string)
            case .rest(let name): found.bound.append("*" + name.string)
            }
        }
        #expect(found.literals == literals)
        #expect(found.bound == bound)
    }

    @Test(
        .promise("9.9"),
        arguments: [
            ("", "start"), ("show", "start"), (":a", "start"), ("//", "empty segment"), ("/a//b", "empty segment"),
            ("//a", "empty segment"), ("/a//", "empty segment"), ("/:a/:a", "twice"), ("/:a/b/:c/:a/", "twice"),
            ("/:", "binds"), ("/:/a", "binds"), ("/:9", "binds"), ("/:a%20", "binds"), ("/::a", "binds"),
            ("/:a*", "binds"), ("/:" + String(repeating: "a", count: 65), "binds"),
            ("/%", "escape"), ("/%4", "escape"), ("/%zz", "escape"), ("/%C3", "UTF-8"), ("/%C3/%A9", "UTF-8"),
            ("/a b", "0x20"), ("/é", "0xC3"), ("/a\0", "0x0"), ("/a?b", "\"?\""), ("/a#b", "\"#\""),
            (String(repeating: "/a", count: 65), "segments"), ("/" + String(repeating: "a", count: 4_096), "4096"),
        ])
    func badPatternsAreRefusedForTheirReason(_ text: String, _ reason: String) {
        let error = #expect(throws: BusURLError.self) { try URLPattern(text) }
        #expect(error?.code == .badParams)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        .promise("9.8"),
        arguments: [
            ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/%61", true), ("/:a", "/:b", true),
            ("/:a/x/:b", "/:b/x/:a", true), ("/*a", "/*b/", true), ("/:a/*b", "/:b/*a", true), ("/*a", "/:a", false),
            ("/*a", "/%2Aa", false), ("/*a", "/:b/*a", false), ("/x/*a", "/:x/*a", false), ("/*a", "/", false),
            ("/", "/", true), ("/a", "/b", false), ("/:a", "/a", false), ("/:a", "/%3Aa", false), ("/a", "/a/b", false),
            ("/a", "/A", false), ("/%C3%A9", "/e%CC%81", false), ("/a/b", "/a%2Fb", false),
        ])
    func equalPatternsAreTakenForOneHost(_ one: String, _ other: String, _ isSame: Bool) throws {
        var table = URLTable<Int>()
        let (first, second) = (try URLPattern(one), try URLPattern(other))
        #expect(first.matchesSame(as: second) == isSame)
        try table.add(first, host: "Com.example", value: 1)
        try table.add(second, host: "example", value: 2)
        #expect(
            code { () throws(BusURLError) in try table.add(second, host: "com.Example", value: 3) }
                == (isSame ? "name-taken" : nil))
        #expect(table.count == (isSame ? 2 : 3))
        #expect(table.value(of: second, host: "COM.EXAMPLE") == (isSame ? 1 : 3))
    }

    @Test(arguments: [
        "", "a b", "a/b", "a:1", "u@a", "a%41", "a?b", "a#b", "é", "[a]", "a\0", String(repeating: "a", count: 256),
    ])
    func hostsThatNoURLCanNameAreRefused(_ host: String) throws {
        var table = URLTable<Int>()
        let pattern = try URLPattern("/")
        #expect(code { () throws(BusURLError) in try table.add(pattern, host: host, value: 1) } == "bad-params")
        #expect(code { () throws(BusURLError) in try table.replace(pattern, host: host, value: 1) } == "bad-params")
        #expect(!URLTable<Int>.isHost(host) && table.count == 0)
    }

    @Test func replacingTakesTheNewBoundNames() throws {
        var table = URLTable<Int>()
        #expect(try table.replace(URLPattern("/show/:tip"), host: "h", value: 1) == nil)
        #expect(try table.replace(URLPattern("/show/:id"), host: "H", value: 2) == 1)
        let match = try table.resolve("moments://h/show/x")
        #expect(match.value == 2 && match.body() == Array(json("{'id':'x'}").utf8))
        #expect(table.count == 1)
    }

    @Test func whatIsRemovedIsGoneAndTheRestStays() throws {
        var table = try table(["/", "/a", "/a/b", "/:x", "/:x/b"])
        #expect(try table.remove(URLPattern("/nothing/here"), host: "h") == nil)
        #expect(try table.remove(URLPattern("/a"), host: "other") == nil)
        #expect(try table.remove(URLPattern("/a"), host: "H") == "/a")
        #expect(try table.remove(URLPattern("/a"), host: "h") == nil)
        #expect(try table.resolve("moments://h/a").value == "/:x")
        #expect(try table.resolve("moments://h/a/b").value == "/a/b")
        #expect(try table.remove(URLPattern("/:y"), host: "h") == "/:x")
        #expect(code { () throws(BusURLError) in try table.resolve("moments://h/a") } == "unknown-path")
        #expect(try table.resolve("moments://h/c/b").value == "/:x/b")
        table.removeAll { $0 != "/" }
        #expect(table.count == 1)
        #expect(try table.resolve("moments://h").value == "/")
        table.removeAll { _ in true }
        #expect(code { () throws(BusURLError) in try table.resolve("moments://h") } == "unknown-host")
        #expect(table.count == 0)
    }

    @Test func ownersAreRemovedFromAllHosts() throws {
        var table = URLTable<Int>()
        for host in ["a", "b", "c"] {
            for owner in 1...3 { try table.add(URLPattern("/o\(owner)"), host: host, value: owner) }
        }
        table.removeAll { $0 == 2 }
        var left: [String] = []
        table.forEach { left.append("\($0)\($1.text)=\($2)") }
        #expect(left.sorted() == ["a/o1=1", "a/o3=3", "b/o1=1", "b/o3=3", "c/o1=1", "c/o3=3"])
    }

    /// Compares with the rule as written, for all patterns and paths of up to three segments over
    /// two letters.
    @Test(.promise("9.5")) func theTreeAgreesWithTheRule() throws {
        func all(_ letters: [String]) -> [[String]] {
            var all: [[String]] = [[]]
            for length in 1...3 {
                all += all.filter { $0.count == length - 1 }.flatMap { p in letters.map { p + [$0] } }
            }
            return all
        }
        var state: UInt64 = 42
        func chance() -> Bool {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 62 == 0
        }
        for _ in 0..<60 {
            let chosen = all(["a", "b", ":"]).filter { _ in chance() }
            var table = URLTable<[String]>()
            for pattern in chosen {
                let text = pattern.enumerated().map { "/" + ($1 == ":" ? ":n\($0)" : $1) }.joined()
                try table.add(URLPattern(text.isEmpty ? "/" : text), host: "h", value: pattern)
            }
            for path in all(["a", "b", "c"]) {
                // ":" sorts before letters, so bound segments are made to sort last.
                let expected =
                    chosen
                    .filter { $0.count == path.count && zip($0, path).allSatisfy { $0 == ":" || $0 == $1 } }
                    .min { $0.map { $0 == ":" ? 1 : 0 }.lexicographicallyPrecedes($1.map { $0 == ":" ? 1 : 0 }) }
                let found = try? table.resolve("moments://h" + path.map { "/" + $0 }.joined()).value
                #expect(found == expected)
            }
        }
    }

    @Test(.timeLimit(.hang))
    func longURLsCostNoMoreThanTheirLength() throws {
        let table = try table(["/"])
        let same = try table.resolve("moments://h?" + Array(repeating: "a=b", count: 50_000).joined(separator: "&"))
        #expect(same.body().count == 50_000 * 4 + 7)
        let other = try table.resolve("moments://h?" + (0..<50_000).map { "k\($0)" }.joined(separator: "&"))
        #expect(other.body().count > 50_000 * 8)
        let deep = "moments://h" + String(repeating: "/a", count: 100_000)
        #expect(code { () throws(BusURLError) in try table.resolve(deep) } == "unknown-path")
    }

    @Test func messagesStayShortAndPrintable() throws {
        let long = String(repeating: "\\\"", count: 4_000)
        var table = try table(["/" + String(repeating: "p", count: 4_000), "/" + String(repeating: "q", count: 4_000)])
        let host = String(repeating: "h", count: 255)
        for pattern in 0..<6 { try table.add(URLPattern("/\(pattern)" + long.prefix(4_000)), host: host, value: "") }
        for number in 0..<3 { try table.add(URLPattern("/"), host: host.dropLast() + "\(number)", value: "") }
        let urls = [
            long, "\(long)://h", "x\(String(repeating: "s", count: 9_000))://h", "moments://h/" + long + "%",
            "moments://h/" + long, "moments://\(host)/" + String(repeating: "%00", count: 3_000),
            "moments://\(host.dropLast())x/", "moments://h/%F0%9F%98%80", "moments://h/\u{1F600}", "moments://" + long,
        ]
        var messages: [String] = []
        for url in urls {
            let error = #expect(throws: BusURLError.self) { try table.resolve(url) }
            messages.append(error?.message ?? "")
        }
        for pattern in ["/" + long + "%", long, "/:" + long, "/" + long + "#"] {
            let error = #expect(throws: BusURLError.self) { try URLPattern(pattern) }
            messages.append(error?.message ?? "")
        }
        for message in messages {
            #expect(!message.isEmpty && message.utf8.count < 900, "\(message)")
            #expect(message.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(message)")
        }
    }

    @Test func aMessageNamesWhatIsNear() throws {
        let table = try table(["/show/:tip", "/hide"], host: "com.example.login")
        func message(_ url: String) -> String {
            do {
                _ = try table.resolve(url)
                return ""
            } catch { return error.description }
        }
        #expect(
            message("moments://com.example.lgoin/show/1")
                == "unknown-host: a URL of the host \"com.example.lgoin\" was asked for, for which nothing is mapped; "
                + "did you mean \"com.example.login\"?")
        #expect(
            message("moments://com.example.login/x")
                == "unknown-path: the path \"/x\" was asked for, which is not mapped for the host "
                + "\"com.example.login\"; it has \"/hide\", \"/show/:tip\"")
        #expect(
            message("mom://com.example.login/x")
                == "unknown-scheme: a URL of the scheme \"mom\" was asked for; the app has \"moments\", \"Web+App\": "
                + "list it in the manifest's schemes, or if it is another app's, in opens of the row that opens it, "
                + "like opens: {catalog: {app: catalog}}")
    }
}
