import Foundation
import StrataOperator
import Testing

@testable import StrataWeb

/// The reading of spans from the file that modules append to.
@Suite struct SpanReaderTests {
    private func line(_ name: String) -> String {
        #"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"\#(name)"}]}]}]}"# + "\n"
    }

    private func names(_ batch: SpanReader.Batch) throws -> [String] {
        let resources = try JSON(parsing: batch.request)["resourceSpans"]?.array ?? []
        return resources.compactMap { $0["scopeSpans"]?.array?.first?["spans"]?.array?.first?["name"]?.string }
    }

    private func withFile(_ body: (String, (String) throws -> Void) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/spans-\(UInt64.random(in: 0 ... .max)).jsonl"
        try Data().write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path) { text in
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
        }
    }

    @Test func eachWholeLineIsPushedOnce() throws {
        try withFile { path, append in
            try append(line("before"))
            var file = SpanReader(path)
            #expect(try file.next() == nil)
            try append(line("a") + line("b") + #"{"resourceSpans":[{"sco"#)
            let batch = try #require(try file.next())
            #expect(try names(batch) == ["a", "b"] && batch.spans == 2)
            #expect(try names(try #require(try file.next())) == ["a", "b"], "it wasn't pushed yet")
            file.advance(past: batch)
            #expect(try file.next() == nil, "half a line waits")
        }
    }

    @Test func aRotatedFileIsReadFromItsBeginning() throws {
        try withFile { path, append in
            try append(line("a") + line("b"))
            var file = SpanReader(path)
            try FileHandle(forWritingAtPath: path)?.truncate(atOffset: 0)
            try append(line("c"))
            #expect(try names(try #require(try file.next())) == ["c"])
        }
    }

    @Test func linesThatAreNoSpansAreCounted() throws {
        try withFile { path, append in
            var file = SpanReader(path)
            try append("nonsense\n{}\n" + line("a") + "[1]\n")
            let batch = try #require(try file.next())
            #expect(batch.malformed == 3)
            #expect(try names(batch) == ["a"])
        }
    }

    @Test func aLineBeyondABatchIsPassedOver() throws {
        try withFile { path, append in
            var file = SpanReader(path)
            try append(String(repeating: "x", count: SpanReader.most + 10))
            let batch = try #require(try file.next())
            #expect(batch.malformed == 1 && batch.request.isEmpty)
            file.advance(past: batch)
            #expect(try file.next() == nil)
            try append("\n" + line("a"))
            let next = try #require(try file.next())
            #expect(try names(next) == ["a"])
        }
    }

    @Test func aFileThatIsNotThereYetIsWaitedFor() throws {
        var file = SpanReader("/nonexistent/spans.jsonl")
        #expect(try file.next() == nil)
    }
}
