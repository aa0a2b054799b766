import Foundation
import StrataCore
import Testing

/// `strata timeline`.
@Suite(.timeLimit(.hang))
struct CommandTimelineTests {
    /// Storage, then Catalog; Gone never connected. Times are in microseconds.
    static let answer = """
        {"app":{"name":"fake","begun":1000000,"ready":1090000,"microseconds":90000},"modules":[\
        {"name":"Storage","level":"basic","start":"eager","state":"ready","spawned":1001000,"connected":1021000,\
        "setUpBegun":1021000,"setUpEnded":1051000,"initializeBegun":1070000,"initializeEnded":1075000,"ready":1075000},\
        {"name":"Catalog","level":"topout","start":"eager","state":"ready","spawned":1052000,"connected":1062000,\
        "setUpBegun":1062000,"setUpEnded":1070000,"initializeBegun":1075000,"initializeEnded":1090000,"ready":1090000},\
        {"name":"Gone","level":"topout","start":"async","state":"failed","spawned":1052000,"ended":1060000,\
        "reason":"exit 1"}]}
        """

    static let summary = [
        "ready after 90.0 ms; Storage took longest, 55.0 ms (setUp 30.0 ms)",
        "critical path: Storage connect 20.0 ms → setUp 30.0 ms → Catalog connect 10.0 ms → setUp 8.0 ms → "
            + "Storage initialize 5.0 ms → Catalog initialize 15.0 ms",
    ]

    private func shown(columns: UInt16) async throws -> [String] {
        let (run, asked) = try await strata(
            "timeline", environment: ["NO_COLOR": "1"], output: .terminal(columns: columns)
        ) { _ in [.reply(Self.answer)] }
        #expect(run.status == 0 && asked.map(\.to) == ["bus/timeline"])
        return run.lines
    }

    @Test(.promise("M.65"), arguments: [80, 160] as [UInt16])
    func modulesAreATableWithBarsThatFits(columns: UInt16) async throws {
        let lines = try await shown(columns: columns)
        #expect(lines[0].hasPrefix("MODULE      BEGAN  CONNECT    SETUP     INIT    READY  0"))
        #expect(lines[0].hasSuffix("90.0 ms"))
        #expect(lines[1].hasPrefix("Storage   +1.0 ms  20.0 ms  30.0 ms   5.0 ms  74.0 ms  "))
        #expect(lines[3].hasPrefix("Gone     +52.0 ms        ✗        –        –   failed  "))
        for line in lines { #expect(line.count <= Int(columns)) }
        // Connect, setUp, waiting and initialize, in the order in which they came.
        let bar = lines[1].filter { "░▒·█".contains($0) }
        let ends = "░▒·█".map { bar.lastIndex(of: $0) }
        #expect(!ends.contains(nil) && zip(ends, ends.dropFirst()).allSatisfy { $0! < $1! })
        #expect(bar.count >= (columns == 80 ? 14 : 60))
        #expect(lines[4] == "Gone never connected: exit 1")
        #expect(lines[5] == "░ connect   · waits for others   ▒ setUp   █ initialize")
        #expect(lines[6...].joined(separator: " ") == Self.summary.joined(separator: " "))
        #expect(lines.count == (columns == 80 ? 9 : 8))
    }

    @Test(.promise("M.65")) func marksAreListedBelowTheTable() async throws {
        let answer = Self.answer.replacing(
            #""ready":1075000}"#,
            with:
                #""ready":1075000,"marks":[{"name":"cache\u001b[2Jloaded","at":1031000},{"name":"idle","at":9001000}]}"#
        )
        let (run, _) = try await strata(
            "timeline", environment: ["NO_COLOR": "1"], output: .terminal(columns: 80)
        ) { _ in [.reply(answer)] }
        #expect(run.lines.contains(#"Storage marked cache\u001b[2Jloaded +30.0 ms, idle +8.00 s"#), "\(run.output)")
    }

    @Test(.promise("M.65")) func programsGetALineForEachModuleAndOneForTheApp() async throws {
        let (run, _) = try await strata("timeline") { _ in [.reply(Self.answer)] }
        #expect(run.lines.count == 4)
        #expect(run.lines[0].hasPrefix(#"{"name":"Storage","level":"basic","#))
        #expect(
            run.lines[3].hasPrefix(
                #"{"app":"fake","begun":1000000,"ready":1090000,"microseconds":90000,"longest":{"module":"Storage","#
                    + #""microseconds":55000},"criticalPath":[{"module":"Storage","phase":"connect","microseconds":20000},"#
            ))
    }

    @Test(.promise("M.65")) func pictureAndTraceAreWrittenWhereTheyAreAskedFor() async throws {
        let folder = try TemporaryFolder()
        let (svg, trace) = ("\(folder.path)/start.svg", "\(folder.path)/start.json")
        let (run, _) = try await strata("timeline", "--svg", svg, "--trace", trace) { _ in [.reply(Self.answer)] }
        #expect(run.status == 0 && run.output.isEmpty)
        let picture = try String(contentsOfFile: svg, encoding: .utf8)
        #expect(picture.hasPrefix("<svg ") && picture.contains("Storage setUp: 30.0 ms"))
        let events = try JSON(parsing: try String(contentsOfFile: trace, encoding: .utf8))
        #expect(events["traceEvents"]?.array?.isEmpty == false)
        let (printed, _) = try await strata("timeline", "--svg", "-") { _ in [.reply(Self.answer)] }
        #expect(printed.output == picture)
    }

    @Test func aFileThatCanNotBeWrittenIsNamed() async throws {
        let (run, _) = try await strata("timeline", "--svg", "/nowhere/start.svg") { _ in [.reply(Self.answer)] }
        #expect(run.status == 2)
        #expect(run.error == "strata: /nowhere/start.svg can't be written: No such file or directory\n")
        let both = try await CommandRun.of(["timeline", "--svg", "-", "--trace", "-"])
        #expect(both.status == 2 && both.error.contains("Only one of --svg and --trace"))
    }
}
