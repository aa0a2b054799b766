import StrataTesting
import TestSupport
import Testing

/// The manifests that pages show are checked, each with the lines that it needs and that the page
/// leaves out.
@Suite(.timeLimit(.hang))
struct ManifestSampleTests {
    static let pages = (PageTests.pages + ["clients/python/README.md"]).filter { !samples($0).isEmpty }

    private static func samples(_ path: String) -> [PageSample] {
        let samples = (try? Page(Repository.path(path)))?.samples ?? []
        return samples.filter { $0.language == "yaml" && !$0.isOnlyShown }
    }

    @Test(.promise("M.90"), arguments: pages) func eachManifestOfAPageIsRight(_ path: String) async throws {
        let folder = try TemporaryFolder()
        for sample in Self.samples(path) {
            let file = try folder.file("strata.yaml", (sample.given + sample.lines).map { $0 + "\n" }.joined())
            let run = try await CommandRun.of(["check", "--static", file])
            #expect(run.status == 0, "\(path):\(sample.line): \(run.error)")
        }
    }

    @Test func thereAreManifests() {
        for page in ["README.md", "docs/manifest.md", "docs/guide.md"] { #expect(Self.pages.contains(page)) }
    }
}
