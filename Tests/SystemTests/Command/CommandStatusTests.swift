import StrataCore
import StrataLoop
import Testing

/// The commands that show what a bus knows.
@Suite(.timeLimit(.hang))
struct CommandStatusTests {
    static let modules = """
        {"modules":[{"name":"Storage","level":"basic","priority":10,"state":"ready","pid":77,"since":1,\
        "restarts":2,"open":3,"waiting":0,"queued":0},\
        {"name":"Export","level":"topout","priority":0,"state":"absent","pid":0,"since":1,"restarts":0,\
        "open":0,"waiting":0,"queued":0}]}
        """
    static let routes = """
        {"interfaces":[{"name":"Catalog","module":"Catalog","instances":"single",\
        "actions":[{"name":"list","auth":false},{"name":"wipe","auth":true},\
        {"name":"watch","auth":false,"stream":true}],\
        "urls":[{"host":"item","path":"/:name","to":"Catalog/item"}],"requiredBy":["Notes"]}]}
        """

    @Test(.promise("M.42", "M.80")) func modulesAreALineEach() async throws {
        let (run, asked) = try await strata("ps") { _ in [.reply(Self.modules)] }
        #expect(run.lines.count == 2)
        #expect(run.lines.first?.hasPrefix(#"{"name":"Storage","level":"basic","#) == true)
        #expect(asked.map(\.to) == ["bus/modules"])
    }

