import Foundation
import StrataCore
import Synchronization
import Testing

/// `strata top` against a bus whose numbers grow.
@Suite(.timeLimit(.hang))
struct CommandTopTests {
    private static func stats(_ calls: Int) -> String {
        """
        {"counters":{"calls":\(calls),"errors":2,"broadcasts":0,"notices":0,"reports":0},\
        "callMicroseconds":{"p50":45,"p90":99,"p99":1500,"max":2500000,"count":\(calls)}}
        """
    }

    /// Runs it for two looks.
    private func top(columns: UInt16? = nil) async throws -> CommandRun {
        let output: CommandRun.Output = columns.map { .terminal(columns: $0) } ?? .pipe
        let looks = Counter()
        return try await strata(
            "top", "--count", "2", "--interval", "100ms", environment: ["NO_COLOR": "1"], output: output
        ) { request in
            request.to == "bus/modules"
                ? [.reply(CommandStatusTests.modules)] : [.reply(Self.stats(1_000 * looks.next()))]
        }.run
    }

    @Test func programsGetALineEachLookWithRates() async throws {
        let run = try await top()
        let looks = try run.lines.map { try JSON(parsing: $0) }
        try #require(looks.count == 2, "\(run)")
        #expect(looks[0]["callsPerSecond"] == 0 && looks[0]["calls"] == 1_000)
        #expect(looks[1]["calls"] == 2_000 && looks[1]["errorsPerSecond"] == 0)
        // A thousand more in 99 ms or more, because the loop's clock counts whole milliseconds.
        let rate = try #require(looks[1]["callsPerSecond"]?.integer)
        #expect((1...10_102).contains(rate), "\(rate)")
        #expect(looks[1]["modules"] == 2 && looks[1]["ready"] == 1 && looks[1]["restarts"] == 2)
        #expect(looks[1]["p99Microseconds"] == 1_500 && looks[1]["open"] == 3)
    }

    @Test(arguments: [80, 160] as [UInt16])
    func aPersonGetsATableThatIsDrawnAgain(columns: UInt16) async throws {
        let run = try await top(columns: columns)
        let screens = run.output.components(separatedBy: "\u{1B}[H").dropFirst()
        try #require(screens.count == 2, "\(run.output)")
        let screen = screens.last ?? ""
        #expect(screen.contains("1 of 2 modules ready, 2 restarts"))
        #expect(screen.contains("calls take p50 45 µs  p99 1.5 ms  max 2.5 s  of 2000"))
        #expect(screen.contains("MODULE   STATE   PID  MEMORY  OPEN  WAITING  QUEUED  RESTARTS"), "\(screen)")
        #expect(screen.contains("Export   absent    –       –     0        0     0 B         0"), "\(screen)")
        #expect(!screen.contains("\u{1B}[3"))
    }

    @Test(arguments: [["--interval", "1ms"], ["--interval", "soon"], ["--count", "0"]])
    func whatCannotBeIsBadUsage(words: [String]) async throws {
        let run = try await CommandRun.of(["top"] + words)
        #expect(run.status == 2)
        #expect(run.error.contains(words[0]))
    }
}

/// Counts from 1, on any thread.
private final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
