import Testing

@testable import StrataLauncher

/// The lines of modules that are kept, and their readers.
@Suite(.timeLimit(.hang))
struct OutputLogTests {
    private func line(_ text: String, start: Int = 1) -> OutputLine {
        OutputLine(at: 1, stream: .out, pid: 7, start: start, bytes: Array(text.utf8))
    }

    private func logs(_ lines: [(String, String)]) -> OutputLogs {
        var logs = OutputLogs()
        for (module, text) in lines { logs.add(line(text), of: module) }
        return logs
    }

    private func reader(
        _ logs: OutputLogs, modules: Set<String>? = nil, lines: UInt64 = 10, follows: Bool = false
    ) -> LogReader {
        LogReader(id: 1, credit: .max, modules: modules, lines: lines, follows: follows, logs)
    }

    /// Returns text like `A one`, with the number of missed lines before it in parentheses.
    private func taken(_ reader: inout LogReader, _ logs: OutputLogs) -> [String] {
        var texts: [String] = []
        while let one = reader.take(from: logs) {
            let missed = one.missed > 0 ? "(\(one.missed)) " : ""
            texts.append("\(missed)\(one.module) \(String(decoding: one.line.bytes, as: UTF8.self))")
        }
        return texts
    }

    @Test(.promise("M.72")) func aThousandLinesAreKept() {
        var log = OutputLog()
        for number in 0..<2_500 {
            log.add(OutputLog.Entry(place: UInt64(number), line: line("\(number)")))
            #expect(log.count == min(number + 1, 1_000))
        }
        #expect(log.written == 2_500 && log.oldest == 1_500 && log.bytes == 4_000)
        #expect(log[1_500].line.bytes == Array("1500".utf8) && log[2_499].line.bytes == Array("2499".utf8))
    }

    @Test(.promise("M.72")) func aQuarterOfAMebibyteIsKept() {
        var log = OutputLog()
        let long = String(repeating: "x", count: LineSplitter.longest)
        for number in 0..<100 {
            log.add(OutputLog.Entry(place: UInt64(number), line: line(long)))
            #expect(log.bytes <= 256 << 10)
        }
        #expect(log.count == 32 && log.oldest == 68)
        // Short lines fill the room that long ones leave.
        for number in 100..<1_090 { log.add(OutputLog.Entry(place: UInt64(number), line: line("x"))) }
        #expect(log.count == 1_000 && log.bytes == 10 * LineSplitter.longest + 990)
        #expect(log[log.oldest].place == 90)
    }

    @Test(.promise("M.72")) func linesOfAllModulesComeInTheirOrder() {
        let logs = logs([("A", "1"), ("B", "2"), ("A", "3"), ("C", "4")])
        var all = reader(logs)
        #expect(taken(&all, logs) == ["A 1", "B 2", "A 3", "C 4"])
        #expect(all.isDone(logs))
        var some = reader(logs, modules: ["A", "C", "None"], lines: 1)
        #expect(!some.isDone(logs))
        #expect(taken(&some, logs) == ["A 3", "C 4"])
        var none = reader(logs, lines: 0)
        #expect(none.isDone(logs) && taken(&none, logs).isEmpty)
    }

    @Test func whoDoesNotFollowGetsWhatWasThere() {
        var logs = logs([("A", "1")])
        var reader = reader(logs)
        logs.add(line("2"), of: "A")
        logs.add(line("3"), of: "New")
        #expect(taken(&reader, logs) == ["A 1"])
        #expect(reader.isDone(logs) && reader.missing(logs) == 0)
    }

    @Test func whoFollowsGetsOnAndMissesWhatGaveWay() {
        var logs = logs([("A", "old"), ("A", "1")])
        var reader = reader(logs, modules: ["A"], lines: 1, follows: true)
        #expect(taken(&reader, logs) == ["A 1"])
        for number in 0..<1_250 { logs.add(line("\(number)"), of: "A") }
        logs.add(line("b"), of: "B")
        #expect(!reader.isDone(logs) && reader.missing(logs) == 1_250)
        let texts = taken(&reader, logs)
        #expect(texts.count == 1_000 && texts.first == "(250) A 250" && texts.last == "A 1249")
        #expect(reader.missing(logs) == 0)
    }

    @Test(.promise("M.75")) func whatGaveWayToAReaderThatEndsIsCounted() {
        var logs = logs([("A", "1"), ("A", "2")])
        var reader = reader(logs)
        for number in 0..<1_000 { logs.add(line("\(number)"), of: "A") }
        #expect(reader.isDone(logs) && reader.missing(logs) == 2)
        #expect(taken(&reader, logs).isEmpty)
    }

    @Test func aModuleWhoseRowWentAndCameIsReadFromItsBeginning() {
        var logs = logs([("A", "1"), ("A", "2"), ("A", "3")])
        var reader = reader(logs, follows: true)
        _ = taken(&reader, logs)
        logs.forget("A")
        reader.forget("A")
        #expect(taken(&reader, logs).isEmpty)
        logs.add(line("new"), of: "A")
        #expect(taken(&reader, logs) == ["A new"])
    }
}
