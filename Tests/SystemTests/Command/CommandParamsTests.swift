import StrataCore
import StrataTesting
import Testing

/// The params of `strata call`: as members, checked against a contract, shown and completed.
@Suite(.timeLimit(.hang))
struct CommandParamsTests {
    /// A bus on which Shelf describes its types.
    private static let script: FakeBus.Script = { asked in
        switch asked.to {
        case "bus/interfaces":
            [
                .reply(
                    #"""
                    {"interfaces":[{"name":"Shelf","module":"Library","actions":[{"name":"find"},{"name":"lend","auth":true},\#
                    {"name":"old"}]}]}
                    """#)
            ]
        case "bus/contracts": [.reply(contracts)]
        default: [.reply(asked.body.isEmpty ? "null" : asked.body)]
        }
    }

    private static let contracts = #"""
        {"module":{"contract":1,"module":"Library"},"provides":[{"contract":1,"interface":"Shelf","actions":{\#
        "find":{"params":{"type":"object","properties":{"title":{"type":"string"},"limit":{"type":"integer"},\#
        "order":{"$ref":"#/$defs/Order"},"all":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"a b":{}},\#
        "required":["title"]},"reply":{"type":"array","items":{"type":"string"}}},"lend":{"params":{"type":"object"},\#
        "reply":{"type":"null"},"auth":true},"old":{}},"$defs":{"Order":{"type":"string","enum":["title","year","x y"]}}}],\#
        "requires":[]}
        """#

    @Test func membersNeedNoBraces() async throws {
        let (run, asked) = try await strata(
            "call", "Shelf/find", "title=a b", "limit=3", "all=true", #"more={"x":[1.50]}"#, "none=", "same=a=b"
        ) { [.reply($0.body)] }
        #expect(run.status == 0, "\(run)")
        #expect(
            asked.last?.body
                == #"{"title":"a b","limit":3,"all":true,"more":{"x":[1.50]},"none":"","same":"a=b"}"#)
    }

    @Test(arguments: [
        (["title=a", "{}"], "{} is not KEY=VALUE"), (["title=a", "title=b"], "the params have title twice"),
        (["1", "2"], "1 is not KEY=VALUE"), (["-", "a=1"], "- is not KEY=VALUE"),
        (["5a=1"], "the params are not JSON"), ([#"{"a":1}=2"#], "the params are not JSON"),
    ])
    func whatIsNeitherIsUsage(words: [String], message: String) async throws {
        let run = try await CommandRun.of(["call", "Shelf/find"] + words, environment: ["STRATA_SOCKET": "/nowhere"])
        #expect(run.status == 2 && run.error.contains(message), "\(run)")
    }

    @Test func membersAreCheckedToo() async throws {
        let (run, asked) = try await strata(
            "call", "Shelf/find", "titel=x", features: ["contracts"], script: Self.script)
        #expect(run.status == 1 && !asked.contains { $0.to == "Shelf/find" }, "\(run)")
        #expect(run.error.contains(#"$.title: expected a string, found nothing (there is "titel")"#), "\(run)")
        #expect(run.error.contains("  {\"titel\":\"x\"}\n   ^^^^^^^"), "\(run)")
    }

    @Test func anInterfaceAloneShowsParams() async throws {
        let (run, _) = try await strata(
            "call", "Shelf", environment: ["NO_COLOR": "1"], output: .terminal(columns: 120),
            features: ["contracts"], script: Self.script)
        let lines = run.output.replacing("\r", with: "").split(separator: "\n").map { $0.split(separator: "  ")[0] }
        #expect(
            lines == [
                "ACTION",
                "Shelf/find(title: string, limit?: integer, order?: Order, all?: boolean, a b?: any) → string[]",
                "Shelf/lend() → null", "Shelf/old(…) → …",
            ], "\(run.output)")
        let (json, _) = try await strata("call", "Shelf", features: ["contracts"], script: Self.script)
        #expect(
            try JSON(parsing: json.lines[1]) == ["action": "Shelf/lend", "auth": true, "params": ["type": "object"]])
        #expect(try JSON(parsing: json.lines[2]) == ["action": "Shelf/old", "auth": false])
    }

    /// Returns the shell's completions for the last word.
    private func offered(_ words: String..., features: [String] = ["contracts"]) throws -> Set<String> {
        let folder = try StrataTesting.TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock", features: features, script: Self.script)
        defer { bus.close() }
        // The bus has half a second to answer, so a busy machine may need some tries.
        for _ in 0..<20 {
            let offered = try BashCompletion.offered(words, ["STRATA_SOCKET": bus.path])
            if !offered.isEmpty || features.isEmpty { return offered }
        }
        return []
    }

    @Test func keysAndValuesAreOffered() throws {
        #expect(try offered("strata", "call", "Shelf/find", "") == ["title=", "limit=", "order=", "all="])
        #expect(try offered("strata", "call", "Shelf/find", "ti") == ["title="])
        // Bash splits words at `=`, and offers what follows it.
        #expect(try offered("strata", "call", "Shelf/find", "title", "=", "x", "l") == ["limit="])
        #expect(try offered("strata", "call", "Shelf/find", "order", "=") == ["title", "year"])
        #expect(try offered("strata", "call", "Shelf/find", "order", "=", "y") == ["year"])
        #expect(try offered("strata", "call", "Shelf/find", "all", "=", "t") == ["true"])
        #expect(try offered("strata", "call", "Shelf/find", "", features: []).isEmpty)
    }
}
