import StrataCore
import StrataTesting
import Testing

/// `strata observe` and `strata wait`: which notifications they show, and how they end.
@Suite(.timeLimit(.hang))
struct CommandObserveTests {
    private static let frames = [
        #"{"at":1000000,"kind":"broadcast","from":"Storage","to":"","name":"news","bytes":7,"body":{"a":1}}"#,
        #"{"at":1000100,"kind":"notice","from":"Storage","to":"Notes","name":"news","bytes":7,"body":{"a":1}}"#,
        #"{"at":1000200,"kind":"report","from":"Notes","to":"Log","name":"news","object":"7","bytes":1,"body":2}"#,
        #"{"at":1000300,"kind":"report","from":"Notes","to":"Log","name":"news","code":"level-violation","bytes":1,"body":3}"#,
        #"{"at":1000400,"kind":"broadcast","from":"operator","to":"","name":"other","object":"7","bytes":0,"body":null,"missed":4}"#,
        #"{"at":1000500,"kind":"call","from":"bus","to":"module/event","callee":"Log","name":"news","bytes":0,"body":null}"#,
        #"{"at":1000600,"kind":"broadcast","from":"Storage","to":"","name":"news","bytes":70000,"omitted":"size"}"#,
    ]

    /// Answers a monitor with frames, and with `cancelled` when it is cancelled.
    private func run(
        _ words: [String], columns: UInt16? = nil, frames: [String] = frames, ends: Bool = true
    ) async throws -> (run: CommandRun, asked: [FakeBus.Asked]) {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { asked in
            switch asked.to {
            case "bus/monitor": frames.map { .partial($0) } + (ends ? [.error("shutting-down", "")] : [])
            case "bus/names": [.reply(#"{"notifications":["news","other"]}"#)]
            default: asked.kind == .cancel ? [.error("cancelled", "")] : [.reply("{}")]
            }
        }
        defer { bus.close() }
        let run = try await CommandRun.of(
            words, environment: ["STRATA_SOCKET": bus.path, "NO_COLOR": "1"],
            output: columns.map { .terminal(columns: $0) } ?? .pipe)
        return (run, bus.asked)
    }

    @Test(.promise("M.92")) func broadcastsAndReportsThatPassAreShown() async throws {
        let (run, asked) = try await run(["observe", "news"])
        #expect(run.status == 0)
        #expect(run.lines == [Self.frames[0], Self.frames[2], #"{"missed":4}"#, Self.frames[6]])
        #expect(asked.first?.body == #"{"name":"news","kinds":["broadcast","report"],"bodies":true}"#)
        let both = try await self.run(["observe", "news", "other", "--object", "7"])
        #expect(both.run.lines == [Self.frames[2], Self.frames[4]])
        #expect(both.asked.first?.body == #"{"kinds":["broadcast","report"],"bodies":true}"#)
    }

    @Test(.promise("M.168")) func aPatternShowsWhatMatches() async throws {
        let frames = ["disk.full", "disk", "disk.a.b"].map { name in
            #"{"at":1000000,"kind":"broadcast","from":"Storage","to":"","name":"\#(name)","bytes":0,"body":null}"#
        }
        let (run, asked) = try await run(["observe", "disk.*"], frames: frames)
        #expect(run.lines == [frames[0]])
        #expect(asked.first?.body == #"{"kinds":["broadcast","report"],"bodies":true}"#)
        #expect(try await self.run(["observe", "*.>"], frames: frames).run.lines == [frames[0], frames[2]])
    }

    @Test(.promise("M.92")) func personsGetALineForEach() async throws {
        let run = try await run(["observe", "news", "other"], columns: 80).run
        #expect(
            run.lines == [
                #"00:00:01.000  Storage  news  {"a":1}"#, "00:00:01.000  Notes  → Log  news  (7)  2",
                "4 frames were missed here", "00:00:01.000  operator  other  (7)",
                "00:00:01.000  Storage  news  the body was left out: over 64 KiB, or over the frame's limit",
            ])
        #expect(run.error == "strata: the app ends\n")
    }

    @Test(.promise("M.92")) func observingEndsAfterTheCount() async throws {
        let run = try await run(["observe", "news", "--count", "2"], ends: false).run
        #expect(run.status == 0 && run.lines == [Self.frames[0], Self.frames[2]], "\(run)")
    }

    @Test func aNameThatNobodyKnowsGetsTheNearest() async throws {
        let run = try await run(["observe", "nwes"], columns: 80).run
        #expect(run.error.hasPrefix("No module here observes or declares nwes.\nDid you mean news?\n"))
    }

    @Test(.promise("M.93")) func waitingEndsWithTheFirst() async throws {
        let first = try await run(["wait", "news"], ends: false).run
        #expect(first.status == 0 && first.output == "{\"a\":1}\n" && !first.error.contains("deadline"), "\(first)")
        let about = try await run(["wait", "news", "--object", "7"], ends: false).run
        #expect(about.status == 0 && about.output == "2\n", "\(about)")
        let large = try await run(["wait", "news"], frames: [Self.frames[6]], ends: false).run
        #expect(large.status == 0 && large.output == "", "\(large)")
        #expect(large.error.contains("strata: news came, but its body was left out: over 64 KiB"), "\(large)")
    }

    @Test(.promise("M.93")) func withoutOneInTimeItIsAnError() async throws {
        let run = try await run(["wait", "news", "--object", "8", "--timeout", "50ms"], ends: false).run
        #expect(run.status == 1 && run.output == "", "\(run)")
        let said = run.error.split(separator: "\n")
        #expect(
            said == [
                "strata: waiting for news about 8",
                """
                strata: deadline-exceeded: no news about 8 was broadcast or reported within 50 ms: --timeout TIME waits \
                longer, and 0 without limit
                """,
                "4 frames were missed, and it may have been among them.",
            ])
    }

