import StrataManifest
import Testing

@Suite(.timeLimit(.hang))
struct ManifestPlacesTests {
    private static let text = """
        modules:
          A.b:
            provides:
              - One
              - Two
            level: middle
            reports: {B: [x, y]}
          B:
        """

    @Test(
        .promise("M.44"),
        arguments: [
            (["modules", "A.b", "level"], "7:12", "modules.A.b.level"),
            (["modules", "A.b", "provides"], "4:5", "modules.A.b.provides"),
            (["modules", "A.b", "provides", 1], "6:9", "modules.A.b.provides[1]"),
            (["modules", "A.b", "reports", "B"], "8:15", "modules.A.b.reports.B"),
            (["modules", "A.b", "reports", "B", 1], "8:22", "modules.A.b.reports.B[1]"),
            (["modules", 1], "9:3", "modules.B"),
            (["modules", "B"], "9:3", "modules.B"),
        ] as [([ManifestPlaces.Step], String, String)])
    func valueHasItsPlace(_ steps: [ManifestPlaces.Step], _ place: String, _ key: String) throws {
        let problem = try ReviewedApp(Self.text).manifest.problem(steps, "x")
        #expect("\(problem.line ?? 0):\(problem.column ?? 0)" == place)
        #expect(problem.key == key)
    }

    /// A missing key has the place of what would contain it.
    @Test(
        .promise("M.44"),
        arguments: [
            (["modules", "A.b", "provides", 2], "4:5", "modules.A.b.provides"),
            (["modules", "B", "provides", 0], "9:3", "modules.B.provides"),
            (["modules", "C", "level"], "2:1", "modules.C.level"),
            (["modules", "A.b", "level", "x"], "7:12", "modules.A.b.level.x"),
            (["modules", 2], "2:1", "modules"),
            (["calls"], "0:0", "calls"),
        ] as [([ManifestPlaces.Step], String, String)])
    func whatIsNotThereHasItsParentsPlace(_ steps: [ManifestPlaces.Step], _ place: String, _ key: String) throws {
        let problem = try ReviewedApp(Self.text).manifest.problem(steps, "x")
        #expect("\(problem.line ?? 0):\(problem.column ?? 0)" == place)
        #expect(problem.key == key)
    }

    @Test func manifestWithoutAFileHasNoPlaces() {
        let found = ManifestPlaces().find(["modules", "A", 3])
        #expect(found.place == nil && found.key == "modules.A")
    }
}
