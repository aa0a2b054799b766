import Strata
import StrataTesting
import Testing

/// The settings that modules declare, and their changes while the app runs.
@Suite(.timeLimit(.minutes(10)))
struct SettingsTests {
    @Test func aChangedPageCountsAtOnceUnlessItIsRefused() throws {
        let app = try CatalogApp()
        func shown() throws -> Int? { try app.tool.asked("Catalog/list")["items"]?.array?.count }
        let frames = try app.monitor(["module": "Catalog", "bodies": true])
        func answer() throws -> JSON {
            var asked: JSON?
            while true {
                let frame = try frames.next().json
                if frame["to"] == "module/settings" { asked = frame["id"] }
                if let asked, frame["id"] == asked, frame["kind"] != "call" { return frame }
            }
        }
        #expect(try shown() == 3)
        try app.reload("catalog.page: 20", as: "catalog.page: 2")
        #expect(try answer()["kind"] == "reply")
        #expect(try shown() == 2)
        try app.reload("catalog.page: 2", as: "catalog.page: 0")
        #expect(try answer()["code"] == "Catalog.bad-page")
        #expect(try shown() == 2)
        let rows = try app.tool.asked("bus/modules")["modules"]?.array ?? []
        #expect(rows.first { $0["name"] == "Catalog" }?["pending"] == ["settings.catalog.page"])
        try app.end()
    }

    @Test func aSettingOfAnotherTypeFailsTheStart() throws {
        let app = try CatalogApp()
        try app.reload("export.file: var/catalog.jsonl", as: "export.file: 5")
        let refusal = try app.tool.refused("Export/run", with: "unavailable")
        let reason = "the setting export.file: expected a string, found the number 5: set it in the manifest's settings"
        #expect("\(refusal)".contains(reason), "\(refusal)")
        try app.end()
    }
}