    @Test(.promise("M.93")) func aRefusedMonitorIsNeverSaidToWait() async throws {
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") {
            $0.to == "bus/monitor" ? [.error("overloaded", "16 are open")] : [.reply("{}")]
        }
        defer { bus.close() }
        for command in ["wait", "observe"] {
            let run = try await CommandRun.of([command, "news"], environment: ["STRATA_SOCKET": bus.path])
            #expect(run.status == 1 && run.error == "strata: overloaded: 16 are open\n", "\(run)")
        }
    }

    /// On a real bus: what is sent after the line that says so is seen, although nobody observes it.
    @Test(.promise("M.93"), arguments: ["broadcast", "report"])
    func whatComesAfterTheLineIsNotMissed(kind: String) throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        func begin(_ words: String...) throws -> ChildProgram {
            try ChildProgram(
                try BuiltExecutable.path("strata"), words, environment: ["STRATA_SOCKET": app.running.socket])
        }
        let waiting = try begin("wait", "item.changed", "--object", "7", "--timeout", "0")
        #expect(waiting.firstLine() == "strata: waiting for item.changed about 7")
        let observing = try begin("observe", "item.changed", "--count", "2")
        #expect(observing.firstLine() == "strata: observing item.changed; ctrl-C ends it")
        for object in ["6", "7"] {
            let body = JSON.string("of \(object)")
            let id =
                try kind == "broadcast"
                ? tool.broadcast("item.changed", body, ["level": "basic", "object": .string(object)])
                : tool.report("item.changed", to: "Base", body, ["object": .string(object)])
            try tool.expectReply(to: id)
        }
        #expect(try waiting.wait() == .exit(0))
        #expect(waiting.outputText.hasSuffix("about 7\n\"of 7\"\n"), "\(waiting.outputText)")
        #expect(try observing.wait() == .exit(0))
        let seen = try observing.outputText.split(separator: "\n").dropFirst().map { try JSON(parsing: String($0)) }
        #expect(seen.map { $0["body"] } == ["of 6", "of 7"] && seen.allSatisfy { $0["kind"]?.string == kind })
        try app.end()
    }
}
