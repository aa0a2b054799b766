import Glibc
import Strata
import StrataTesting
import Testing

/// The module that is written in Python, among the others.
@Suite(.timeLimit(.minutes(10)))
struct SuggestTests {
    @Test func suggestKnowsWhatIsAlike() throws {
        let app = try CatalogApp(packages: 12)
        let tool = app.tool
        // The first one waits for the process.
        let first = try tool.call("Suggest/names", ["name": "pakcage7", "limit": 1])
        #expect(try tool.expectReply(to: first).json == ["names": ["package7"]])
        let opened = try tool.open("catalog://suggest/PACKAGE3?limit=50")
        let names = try tool.expectReply(to: opened).json["names"]?.array ?? []
        #expect(names.first == "package3")
        #expect(names.count == 12)
        #expect(try tool.asked("Suggest/names", ["name": "zzz"]) == ["names": []])
        for params: JSON in [["name": ""], ["name": 1], [:], ["name": "a", "limit": 51], ["name": "a", "limit": "x"]] {
            try tool.refused("Suggest/names", params, with: "bad-params", ran: "yes")
        }
        try app.end()
    }

    @Test func suggestForgetsWhatHasChanged() throws {
        let app = try CatalogApp(packages: 1)
        let tool = app.tool
        let log = try app.monitor(["name": "log.line", "bodies": true])
        let first = try tool.call("Suggest/names", ["name": "package2"])
        #expect(try tool.expectReply(to: first).json == ["names": ["package1"]])
        while try !log.next().description.contains("the names of 1 packages") {}
        try app.setPackages(2)
        let imported = try tool.call("Catalog/import", nil, ["credit": 100])
        try tool.expectReply(to: imported)
        #expect(try tool.asked("Suggest/names", ["name": "package2"])["names"]?.array?.first == "package2")
        // So it does where memory is short: it reads them again.
        #expect(try app.emit("app.memoryPressure")["answer"] == true)
        let reads = try app.monitor(["kinds": ["call"]])
        _ = try tool.asked("Suggest/names", ["name": "package2"])
        // A monitor is told a little later than the others.
        while try reads.next().json["to"] != "Storage/dump" {}
        try app.end()
    }

    @Test func finderDoesWithoutSuggestions() throws {
        let app = try CatalogApp()
        func found(_ word: String) throws -> JSON {
            try app.tool.expectReply(to: try app.tool.call("Finder/find", ["words": [.string(word)]])).json
        }
        let nothing: JSON = ["found": [], "page": 1, "pages": 0]
        // No name is as long, and no key may be.
        #expect(try found(String(repeating: "z", count: 65)) == nothing)
        #expect(try found(String(repeating: "z", count: 64)) == ["found": [], "page": 1, "pages": 0, "similar": []])
        try app.reload("suggest.likeness: 0.6", as: "suggest.likeness: often")
        try app.tool.asked("launcher/stop", ["module": "Suggest"])
        #expect(try found("zzz") == nothing)
        try app.end()
    }

    @Test func suggestComesBackWhenItDies() throws {
        let app = try CatalogApp()
        let tool = app.tool
        let first = try tool.call("Suggest/names", ["name": "package1", "limit": 1])
        try tool.expectReply(to: first)
        // The other replica may have answered.
        try app.waitUntil("Suggest~1", is: "ready")
        let pid = try app.pid(of: "Suggest~1")
        #expect(kill(Int32(pid), SIGKILL) == 0)
        try app.waitUntil("Suggest~1", is: "ready", otherThan: pid)
        let again = try tool.call("Suggest/names", ["name": "package1", "limit": 1])
        #expect(try tool.expectReply(to: again).json == ["names": ["package1"]])
        try app.end()
    }
}
