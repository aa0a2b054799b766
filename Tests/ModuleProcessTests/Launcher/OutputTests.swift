import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct OutputTests {
    private func lines(_ pieces: [String]) -> [String] {
        var splitter = LineSplitter()
        var lines: [String] = []
        for piece in pieces {
            Array(piece.utf8).withUnsafeBytes { bytes in
                splitter.take(bytes) { lines.append(String(decoding: $0, as: UTF8.self)) }
            }
        }
        splitter.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
        return lines
    }

    @Test func linesComeWholeHoweverTheirBytesCome() {
        let text = "one\ntwo\r\n\nlast"
        #expect(lines([text]) == ["one", "two", "", "last"])
        #expect(lines(text.map(String.init)) == ["one", "two", "", "last"])
    }

    @Test func longLinesAreSplitAtTheBound() {
        let long = String(repeating: "x", count: 2 * LineSplitter.longest + 5)
        #expect(lines([long + "\nnext"]).map(\.utf8.count) == [LineSplitter.longest, LineSplitter.longest, 5, 4])
    }

    @Test func charactersAreNotSplit() {
        let long = String(repeating: "é", count: LineSplitter.longest)
        let lines = lines(["a" + long])
        #expect(lines.joined() == "a" + long)
        #expect(lines.allSatisfy { $0.utf8.count <= LineSplitter.longest })
    }

    @Test func lastLinesAreFewAndShort() {
        var last = LastLines()
        for number in 0..<100 {
            last.add(Array("  ".utf8))
            last.add(Array("\(number) \(String(repeating: "é", count: 1_000))".utf8))
        }
        #expect(last.lines.count == LastLines.most)
        #expect(last.lines.first?.hasPrefix("80 é") == true && last.lines.last?.hasPrefix("99 é") == true)
        #expect(last.lines.allSatisfy { $0.utf8.count <= LastLines.longest + 2 })
        #expect(last.brief.count == 4 && last.brief.allSatisfy { $0.count == 200 })
    }

    /// A backtrace is longer than what is kept.
    @Test(
        .promise("M.63"),
        arguments: [
            ["App/Store.swift:3: Fatal error: the disk is away"], ["a.swift:2: Precondition failed: i is too large"],
            ["Traceback (most recent call last):", "  File \"m.py\", line 2, in <module>", "KeyError: 'x'"],
            ["thread 'main' panicked at src/main.rs:2:5:"], ["*** Program crashed: Bad pointer dereference ***"],
        ])
    func whatAProcessDiedOfStaysAmongItsLastLines(crash: [String]) throws {
        var last = LastLines()
        last.add(Array("all is well".utf8))
        for line in crash { last.add(Array(line.utf8)) }
        if crash[0].hasPrefix("App") { last.add(Array("*** Program crashed: Illegal instruction ***".utf8)) }
        let cause = try #require(crash.last)
        #expect(last.saysCause && last.brief == [cause])
        for number in 0..<100 { last.add(Array("\(number) in libswiftCore.so".utf8)) }
        #expect(last.lines.count == LastLines.most && last.lines.first == cause && last.brief == [cause])
        #expect(last.lines.last == "99 in libswiftCore.so")
        // If a process dies of many causes in a row, the last ones are kept.
        for number in 0..<50 { last.add(Array("Fatal error: \(number)".utf8)) }
        for number in 0..<100 { last.add(Array("\(number)".utf8)) }
        #expect(last.brief == (46..<50).map { "Fatal error: \($0)" } && last.lines.count == LastLines.most)
    }

    @Test func linesThatOnlyLookSoAreNoCause() {
        var last = LastLines()
        for line in ["precondition", "a fatal mistake", "Traceback (most recent call last):", "  File \"m.py\""] {
            last.add(Array(line.utf8))
        }
        #expect(!last.saysCause && last.brief.count == 4)
    }

    @Test(
        .promise("M.62"),
        arguments: [
            ("a\u{1B}[1;31mred\u{1B}[0m b", "ared b"), ("a\u{1B}[2Jb", "a [2Jb"),
            ("\u{1B}]0;title\u{7}x", " ]0;title x"),
            ("a\u{9B}2Jb\tc", "a 2Jb c"), ("a\u{202E}b", "a b"), ("a\u{1B}", "a "), ("\u{1B}[31", " [31"),
        ])
    func lastLinesCannotSteerATerminal(line: String, shown: String) {
        var last = LastLines()
        last.add(Array(line.utf8))
        #expect(last.lines == [shown])
    }

    /// Neither a module's output nor a message that quotes it can control a terminal, or look
    /// like another module's line.
    @Test(.promise("M.57")) func nothingOnTheConsoleSteersATerminal() {
        final class Lines: LineSink {
            var all: [String] = []
            func write(line: [UInt8]) { all.append(String(decoding: line, as: UTF8.self)) }
        }
        let lines = Lines()
        let console = Console(lines, isColoured: false)
        console.line(of: "Log", Array("a\u{1B}[31mb\u{1B}[0m\tc\u{1B}[2J\u{9B}2Jé".utf8) + [0xFF])
        console.say(of: "Log", "failed: x\nLog       ready\u{1B}]0;t\u{7}")
        console.say("y\rz")
        console.plain("strata call A/b '\n'")
        #expect(
            lines.all == [
                "Log    | ab    c\\u001b[2J\\u009b2Jé\u{FFFD}", "Log      failed: x",
                "Log          Log       ready\\u001b]0;t\\u0007", "strata   y\\u000dz", "strata call A/b '\\n'",
            ])
    }

    @Test func consoleNamesEachLine() {
        final class Lines: LineSink {
            var all: [String] = []
            func write(line: [UInt8]) { all.append(String(decoding: line, as: UTF8.self)) }
        }
        let lines = Lines()
        let console = Console(lines, isColoured: false)
        console.align(to: ["Storage", "Log"])
        console.say("two\nlines")
        console.line(of: "Log", Array("hello".utf8))
        console.say(of: "Storage", "ready")
        #expect(lines.all == ["strata    two", "strata        lines", "Log     | hello", "Storage   ready"])
    }

    @Test func slowStartIsToldAtGrowingIntervals() {
        var progress = StartProgress(at: 0)
        func tick(_ now: UInt64) -> [String] {
            progress.tick([("A", "in its setUp", 500)], at: now).map(\.text)
        }
        #expect(tick(1_000).isEmpty)
        #expect(tick(2_000) == ["waits in its setUp, for 1.5 s so far"])
        #expect(tick(3_000).isEmpty)
        #expect(tick(4_000) == ["waits in its setUp, for 3.5 s so far"])
        #expect(tick(6_000).isEmpty)
        #expect(tick(10_000) == ["waits in its setUp, for 9.5 s so far"])
    }
}
