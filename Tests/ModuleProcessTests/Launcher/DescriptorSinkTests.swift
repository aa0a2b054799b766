import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct DescriptorSinkTests {
    private func line(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    @Test(.promise("R.16")) func aFullDisksLinesAreCountedAndItGoesOnWhenThereIsRoom() throws {
        let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let sink = DescriptorSink(descriptor: descriptor)
        sink.write(line: line("one"))
        sink.finish(within: 120_000)
        sink.write(line: line("two"))
        sink.write(line: line("three"))
        sink.finish(within: 120_000)
        let pipe = try Pipe()
        defer { pipe.closeReading() }
        dup2(pipe.writing, descriptor)
        pipe.closeWriting()
        sink.write(line: line("four"))
        sink.finish(within: 120_000)
        #expect(
            read(pipe.reading)
                == "strata: 3 lines were dropped here: they could not be written\nfour\n")
        sink.write(line: line("five"))
        sink.finish(within: 120_000)
        #expect(read(pipe.reading) == "five\n")
    }

    @Test(.promise("R.15")) func whatComesTooFastIsDroppedInWholeLinesAndCounted() throws {
        let pipe = try Pipe(readingBlocks: true)
        defer { pipe.closeReading() }
        let sink = DescriptorSink(descriptor: pipe.writing)
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        // The pipe and the buffer are full long before the end.
        for _ in 0..<64 { sink.write(line: long) }
        sink.write(line: line("last"))
        var text = ""
        // Returns the number of lines that were kept, and of those that were counted instead.
        func told() -> (kept: Int, dropped: Int) {
            let lines = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
            let counts = lines.filter { $0.hasPrefix("strata: ") && $0.hasSuffix(" could not be written") }
                .compactMap { Int($0.split(separator: " ")[1]) }
            #expect(lines.allSatisfy { $0.utf8.count == long.count || $0 == "last" || $0.hasPrefix("strata: ") })
            return (lines.count - counts.count, counts.reduce(0, +))
        }
        while told().kept + told().dropped < 65 {
            sink.finish(within: 0)
            text += read(pipe.reading)
        }
        #expect(told().kept >= 15 && told().dropped >= 1)
        #expect(told().kept + told().dropped == 65)
    }
}
