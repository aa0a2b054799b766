import StrataCore
import StrataTesting
import Testing

/// `strata timeline` and `strata graph` for a whole app.
@Suite(.timeLimit(.hang))
struct PicturedAppTests {
    private static let marks = [
        "spawned", "connected", "setUpBegun", "setUpEnded", "initializeBegun", "initializeEnded", "ready",
    ]

    private func lines(_ app: FixtureApp, _ words: String...) throws -> [JSON] {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), words, environment: ["STRATA_SOCKET": app.running.socket])
        let end = try program.wait()
        try #require(end == .exit(0), "\(program.outputText)")
        return try program.outputText.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    @Test(.promise("I.12")) func theTimelineOfARealStartIsWholeAndInOrder() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let first = try lines(app, "timeline")
        #expect(first.map { $0["name"]?.string } == ["Base", "Mid", "Top", "Lazy", nil])
        let times = first.prefix(3).map { row in Self.marks.map { row[$0]?.integer ?? -1 } }
        for row in times { #expect(row == row.sorted() && row[0] > 0) }
        // A group starts when the one before it has done setUp, and initializes after all groups
        // have. Times of two modules count as equal within a millisecond.
        for (one, other) in [
            (times[0][3], times[1][0]), (times[1][3], times[2][0]), (times[2][3], times[0][4]),
            (times[0][5], times[1][4]),
        ] { #expect(one <= other + 1_000) }
        #expect(first[3]["state"] == "absent" && first[3]["spawned"] == nil)
        let summary = first[4]
        #expect((summary["microseconds"]?.integer ?? 0) >= times[2][6] - times[0][0] - 1_000)
        #expect(summary["criticalPath"]?.array?.first?["module"] == "Base")
        #expect(summary["criticalPath"]?.array?.last?["phase"] == "initialize")

        // The times survive a replacement of the broker. Another start has times of its own.
        _ = try lines(app, "restart", "--broker")
        #expect(try lines(app, "timeline") == first)
        _ = try lines(app, "restart", "Mid")
        let second = try lines(app, "timeline")
        #expect(second[0] == first[0] && second[2] == first[2])
        #expect((second[1]["spawned"]?.integer ?? 0) > times[1][6])
        #expect(second[4]["ready"] == summary["ready"])
        try app.end()
    }

    @Test(.promise("M.66")) func whatARealBusPassesIsSeen() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"),
            ["graph", app.running.manifest, "--seen", "3s", "--dot"],
            environment: ["STRATA_SOCKET": app.running.socket])
        // Call until the watching has begun and has seen some calls.
        repeat {
            _ = try tool.asked("TopRouter/call", ["to": "Base/echo", "body": "x"])
            _ = try tool.asked("TopRouter/open", ["url": "fixture://base.fixture/show/it"])
        } while (try? program.wait(within: .milliseconds(1))) == nil
        #expect(program.outputText.contains(#"m0 -> m2 [label="Base ×"#), "\(program.outputText)")
        #expect(
            program.outputText.contains(##"m0 -> m2 [label="base.fixture/show/:what ×"##), "\(program.outputText)")
        tool.close()
        try app.end()
    }

    @Test(.promise("M.66")) func whatTheProgramsSayIsDrawnToo() throws {
        let app = try FixtureApp("  Bare: {start: manual}\n  Mute: {start: manual, run: [/bin/true]}")
        defer { app.cleanUp() }
        func dot(_ more: String...) throws -> String {
            let program = try ChildProgram(
                try BuiltExecutable.path("strata"), ["graph", app.running.manifest, "--dot"] + more)
            try #require(try program.wait() == .exit(0), "\(program.outputText)")
            return program.outputText
        }
        #expect(!(try dot()).contains("//"))
        #expect(try dot("--describe").contains("// Mute: it did not describe itself (--describe): "))
    }
}
