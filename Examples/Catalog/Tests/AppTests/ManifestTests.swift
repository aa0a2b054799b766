import Strata
import StrataTesting
import Testing

/// The manifest, and what it keeps the modules to.
@Suite(.timeLimit(.minutes(10)))
struct ManifestTests {
    @Test func checkFindsNothing() throws {
        let app = try CatalogApp()
        #expect(try JSON(parsing: Array(try app.check().utf8))["modules"] == 9)
        #expect(try app.check("--fix").hasSuffix("nothing to fix: the rows have all that their programs say\n"))
        try app.end()
    }

    @Test func eachModuleIsInItsLevelAndEndsInOrder() throws {
        let app = try CatalogApp()
        let levels = try app.tool.asked("bus/levels")["levels"]?.array ?? []
        let modules = levels.map { $0["modules"]?.array?.compactMap(\.string) ?? [] }
        let last = ["Catalog", "Notes", "Finder", "Export", "Suggest~1", "Suggest~2", "Disk"]
        #expect(modules == [["Storage", "Log"], ["Session"], last])
        try app.end()
    }

    /// Notes says what it calls by the adapter's name, so a misnamed member is known to be a mistake.
    @Test func aMemberThatTheAdapterMisnamesIsAnError() throws {
        let app = try CatalogApp(["params: {ticket: token}": "params: {ticket: tokenn}"])
        let found = try app.check(exit: 2)
        #expect(found.contains("what Notes"), "\(found)")
        #expect(found.contains("$.actions.writer.params.token: expected absent, found a string, required"), "\(found)")
        try app.end()
    }
}