    @Test(.promise("M.42")) func modulesAreATableOnATerminal() async throws {
        let (run, _) = try await strata(
            "ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in [.reply(Self.modules)] }
        #expect(run.lines.count == 3)
        #expect(run.lines[0].hasPrefix("MODULE   LEVEL   PRIO  STATE   PID"))
        #expect(run.lines[1].hasPrefix("Storage  basic     10  ready    77"))
        #expect(run.lines[2].hasPrefix("Export   topout     0  absent    –"))
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test(.promise("N.10", "N.18")) func nodesAreATableWithTheRowsThatDiffer() async throws {
        let nodes = """
            {"nodes":[{"name":"berlin","own":true,"state":"up","operates":true},\
            {"name":"tokyo","own":false,"state":"lost","operates":false,"since":1000,"reason":"no \\u001b[31msign",\
            "open":2,"queued":7,"rttMicroseconds":1270,"unackedBytes":7,"resentBytes":8,"gaps":9,"sessions":2,\
            "rowsThatDiffer":["tokyo has another row Index"]}]}
            """
        let terminal = ["NO_COLOR": "1"]
        let (run, asked) = try await strata("nodes", environment: terminal, output: .terminal(columns: 110)) { _ in
            [.reply(nodes)]
        }
        #expect(asked.map(\.to) == ["bus/nodes"])
        #expect(
            run.lines[0].hasPrefix("NODE    STATE  SINCE       RTT  UNACKED  RESENT  GAPS  SESSIONS  WHY"),
            "\(run.output)")
        #expect(
            run.lines[1].hasPrefix("berlin  up     –             –        –       –     –         –  this node"),
            "\(run.output)")
        #expect(
            run.lines[2].hasPrefix("tokyo   lost   00:00:01  1.2ms        7       8     9         2  no "),
            "\(run.output)")
        #expect(run.lines[3] == "tokyo has another row Index")
        #expect(!run.output.contains("\u{1B}"))
        let (one, _) = try await strata("nodes", environment: terminal, output: .terminal(columns: 80)) { _ in
            [.reply(#"{"nodes":[]}"#)]
        }
        #expect(one.output.contains("runs on one machine"))
    }

    @Test(.promise("M.148")) func nodesAreAColumn() async throws {
        let modules = Self.modules.replacing(#""name":"Storage""#, with: #""name":"Storage","nodes":["berlin"]"#)
            .replacing(#""name":"Export""#, with: #""name":"Export","nodes":["tokyo","osaka"]"#)
            .replacing("absent", with: "unreachable")
        let (run, _) = try await strata("ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 120)) { _ in
            [.reply(modules)]
        }
        #expect(run.lines[0].hasPrefix("MODULE   NODE          LEVEL   PRIO  STATE "), "\(run.output)")
        #expect(run.lines[1].hasPrefix("Storage  berlin        basic     10  ready "))
        #expect(run.lines[2].hasPrefix("Export   tokyo, osaka  topout     0  unreachable "))
    }

    /// Each module that failed at its start has a line in the table, and at most two lines below.
    @Test(.promise("M.64"), arguments: [80, 100] as [UInt16]) func reasonsAreBelowTheTable(columns: UInt16) async throws
    {
        let words = String(repeating: "and it was long to tell why ", count: 30)
        let failed = (1...7).map {
            #"{"name":"Module\#($0)","level":"topout","priority":5,"state":"restarting","pid":null,"since":1,"restarts":9,"#
                + #""reason":"it ended with exit code \#($0); \#(words)"}"#
        }
        let fine = #"{"name":"Fine","level":"basic","priority":0,"state":"ready","pid":1234567,"since":1}"#
        let (run, _) = try await strata(
            "ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: columns)
        ) { _ in [.reply("{\"modules\":[\(fine),\(failed.joined(separator: ",")),\(Self.short)]}")] }
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.allSatisfy { $0.count <= Int(columns) }, "\(run.output)")
        #expect(lines[0].hasPrefix(columns == 80 ? "MODULE   LEVEL   STATE " : "MODULE   LEVEL   PRIO  STATE "))
        #expect((1...7).allSatisfy { lines[$0 + 1].hasPrefix("Module\($0)  topout  ") } && lines[10] == "")
        #expect(lines[11].hasPrefix("Module1: it ended with exit code 1; and it was long"))
        #expect(lines[12].hasPrefix("    ") && lines[12].hasSuffix("…") && lines[13].hasPrefix("Module2: "))
        #expect(lines[25] == "Short: exited with 1")
        #expect(lines[26] == "strata ps --why shows more." && lines.count == 28)
    }

    private static let short = #"{"name":"Short","state":"failed","reason":"exited with 1"}"#

    /// Otherwise the text about restarts would push it out.
    @Test(.promise("M.64")) func whatAModuleWroteHasALineOfItsOwn() async throws {
        let reason =
            "it ended with signal 4 (Illegal instruction) before it was ready; that was the 10th time in a row, so "
            + "it is not started again; its last lines: a.swift:1: Fatal error: away | "
            + String(repeating: "x", count: 99)
        let (run, _) = try await strata("ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)) { _ in
            [.reply(#"{"modules":[{"name":"Store","state":"failed","reason":"\#(reason)"}]}"#)]
        }
        let said = run.lines.dropFirst(2)
        #expect(said.first == "Store: it ended with signal 4 (Illegal instruction) before it was ready; th…")
        #expect(
            said.dropFirst().first?.hasPrefix("    it wrote: a.swift:1: Fatal error: away | xxx") == true, "\(said)")
        #expect(said.count == 3 && said.allSatisfy { $0.count <= 80 })
    }

    /// Optional columns are left out. If that isn't enough, names are cut.
    @Test(.promise("M.64")) func modulesWithLongNamesHaveOneLineEach() async throws {
        let name = String(repeating: "LongName", count: 8)
        let modules = #"{"modules":[{"name":"\#(name)","level":"topout","state":"initializing","pending":["run"]}]}"#
        let (run, _) = try await strata("ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)) { _ in
            [.reply(modules)]
        }
        #expect(run.lines.count == 2 && run.lines.allSatisfy { $0.count <= 80 }, "\(run.output)")
        #expect(run.lines[0].hasPrefix("MODULE") && !run.lines[0].contains("LEVEL") && run.lines[1].contains("… "))
    }

    @Test(.promise("M.64")) func aModuleThatHangsIsShownWithItsReason() async throws {
        let modules =
            #"{"modules":[{"name":"A","state":"ready","hungSince":5,"reason":"it did not answer","pending":["run"]}]}"#
        let script: FakeBus.Script = {
            $0.to == "bus/modules" ? [.reply(modules)] : [.reply(#"{"reason":"an old one"}"#)]
        }
        let (run, _) = try await strata(
            "ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 120), script: script)
        #expect(run.output.contains("  ready, hung, pending  ") && run.output.contains("\nA: it did not answer"))
        let (why, _) = try await strata(
            "ps", "--why", environment: ["NO_COLOR": "1"], output: .terminal(columns: 120), script: script)
        #expect(why.output.contains("ready, hung") && why.output.contains("it did not answer"), "\(why.output)")
        #expect(!why.output.contains("an old one"))
    }

    /// A broker that was started again knows when the process started.
    @Test(.promise("M.64")) func uptimeIsTheProcesss() async throws {
        let now = Int64(Loop.wallMicroseconds / 1_000)
        let times = #""since":\#(now),"startedAt":\#(now - 7_205_000)"#
        let modules = #"{"modules":[{"name":"A","state":"ready","pid":7,\#(times)}]}"#
        let (run, _) = try await strata("ps", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)) { _ in
            [.reply(modules)]
        }
        #expect(run.lines.last?.contains("2h00m") == true, "\(run.output)")
    }

    @Test(arguments: [20, 80, 120] as [UInt16])
    func tablesFitTheTerminal(columns: UInt16) async throws {
        let names = (1...40).map { "\"Module\($0)\"" }.joined(separator: ",")
        let (run, _) = try await strata(
            "levels", environment: ["NO_COLOR": "1"], output: .terminal(columns: columns)
        ) { _ in [.reply("{\"levels\":[{\"name\":\"basic\",\"rank\":0,\"modules\":[\(names)]}]}")] }
        let longest = try #require(run.lines.map(\.count).max())
        #expect(longest <= max(80, Int(columns)))
        #expect(longest > max(80, Int(columns)) - 12)
        #expect(run.output.split { $0 == " " || $0 == "\n" }.filter { $0.hasPrefix("Module") }.count == 40)
    }

    @Test(.promise("M.80", "S.4")) func routesShowInterfacesAndURLs() async throws {
        let (run, _) = try await strata(
            "routes", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in [.reply(Self.routes)] }
        #expect(run.output.contains("Catalog    Catalog  list wipe* watch+  Notes"))
        #expect(run.output.contains("app://item/:name  Catalog/item"))
    }

    @Test(.promise("M.80")) func routesShowVersions() async throws {
        let (run, _) = try await strata(
            "routes", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in
            [
                .reply(
                    #"{"interfaces":[{"name":"Cart","module":"Shop","instances":"multiple","version":"2.1"},"#
                        + #"{"name":"Plain","module":"Shop"},{"name":"Odd","module":"Shop","version":"2"}]}"#)
            ]
        }
        #expect(run.lines.dropFirst().map { $0.prefix { $0 != " " } } == ["Cart@2.1#", "Plain", "Odd"])
    }

    @Test(.promise("M.80")) func monitorShowsFramesUntilInterrupted() async throws {
        let (run, asked) = try await strata(
            "monitor", "--module", "Notes", "--bodies", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { request in
            guard request.to == "bus/monitor" else { return [.reply(#"{"modules":[{"name":"Notes"}]}"#)] }
            return [
                .partial(#"{"at":3723000004,"kind":"call","from":"Notes","to":"Catalog/item","bytes":3,"body":1.10}"#),
                .partial(#"{"at":0,"kind":"error","from":"bus","to":"Notes","code":"died","bytes":0,"missed":3}"#),
                .error("cancelled", ""),
            ]
        }
        #expect(asked.last?.body == #"{"module":"Notes","bodies":true}"#)
        #expect(asked.last?.deadline == 0)
        #expect(run.error == "")
        #expect(
            run.lines == [
                "01:02:03.000  call       Notes    → Catalog/item                    3 B",
                "    1.10",
                "3 frames were missed here",
                "00:00:00.000  error      bus      → Notes  died                     0 B",
            ])
        #expect(run.status == 0)
    }

    /// The module may still come, and the monitor waits for it.
    @Test func monitorNamesTheNearestOfAModuleThatIsNotThere() async throws {
        let script: FakeBus.Script = { request in
            request.to == "bus/monitor" ? [.error("cancelled", "")] : [.reply(Self.modules)]
        }
        let (run, asked) = try await strata("monitor", "--module", "Storrage", script: script)
        #expect(run.error == "No module here is named Storrage.\nDid you mean Storage?\n")
        #expect(run.status == 0 && asked.map(\.to) == ["bus/modules", "bus/monitor"])
        let (known, _) = try await strata("monitor", "--module", "operator", script: script)
        #expect(known.error == "")
    }

    private static let levels = """
        {"levels":[{"name":"basic","rank":0,"modules":["A","B","C","D"],"reporters":[\
        {"module":"A","declared":["B","C"],"seen":["C","D"]},{"module":"B","declared":["A","C"],"seen":["C"]}]},\
        {"name":"topout","rank":1,"modules":["E","F","G","H"],"reporters":[\
        {"module":"E","declared":[],"seen":["F","G","H"]}]}]}
        """
    private static let advice = [
        "A reports to 3 modules of its own level, basic (B, C; seen, not declared: D): move those to a later level, and "
            + "one broadcast reaches all",
        "E reports to 3 modules of its own level, topout (seen, not declared: F, G, H): move E to an earlier level, and "
            + "one broadcast reaches all",
    ]

    @Test(.promise("M.81")) func levelsSaysWhoBelongsInAnEarlierOne() async throws {
        let (run, _) = try await strata("levels") { _ in [.reply(Self.levels)] }
        let lines = try run.lines.map { try JSON(parsing: $0) }
        #expect(lines.map { $0["advice"] } == Self.advice.map { [.string($0)] })
        #expect(lines.map { $0["rank"] } == [0, 1])
        let (shown, _) = try await strata(
            "levels", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in [.reply(Self.levels)] }
        #expect(shown.lines.prefix(3) == ["RANK  LEVEL   MODULES", "   0  basic   A B C D", "   1  topout  E F G H"])
        let said = shown.lines.dropFirst(3)
        #expect(said.joined(separator: " ") == Self.advice.map { "advice: \($0)" }.joined(separator: " "))
        #expect(said.allSatisfy { $0.count <= 80 } && said.count == 4)
    }

    @Test(.promise("M.80")) func monitorEndsWithTheAppInOrder() async throws {
        let (run, _) = try await strata("monitor") { request in
            guard request.to == "bus/monitor" else { return [.reply(Self.modules)] }
            return [
                .partial(#"{"at":0,"kind":"call","from":"A","to":"B/c","bytes":0}"#),
                .error("shutting-down", "the app ended before the request was answered"),
                .farewell("shutting-down", "the app is ending"), .close,
            ]
        }
        #expect(run.status == 0 && run.lines.count == 1)
        #expect(run.error == "strata: the app ends\n")
    }
}
