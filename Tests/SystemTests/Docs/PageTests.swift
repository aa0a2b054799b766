import StrataTesting
import TestSupport
import Testing

/// The code that pages show is compiled and run.
@Suite(.timeLimit(.hang))
struct PageTests {
    /// All pages but two, whose Swift code `GuideTests` compares with tests that run.
    static let pages: [String] = {
        let names = (try? Repository.entries("docs")) ?? []
        return ["README.md"]
            + names.filter { $0.hasSuffix(".md") && !["testing.md", "simulation.md"].contains($0) }.map { "docs/\($0)" }
    }()

    /// The page whose session needs strata-link and nats-server.
    static let nodes = "docs/three-machines.md"

    /// The pages with terminal sessions that need neither.
    static let sessions = pages.filter { path in
        path != nodes && (try? page(path))?.samples.contains { $0.language == "console" && !$0.isOnlyShown } ?? true
    }

    /// Reads a page. The tour of the example app in docs/guide.md is left out: the example's own tests replay it.
    static func page(_ path: String) throws -> Page {
        try Page(Repository.path(path), section: path == "docs/guide.md" ? "An app of your own" : nil)
    }

    @Test(.promise("M.90"), arguments: pages) func theSwiftOfAPageCompiles(_ path: String) throws {
        for finding in try SampleFolder(Self.page(path)).check() { Issue.record("\(path): \(finding)") }
    }

    @Test(.promise("M.90"), arguments: sessions) func theSessionsOfAPageRunAsShown(_ path: String) throws {
        let folder = try SampleFolder(Self.page(path))
        for finding in try folder.build() { Issue.record("\(path): \(finding)") }
        #expect(try folder.replay() > 0)
    }

    #if STRATA_LINK
        @Test(.promise("M.90")) func theSessionOfThreeMachinesRunsAsShown() throws {
            let folder = try SampleFolder(Self.page(Self.nodes))
            for finding in try folder.build() { Issue.record("\(finding)") }
            #expect(try folder.replay() > 8)
        }
    #endif

    /// A session that is only indented would be shown, but not run.
    @Test(.promise("M.90"), arguments: LinkTests.pages) func sessionsAreBlocks(_ path: String) throws {
        for (index, line) in try Repository.lines(path).enumerated() where line.hasPrefix("    $ ") {
            Issue.record("\(path):\(index + 1): a session is a block that begins with ```console")
        }
    }

    @Test func thereArePages() throws {
        #expect(Self.pages.count > 12)
        #expect(Self.sessions.contains("README.md") && Self.sessions.contains("docs/guide.md"))
    }
}
