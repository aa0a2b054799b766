import Glibc
import StrataTesting
import TestSupport
import Testing

/// The app of a manifest beside a test, some rows of which the test plays.
@Suite(.timeLimit(.hang))
struct TestedAppTests {
    private static func manifest(in folder: TemporaryFolder, _ more: String = "") throws -> String {
        let path = "\(folder.path)/strata.yaml"
        let module = try BuiltExecutable.path("StrataFixture")
        try WrittenProgram.write(
            """
            app: tested
            modules:
              Base: {run: [\(module)], provides: [Base]}
              Lazy: {start: on-demand, run: [\(module)], provides: [Lazy]}
              Played: {level: middle, run: [not-there], provides: [Played]}
            \(more)
            """, to: path)
        return path
    }

    @Test(.promise("S.7")) func otherRowsRunAsTheyAre() async throws {
        let folder = try TemporaryFolder()
        let pid = try await TestBus.app(Self.manifest(in: folder), play: ["Played"]) { bus in
            try bus.play("Played") { $0.answers("Played/size") { _ in ["size": 3] } }
            try bus.waitUntilReady("Base", "Played")
            let unknown = #expect(throws: TestFailure.self) { try bus.waitUntilReady("Bass") }
            #expect(unknown?.description.contains("there is no row Bass: the table has Base, Lazy, Played") == true)
            #expect(throws: TestFailure.self) { try bus.folder(of: "Base") }
            let tool = try bus.operator()
            try tool.expect("Played/size", gives: ["size": 3])
            try tool.expect("Lazy/echo", ["n": 1], gives: ["n": 1])
            return try #require(try tool.asked("Base/nap")["pid"]?.integer)
        }
        // The app has ended with the test.
        #expect(kill(pid_t(pid), 0) == -1 && errno == ESRCH)
    }

    @Test(.promise("S.7")) func anAppThatCantStartSaysWhy() throws {
        let folder = try TemporaryFolder()
        let path = try Self.manifest(in: folder, "  Base2: {levl: low}")
        let failure = #expect(throws: TestFailure.self) { try TestBus.app(path) { _ in } }
        #expect(failure?.description.contains("levl") == true)
        let unknown = #expect(throws: TestFailure.self) {
            try TestBus.app(Self.manifest(in: folder), play: ["Playd"]) { _ in }
        }
        #expect(unknown?.description.contains("Played") == true, "\(unknown?.description ?? "it started")")
    }
}
