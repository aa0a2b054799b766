import StrataCore
import StrataTesting
import Testing

/// `strata get`, `strata set` and `strata retained`, and what `strata observe` shows first.
@Suite(.timeLimit(.hang))
struct CommandPropertyTests {
    private static let contracts = #"""
        {"module":{"contract":1,"module":"Player"},"provides":[{"contract":1,"interface":"Player","actions":{"stop":{\#
        "params":{"type":"object"},"reply":{"type":"object"}}},"properties":{"title":{"value":{"type":"string"}},\#
        "volume":{"settable":true,"value":{"type":"integer","minimum":0,"maximum":100}}}}],"requires":[]}
        """#

    /// A bus with a player, of which the contract is known or not.
    private static func script(describes: Bool = true) -> FakeBus.Script {
        { asked in
            switch asked.to {
            case "bus/interfaces":
                [
                    .reply(
                        #"""
                        {"interfaces":[{"name":"Player","module":"Player","actions":[{"name":"stop"},{"name":"title"},\#
                        {"name":"volume"},{"name":"volume.set"}]}]}
                        """#)
                ]
            case "bus/contracts": describes ? [.reply(contracts)] : [.error("unknown-action", "no")]
            case "Player/volume": [.reply("40")]
            case "Player/title": [.reply(describes ? "\"Prelude\"" : "")]
            case "Player/volume.set": [.reply("{}")]
            default: [.error("unknown-action", "\(asked.to) is unknown")]
            }
        }
    }

    private func run(_ words: String..., describes: Bool = true) async throws -> (CommandRun, [String]) {
        let (run, asked) = try await strata(
            words, features: ["contracts"], script: Self.script(describes: describes))
        return (run, asked.filter { $0.to.hasPrefix("Player/") }.map { "\($0.to) \($0.body)" })
    }

    @Test(.promise("M.180")) func aPropertyIsReadAndSet() async throws {
        let (get, _) = try await run("get", "Player/volume")
        #expect(get.status == 0 && get.output == "40\n", "\(get)")
        let (set, asked) = try await run("set", "Player/volume", "50")
        #expect(set.status == 0 && set.output.isEmpty && asked == [#"Player/volume.set {"value":50}"#], "\(set)")
        // Without a contract, by the names alone.
        let (text, sent) = try await run("set", "Player/volume", "a b", describes: false)
        #expect(text.status == 0 && sent == [#"Player/volume.set {"value":"a b"}"#], "\(text)")
        #expect(try await run("get", "Player/title", describes: false).0.output == "null\n")
    }

    @Test(
        .promise("M.180"),
        arguments: [
            (["get", "Player/volum"], "Player has no property volum\nDid you mean Player/volume?"),
            (["get", "Player/stop"], "no property stop, but an action of that name: strata call Player/stop"),
            (["get", "Plaier/volume"], "Did you mean Player?"),
            (["set", "Player/title", "x"], "the property Player/title can't be set: its owner alone changes it"),
            (["set", "Player/volume", "101"], "$.value: expected an integer from 0 to 100, found the number 101"),
            (["set", "Player/volume", "loud"], "$.value: expected an integer from 0 to 100, found the string"),
            (["set", "Player/nothing", "1"], "Player has no property nothing"),
        ])
    func whatCannotBeIsSaid(words: [String], message: String) async throws {
        let (run, asked) = try await strata(words, features: ["contracts"]) { asked in
            asked.to == "Plaier/volume" ? [.error("unknown-interface", "no")] : Self.script()(asked)
        }
        #expect(run.status == 1 && run.error.contains(message), "\(run)")
        #expect(!asked.contains { $0.to == "Player/volume.set" || $0.to == "Player/stop" })
    }

    @Test(.promise("M.180")) func withoutAContractTheOwnerSaysIt() async throws {
        let (run, asked) = try await run("set", "Player/title", "x", describes: false)
        #expect(run.status == 1 && asked == [#"Player/title.set {"value":"x"}"#])
        #expect(run.error.contains("Player/title can't be set: Player has no action title.set"), "\(run)")
        let (unchecked, sent) = try await self.run("set", "Player/volume", "101", "--unchecked")
        #expect(unchecked.status == 0 && sent == [#"Player/volume.set {"value":101}"#], "\(unchecked)")
        for words in [["get", "Player/a b"], ["set", "Player/a.set", "1"]] {
            #expect(try await strata(words, script: Self.script()).0.status == 2)
        }
    }

    @Test(.promise("M.180")) func anInterfaceAloneListsItsProperties() async throws {
        let (run, _) = try await strata(
            ["get", "Player"], environment: ["NO_COLOR": "1"], output: .terminal(columns: 100),
            features: ["contracts"], script: Self.script())
        let lines = run.output.replacing("\r", with: "").split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            lines == [
                "PROPERTY TYPE SET VALUE", "Player/title string – \"Prelude\"",
                "Player/volume integer (0 to 100) yes 40",
            ], "\(run)")
        let (json, _) = try await self.run("get", "Player")
        #expect(try JSON(parsing: json.lines[0])["value"] == "Prelude")
        #expect(try JSON(parsing: json.lines[1])["settable"] == true)
        let (bare, _) = try await self.run("get", "Player", describes: false)
        #expect(bare.lines == [#"{"name":"volume","settable":true,"value":40}"#])
    }

    // MARK: What is retained

    private static let pages = [
        #"{"retained":[{"number":3,"name":"Player.volume","module":"Player","bytes":2,"until":"session","body":40}],"next":5}"#,
        #"{"retained":[{"number":5,"name":"Player.title","object":"o","module":"Player","bytes":9,"until":"app"}]}"#,
    ]

    private static let retaining: FakeBus.Script = { asked in
        switch asked.to {
        case "bus/retained": [.reply(asked.body.contains("from") ? pages[1] : pages[0])]
        case "bus/monitor":
            [
                .partial(
                    #"{"at":1000000,"kind":"broadcast","from":"Player","to":"","name":"Player.volume","bytes":2,"body":41}"#
                )
            ]
        default: asked.kind == .cancel ? [.error("cancelled", "")] : [.reply("{}")]
        }
    }

    @Test(.promise("M.182")) func whatTheBusKeepsIsListedPageByPage() async throws {
        let (run, asked) = try await strata(
            ["retained"], environment: ["NO_COLOR": "1"], output: .terminal(columns: 100), script: Self.retaining)
        let lines = run.output.replacing("\r", with: "").split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            lines == [
                "NAME OBJECT MODULE BYTES UNTIL", "Player.volume – Player 2 session", "Player.title o Player 9 app",
            ], "\(run)")
        #expect(asked.map(\.body) == ["{}", #"{"from":5}"#])
        let (json, some) = try await strata(["retained", "Player.*", "--json"], script: Self.retaining)
        #expect(json.lines.count == 2 && some.first?.body == #"{"pattern":"Player.*"}"#)
        let (none, _) = try await strata(
            ["retained", "x"], output: .terminal(columns: 100), script: { _ in [.reply(#"{"retained":[]}"#)] })
        #expect(none.output.contains("The bus keeps no broadcast of x."))
    }

    @Test(.promise("M.181")) func observingShowsWhatIsRetainedFirst() async throws {
        let (run, asked) = try await strata(
            ["observe", "Player.volume", "--count", "1"], environment: ["NO_COLOR": "1"],
            output: .terminal(columns: 100), features: ["retain"], script: Self.retaining)
        #expect(
            run.output.replacing("\r", with: "").split(separator: "\n") == [
                "retained      Player  Player.volume  40", "retained      Player  Player.title  (o)",
                "00:00:01.000  Player  Player.volume  41",
            ], "\(run)")
        #expect(asked.first { $0.to == "bus/retained" }?.body == #"{"name":"Player.volume","bodies":true}"#)
        let (json, _) = try await strata(
            ["observe", "Player.volume", "--object", "o", "--count", "1", "--json"], features: ["retain"],
            script: { asked in
                asked.to == "bus/monitor"
                    ? [.partial(#"{"at":1,"kind":"broadcast","from":"P","to":"","name":"Player.volume","object":"o"}"#)]
                    : Self.retaining(asked)
            })
        #expect(json.lines.count == 2 && json.lines[0].hasPrefix(#"{"retained":true,"number":5,"#), "\(json)")
    }
}
