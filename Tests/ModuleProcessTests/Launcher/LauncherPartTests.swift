import Glibc
import StrataCore
import Testing

@testable import StrataLauncher

/// Small decisions of the launcher, without any process or socket.
@Suite(.timeLimit(.hang))
struct LauncherPartTests {
    // MARK: The result of the start

    @Test func startIsSummedUpOnceWhenNoneIsOpen() {
        var progress = StartProgress(at: 1_000)
        #expect(progress.summary([("A", .ready), ("B", .open)], at: 2_000) == nil)
        #expect(
            progress.summary([("A", .ready), ("B", .missed), ("C", .missed)], at: 2_500)
                == "1 of 3 modules are ready after 1.5 s; not ready: B and C")
        #expect(progress.summary([("A", .ready)], at: 3_000) == nil)
    }

    @Test(arguments: [
        (["A", "B"], [], "all 2 modules are ready after 500 ms"), (["A"], [], "the module is ready after 500 ms"),
        ([], ["A"], "the module, A, is not ready after 500 ms"), ([], [], "all 0 modules are ready after 500 ms"),
    ])
    func summaryNamesWhoIsNotReady(ready: [String], missed: [String], text: String) {
        var progress = StartProgress(at: 0)
        let starts = ready.map { (name: $0, fate: StartProgress.Fate.ready) } + missed.map { ($0, .missed) }
        #expect(progress.summary(starts, at: 500) == text)
    }

    // MARK: Signals

    @Test func endOfATerminalEndsTheAppAndOfNoneReloadsIt() {
        func order(_ signal: Int32, terminal: Bool, ignored: Set<Int32> = []) -> OwnProcess.Order? {
            OwnProcess.orders(hasTerminal: terminal) { ignored.contains($0) }.first { $0.signal == signal }?.order
        }
        #expect(order(SIGHUP, terminal: true) == .end("SIGHUP"))
        #expect(order(SIGHUP, terminal: false) == .reload)
        #expect(order(SIGHUP, terminal: true, ignored: [SIGHUP]) == nil)
        #expect(order(SIGTSTP, terminal: false) == .suspend && order(SIGCONT, terminal: false) == .goOn)
        #expect(order(SIGCONT, terminal: true, ignored: [SIGTSTP]) == nil)
        // The signals that a shell ignores for background programs still end the app.
        #expect(order(SIGINT, terminal: true, ignored: [SIGINT]) == .end("SIGINT"))
        #expect(order(SIGTERM, terminal: false) == .end("SIGTERM") && order(SIGCHLD, terminal: false) == .reap)
    }

    // MARK: Readers of lines

    private func streams(_ lines: String...) -> LogStreams {
        var streams = LogStreams()
        for line in lines { streams.add(self.line(line), of: "A") }
        return streams
    }

    private func line(_ text: String) -> OutputLine {
        OutputLine(at: 1, stream: .out, pid: 7, start: 1, bytes: Array(text.utf8))
    }

    /// Returns `1 text` for a line to reader 1, and `1 {…}` for its end.
    private func sent(_ streams: inout LogStreams, most: Int = 1_000, room: Int = .max) throws -> [String] {
        var sent: [String] = []
        streams.send(most: most, while: { sent.count < room }, { sent.append(Self.text($0)) })
        return sent
    }

    private static func text(_ reply: LogStreams.Reply) -> String {
        switch reply {
        case .line(let id, let body):
            let json = (try? JSON(parsing: body)) ?? .null
            return "\(id) \(json["line"]?.string ?? "none")\(json["cut"]?.bool == true ? "…" : "")"
        case .end(let id, let body): return "\(id) \(String(decoding: body, as: UTF8.self))"
        }
    }

    private func request(_ json: JSON = .object([])) throws -> LogRequest { try LogRequest(json.encoded()) }

    @Test func readerGetsALineForEachCreditAndThenItsEnd() throws {
        var streams = streams("a", "b", "c")
        try streams.open(1, credit: 2, request())
        #expect(try sent(&streams) == ["1 a", "1 b"])
        #expect(try sent(&streams) == [])
        streams.received(1, for: 9)
        #expect(try sent(&streams) == [])
        streams.received(.max, for: 1)
        #expect(try sent(&streams) == ["1 c", "1 {}"])
        #expect(try sent(&streams) == [])
    }

    @Test func readersWaitForRoom() throws {
        var streams = streams("a", "b")
        try streams.open(1, credit: 9, request(["follow": true]))
        try streams.open(2, credit: 9, request(["follow": true, "lines": 1]))
        #expect(try sent(&streams, room: 1) == ["1 a"])
        #expect(try sent(&streams) == ["1 b", "2 b"])
        streams.drop(1)
        streams.add(line("c"), of: "A")
        #expect(try sent(&streams) == ["2 c"])
        streams.dropAll()
        streams.add(line("d"), of: "A")
        #expect(try sent(&streams) == [])
    }

    @Test func lineThatDoesNotFitIsCut() throws {
        var streams = streams(String(repeating: "x", count: 400))
        try streams.open(1, credit: 9, request())
        #expect(try sent(&streams, most: 300).first == "1 \(String(repeating: "x", count: 100))…")
    }

    @Test func endOfTheAppIsSaidWithWhatIsMissed() throws {
        var streams = streams("a", "b")
        try streams.open(1, credit: 1, request(["follow": true]))
        _ = try sent(&streams)
        var ends: [String] = []
        streams.end("over") { ends.append(Self.text($0)) }
        #expect(ends == [#"1 {"ended":"over","missed":1}"#])
        streams.end("again") { ends.append(Self.text($0)) }
        #expect(ends.count == 1)
    }

    @Test func thereAreSixteenReadersAtMost() throws {
        var streams = LogStreams()
        for id in UInt64(0)..<16 { try streams.open(id, credit: 0, request(["follow": true])) }
        #expect(throws: BusError.self) { try streams.open(16, credit: 0, request()) }
        streams.drop(3)
        #expect(throws: Never.self) { try streams.open(16, credit: 0, request()) }
    }

    @Test(arguments: [#"[]"#, #"{"modules":"A"}"#, #"{"modules":[1]}"#, #"{"lines":-1}"#, #"{"follow":1}"#, "{"])
    func requestForLinesThatIsNoneIsRefused(text: String) {
        #expect(throws: BusError.self) { try LogRequest(Array(text.utf8)) }
    }
}
