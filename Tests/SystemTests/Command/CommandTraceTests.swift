import Foundation
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// `strata trace`, on files that the test writes.
@Suite(.timeLimit(.hang))
struct CommandTraceTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway

    private func trace(_ words: String...) throws -> (end: ChildProgram.End, said: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), ["trace", "--spans", "\(folder.path)/spans"] + words)
        return (try program.wait(), program.outputText)
    }

    /// A line of a span file. The trace is 32 times its first digit.
    private func line(
        _ trace: String, _ id: String, of parent: String? = nil, _ module: String, _ name: String, kind: Int = 2,
        _ begin: Int, _ end: Int, error: String? = nil
    ) -> String {
        let above = parent.map { #""parentSpanId":"\#($0)","# } ?? ""
        let failed = error.map { #","attributes":[{"key":"error.type","value":{"stringValue":"\#($0)"}}]"# } ?? ""
        return
            #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"\#(module)"}}]},"#
            + #""scopeSpans":[{"spans":[{"traceId":"\#(String(repeating: trace, count: 32))","spanId":"\#(id)",\#(above)"#
            + #""name":"\#(name)","kind":\#(kind),"startTimeUnixNano":"\#(begin)000","endTimeUnixNano":"\#(end)000"\#(failed),"#
            + #""status":{\#(error == nil ? "" : #""code":2"#)}}]}]}]}"#
    }

    private func write(_ lines: String...) throws {
        try WrittenProgram.write(lines.joined(separator: "\n") + "\n", to: "\(folder.path)/spans", mode: 0o600)
    }

    private func rows(_ said: String) throws -> [JSON] {
        try said.split(separator: "\n").filter { $0.hasPrefix("{") }.map { try JSON(parsing: Array($0.utf8)) }
    }

    @Test(.promise("M.162")) func eachSpanIsBelowTheOneThatItWasMadeFor() throws {
        try write(
            line("a", "03", of: "02", "Store", "Store/get", 30, 60, error: "Store.gone"),
            line("b", "09", "Other", "Other/thing", 5, 6),
            line("a", "04", of: "01", "Cart", "send cart.filled", kind: 4, 70, 75),
            line("a", "02", of: "01", "Cart", "Store/get", kind: 3, 20, 65, error: "Store.gone"),
            line("a", "01", of: "ff", "Cart", "Cart/fill", 10, 90))
        let run = try trace("aaa")
        #expect(run.end == .exit(0))
        let rows = try rows(run.said)
        #expect(rows.map { $0["name"]?.string } == ["Cart/fill", "Store/get", "Store/get", "send cart.filled"])
        #expect(rows.map { $0["depth"]?.integer } == [0, 1, 2, 1])
        #expect(rows.map { $0["module"]?.string } == ["Cart", "Cart", "Store", "Cart"])
        #expect(rows.map { $0["error"]?.string } == [nil, "Store.gone", "Store.gone", nil])
        #expect(rows.map { $0["microseconds"]?.integer } == [80, 45, 30, 5])
        let list = try self.rows(try trace().said)
        #expect(list.map { $0["trace"]?.string?.prefix(1) } == ["a", "b"])
        #expect(list.map { $0["spans"]?.integer } == [4, 1])
        #expect(list.map { $0["error"]?.string } == ["Store.gone", nil])
    }

    @Test(.promise("M.162")) func aFileMayHaveBrokenLinesAndCircles() throws {
        try write(
            line("a", "01", of: "02", "A", "A/a", 1, 2), line("a", "02", of: "01", "B", "B/b", 2, 3),
            line("a", "03", of: "03", "C", "C/c", 3, 4), "{\"resourceSpans\":[{", "nonsense", "{}")
        let run = try trace("a")
        #expect(run.end == .exit(0) && run.said.contains("3 lines are no spans"), "\(run.said)")
        let rows = try rows(run.said)
        #expect(rows.map { $0["name"]?.string } == ["A/a", "B/b", "C/c"])
        #expect(rows.map { $0["depth"]?.integer } == [0, 1, 0])
    }

    @Test(.promise("M.162")) func aTraceThatIsNotFoundIsSaid() throws {
        var run = try trace()
        #expect(run.end == .exit(2) && run.said.contains("`strata up --spans \(folder.path)/spans`"), "\(run.said)")
        try write(line("a", "01", "A", "A/a", 1, 2), line("b", "02", "B", "B/b", 2, 3))
        run = try trace("c")
        #expect(run.end == .exit(1) && run.said.contains("has no trace c"), "\(run.said)")
        run = try trace("xyz")
        #expect(run.end == .exit(2) && run.said.contains("0-9 and a-f; found xyz"), "\(run.said)")
    }

    @Test(.promise("M.162")) func aNumberOfTooFewDigitsNamesTheTraces() throws {
        let other = line("a", "02", "B", "B/b", 2, 3).replacingOccurrences(of: "aaaa\"", with: "aaab\"")
        try write(line("a", "01", "A", "A/a", 1, 2), other)
        let run = try trace("aaa")
        #expect(run.end == .exit(2) && run.said.contains("one of 2 traces"), "\(run.said)")
        #expect(try trace(String(repeating: "A", count: 32)).end == .exit(0))
    }
}
