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

    @Test func eachModuleTakesItsOwnSettings() throws {
        let app = try CatalogApp(packages: 3, ["finder.page: 10": "finder.page: 2"])
        let tool = app.tool
        // The first ones wait for their processes.
        let find: JSON = ["words": ["number"]]
        #expect(try tool.expectReply(to: try tool.call("Finder/find", find)).json["pages"] == 2)
        let wanted: JSON = ["name": "packages1"]
        let suggested = try tool.call("Suggest/names", wanted)
        #expect(try tool.expectReply(to: suggested).json["names"]?.array?.count == 3)
        let note: JSON = ["item": "package1", "text": "long", "token": .string(try app.signIn())]
        #expect(try tool.asked("Notes/add", note)["text"] == "long")
        try app.reload("finder.page: 2", as: "finder.page: 1")
        try app.reload("notes.longest: 4096", as: "notes.longest: 3")
        try app.reload("suggest.likeness: 0.6", as: "suggest.likeness: 0.9")
        #expect(try tool.asked("Finder/find", find)["pages"] == 3)
        #expect(try tool.asked("Suggest/names", wanted) == ["names": ["package1"]])
        let refusal = try tool.refused("Notes/add", note, with: "Notes.too-long", ran: "yes")
        #expect(refusal.message.contains("a note of 4 bytes: 3 is the most"), "\(refusal)")
        try app.end()
    }

    /// Since all modules declare their settings, an unknown key is known to be a mistake.
    @Test(arguments: ["catalog.page", "finder.page", "notes.longest", "suggest.likeness"])
    func aMistypedKeyIsAnError(_ key: String) throws {
        let app = try CatalogApp(["\(key): ": "\(key)s: "])
        let found = try app.check(exit: 2)
        #expect(found.contains("no module declares \(key)s; did you mean \(key) of "), "\(found)")
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
