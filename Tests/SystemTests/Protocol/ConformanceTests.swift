import Foundation
import Glibc
import StrataTesting
import TestSupport
import Testing

/// `strata conformance`. More of it is in clients/python/tests/test_conformance.py.
@Suite(.timeLimit(.hang))
struct ConformanceTests {
    @Test(.promise("K.2")) func theRuntimePassesAllOfIt() async throws {
        let run = try await CommandRun.of([
            "conformance", "--whole", "--patience", "120", "--", try BuiltExecutable.path("ConformanceProbe"),
        ])
        #expect(run.status == 0, "\(run.output)\(run.error)")
        #expect(run.lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("  ok  ") } == [])
        #expect(run.lines.last?.hasSuffix(" passed, 0 failed") == true)
    }

    @Test(.promise("K.3")) func anInterruptionLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        let said = "\(folder.path)/said"
        // The program interrupts the kit, which is its parent, and would stay for an hour.
        let run = try await CommandRun.of([
            "conformance", "--patience", "3600", "--", "/bin/sh", "-c",
            "echo \"$STRATA_SOCKET $$\" >\(said); kill -INT $PPID; exec sleep 3600",
        ])
        #expect(run.status == 3 && run.error.contains("interrupted"), "\(run.error)")
        let words = try String(contentsOfFile: said, encoding: .utf8).split(separator: " ")
        let socket = try #require(words.first.map(String.init))
        #expect(access(socket, F_OK) != 0 && access((socket as NSString).deletingLastPathComponent, F_OK) != 0)
        let pid = try #require(words.last.flatMap { Int32($0.dropLast()) })
        #expect(kill(pid, 0) != 0)
    }
}
