import Glibc
import StrataTesting
import Synchronization
import TestSupport
import Testing

/// `strata logs -f` when the bus goes away.
@Suite(.timeLimit(.hang))
struct CommandLogsTests {
    /// Returns a launcher's line with this number. By default its time is long after the
    /// command's start.
    private static func line(
        _ number: Int, _ module: String, _ text: String, at: Int64 = 4_000_000_000_000_000, since: Int = 1
    ) -> FakeBus.Said {
        .partial(
            """
            {"module":"\(module)","at":\(at),"stream":"out","pid":5,"start":1,"since":\(since),\
            "number":\(number),"line":"\(text)"}
            """)
    }

    /// Numbers from 0.
    private final class Turns: Sendable {
        private let number = Mutex(0)

        func next() -> Int {
            number.withLock { number in
                defer { number += 1 }
                return number
            }
        }
    }

    /// Follows logs. Each list of answers is for one connection.
    private func follow(
        _ more: String..., answers: [[FakeBus.Said]]
    ) async throws -> (run: CommandRun, asked: [FakeBus.Asked], texts: [String]) {
        let turns = Turns()
        let folder = try TemporaryFolder()
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { request in
            guard request.to == "launcher/logs" else { return [.reply(#"{"modules":[]}"#)] }
            return answers[turns.next()]
        }
        defer { bus.close() }
        let run = try await CommandRun.of(["logs", "-f"] + more, environment: ["STRATA_SOCKET": bus.path])
        let texts = run.lines.map { $0.split(separator: "\"line\":\"").last.map { String($0.dropLast(2)) } ?? $0 }
        return (run, bus.asked, texts)
    }

    private static let end = FakeBus.Said.reply(#"{"ended":"the app ends: SIGTERM"}"#)

    @Test(.promise("M.74")) func whatWasShownIsNotShownAgain() async throws {
        let first = [
            Self.line(11, "A", "a1"), Self.line(12, "A", "a2"), Self.line(13, "A", "a2"), Self.line(14, "B", "b1"),
        ]
        let second =
            [Self.line(3, "A", "a0"), Self.line(4, "C", "c0")] + first + [
                Self.line(15, "A", "a2"), Self.line(16, "C", "c1"),
            ]
        // The clock was set back.
        let third = second + [Self.line(17, "A", "a3", at: 9), Self.line(18, "A", "a4", at: 8)]
        let fourth = third + [Self.line(19, "A", "a5", at: 8)]
        let other = [Self.line(0, "A", "new 0", since: 2), Self.line(1, "B", "new 1", since: 2), Self.end]
        let (run, asked, texts) = try await follow(
            "--lines", "3",
            answers: [first + [.close], second + [.close], third + [.close], fourth + [.close], other])
        #expect(run.status == 0)
        #expect(texts == ["a1", "a2", "a2", "b1", "a2", "c1", "a3", "a4", "a5", "new 0", "new 1"])
        #expect(
            asked.map(\.body)
                == [#"{"lines":3,"follow":true}"#] + Array(repeating: #"{"follow":true}"#, count: 4))
        let said = run.error.split(separator: "\n")
        #expect(said.count == 9, "\(run.error)")
        for place in [0, 2, 4, 6] where said.count > place + 1 {
            #expect(
                said[place].hasPrefix("strata: the connection to the bus at ")
                    && said[place].hasSuffix("; waiting up to 30 s for it to return"))
            #expect(said[place + 1].hasSuffix(" is back"))
        }
        #expect(said.last == "strata: the app ends: SIGTERM")
    }

    @Test(.promise("M.163")) func onlySeriousAndNewLinesAreShownWhereThatIsSaid() async throws {
        func line(_ number: Int, _ text: String, _ severity: String?, at: Int64 = 4_000_000_000_000_000) -> FakeBus.Said
        {
            let member = severity.map { ",\"severity\":\"\($0)\"" } ?? ""
            return .partial(
                """
                {"module":"A","at":\(at),"stream":"err","pid":5,"start":1,"since":1,"number":\(number)\(member),\
                "line":"\(text)"}
                """)
        }
        let lines = [
            line(1, "old", "error", at: 9), line(2, "plain", nil), line(3, "warning", "warning"),
            line(4, "bad", "critical"), line(5, "detail", "debug"), Self.end,
        ]
        let (_, asked, texts) = try await follow("--level", "warning", "--since", "10m", answers: [lines])
        #expect(texts == ["warning", "bad"])
        #expect(asked.first?.body == #"{"lines":9223372036854775807,"follow":true}"#)
        #expect(try await follow("--level", "info", answers: [lines]).texts == ["old", "plain", "warning", "bad"])
        #expect(try await follow("--since", "10m", answers: [lines]).texts == ["plain", "warning", "bad", "detail"])
        let wrong = try await follow("--level", "loud", answers: [[Self.end]]).run
        #expect(wrong.status == 2 && wrong.error.contains("loud"), "\(wrong.error)")
    }

    @Test(.promise("M.74")) func whereNoneWasShownThoseFromBeforeStayAway() async throws {
        let again = [Self.line(3, "A", "old", at: 9), Self.line(4, "A", "new"), Self.end]
        let (run, _, texts) = try await follow("--lines", "0", answers: [[.close], again])
        #expect(run.status == 0 && texts == ["new"], "\(texts)")
    }

    @Test(.promise("M.74")) func aLauncherThatIsNotThereYetIsWaitedForToo() async throws {
        let away = FakeBus.Said.error("unavailable", "no launcher is connected to this broker")
        let (run, asked, texts) = try await follow(
            answers: [
                [.error("died", "the launcher died")], [away], [away], [Self.line(0, "A", "a"), Self.end],
            ])
        #expect(run.status == 0 && texts == ["a"] && asked.count == 4)
        #expect(run.error.ranges(of: " is back").count == 1 && run.error.ranges(of: "waiting up to 30 s").count == 1)
        // At the beginning it is no loss.
        let none = try await follow(answers: [[away]]).run
        #expect(none.status == 1 && none.error.hasPrefix("strata: unavailable: "))
    }

    @Test(.promise("M.74")) func aBusThatStaysAwayIsWaitedForSoLong() async throws {
        let begin = ContinuousClock.now
        let run = try await follow("--wait", "150ms", answers: [[.end]]).run
        #expect(run.status == 3 && ContinuousClock.now - begin >= .milliseconds(150))
        let said = run.error.split(separator: "\n")
        #expect(said.count == 2 && said[0].hasSuffix("; waiting up to 150 ms for it to return"), "\(run.error)")
        #expect(
            said[1].hasPrefix("strata: the app has ended, or its bus did not return within 150 ms: no bus at "))
        let atOnce = try await follow("--wait", "0", answers: [[.end]]).run
        #expect(atOnce.status == 3 && atOnce.error.split(separator: "\n").count == 1, "\(atOnce.error)")
        #expect(atOnce.error.hasPrefix("strata: the connection to the bus at "))
    }

    @Test(.promise("M.74")) func whatIsNotFollowedIsNotWaitedFor() async throws {
        let turns = Turns()
        let (run, asked) = try await strata("logs") { request in
            guard request.to == "launcher/logs" else { return [.reply(#"{"modules":[]}"#)] }
            return turns.next() == 0 ? [.close] : [Self.end]
        }
        #expect(run.status == 3 && run.error.split(separator: "\n").count == 1, "\(run.error)")
        #expect(asked.count { $0.to == "launcher/logs" } == 1)
    }

    @Test(.promise("M.74")) func ctrlCEndsTheWaitingQuietly() throws {
        let folder = try StrataTesting.TemporaryFolder()
        defer { folder.remove() }
        let bus = FakeBus(at: "\(folder.path)/bus.sock") { _ in [.end] }
        let logs = try ChildProgram(
            try BuiltExecutable.path("strata"), ["logs", "-f"], environment: ["STRATA_SOCKET": bus.path])
        #expect(logs.firstLine().hasSuffix("waiting up to 30 s for it to return"))
        // Its signal handler is installed a moment later, and then present most of the time.
        while logs.end == nil, (try? logs.wait(within: .milliseconds(50))) == nil { logs.send(signal: SIGINT) }
        #expect(logs.end == .exit(0))
        #expect(logs.outputText.split(separator: "\n").count == 1, "\(logs.outputText)")
        bus.close()
    }
}
