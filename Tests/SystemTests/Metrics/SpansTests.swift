import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata up --spans` with modules in Swift.
@Suite(.timeLimit(.hang))
struct SpansTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    /// Returns name, parent and number of each span of the trace.
    private func spans(_ path: String) throws -> [(name: String, id: String, parent: String, service: String)] {
        var all: [(String, String, String, String)] = []
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0, let text = line {
            let of = try #require(try JSON(parsing: String(cString: text))["resourceSpans"]?.array?.first)
            let service = of["resource"]?["attributes"]?.array?.first { $0["key"] == "service.name" }
            let span = try #require(of["scopeSpans"]?.array?.first?["spans"]?.array?.first)
            guard span["traceId"]?.string == Self.trace else { continue }
            all.append(
                (
                    span["name"]?.string ?? "", span["spanId"]?.string ?? "", span["parentSpanId"]?.string ?? "",
                    service?["value"]?["stringValue"]?.string ?? ""
                ))
        }
        return all
    }

    @Test(.promise("M.70")) func aTraceGoesThroughAllModulesIntoOneFile() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        let path = app.running.folder + "/spans.jsonl"
        defer { unlink(path) }
        try app.start(["--spans", path])
        let tool = try app.tool()
        let trace: JSON = ["trace": .string("00-\(Self.trace)-00f067aa0ba902b7-01")]
        let id = try tool.call("Mid/call", ["to": "Base/span", "body": ["to": "Base/echo"]], trace)
        try tool.expectReply(to: id)
        tool.close()
        try app.end()
        // Several processes write, in any order.
        var left = try spans(path)
        var chain: [String] = []
        var parent = "00f067aa0ba902b7"
        while let index = left.firstIndex(where: { $0.parent == parent }) {
            let span = left.remove(at: index)
            chain.append("\(span.service) \(span.name)")
            parent = span.id
        }
        #expect(
            chain == [
                "Mid Mid/call", "Mid Base/span", "Base Base/span", "Base own work", "Base Base/echo", "Base Base/echo",
            ])
        #expect(left.isEmpty, "\(left)")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func aRelativeFileIsTheSameForModulesOfOtherFolders() throws {
        let app = try FixtureApp("  Far: {folder: /tmp, run: [MODULE], provides: [Far]}")
        defer { app.cleanUp() }
        let path = app.running.folder + "/spans.jsonl"
        defer { unlink(path) }
        try app.start(["--spans", "spans.jsonl"])
        let tool = try app.tool()
        try tool.expectReply(
            to: try tool.call("Far/echo", 1, ["trace": .string("00-\(Self.trace)-00f067aa0ba902b7-01")]))
        tool.close()
        try app.end()
        #expect(try spans(path).map { "\($0.service) \($0.name)" } == ["Far Far/echo"])
    }

    @Test(.promise("M.70")) func aFileThatCannotBeWrittenIsBadUsage() throws {
        let app = try FixtureApp()
        defer { app.cleanUp() }
        try app.running.start("up", ["--spans", "/none/of/these/spans.jsonl"])
        #expect(try app.running.ended() == .code(2))
        #expect(app.running.said("can't be written to /none/of/these/spans.jsonl: No such file"))
    }
}
