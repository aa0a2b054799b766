import Strata
import StrataTesting
import Testing

/// What the app answers bit by bit, and what its modules do at events.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    @Test func importTellsHowFarItIs() throws {
        let app = try CatalogApp()
        #expect(try app.tool.asked("Catalog/list")["total"] == 3)
        try app.setPackages(250)
        let lines = try app.strata("call", "Catalog/import").split(separator: "\n")
        let progress = try lines.map { try JSON(parsing: Array($0.utf8)) }
        #expect(progress.map { $0["imported"] } == [0, 100, 200, 250, 250])
        #expect(progress.dropLast().allSatisfy { $0["state"] == "running" })
        #expect(progress.last?.matches(["state": "complete", "removed": 0, "packages": 250]) == true)
        // The next one has nothing to do.
        let again = try app.strata("call", "Catalog/import").split(separator: "\n")
        let last = try JSON(parsing: Array(try #require(again.last).utf8))
        #expect(last.matches(["state": "unchanged", "imported": 0, "packages": 250]))
        try app.end()
    }

    @Test func importGoesOnWhereItsCallerLeaves() throws {
        let app = try CatalogApp()
        let tool = app.tool
        try app.setPackages(5_000)
        let left = try tool.call("Catalog/import", nil, ["credit": 1])
        try tool.find(["id": .integer(Int64(left)), "more": true])
        let watched = try tool.call("Catalog/import", nil, ["credit": 1_000])
        try tool.cancel(left)
        try tool.expectError(to: left, "cancelled", ran: "maybe")
        try tool.expectReply(to: watched)
        #expect(try tool.asked("Catalog/list")["total"] == 5_000)
        try app.end()
    }

    @Test func exportSendsNoMoreLinesThanAreTaken() throws {
        let app = try CatalogApp(packages: 205)
        let tool = app.tool
        let token = try app.signIn()
        _ = try tool.asked("Notes/add", ["item": "package7", "text": "seven", "token": .string(token)])
        let id = try tool.call("Export/lines", nil, ["credit": 3, "deadline": 0])
        let partial: JSON = ["id": .integer(Int64(id)), "more": true]
        var lines = try (0..<3).map { _ in try tool.find(partial).json }
        // Answered behind what would come without credit.
        _ = try tool.asked("Export/run")
        try tool.expectNothing()
        try tool.credit(id, 1_000)
        try tool.expectReply(to: id)
        lines += try tool.drain().filter { $0.matches(partial) }.map(\.json)
        #expect(lines.count == 206)
        #expect(lines[0]["package"]?["name"] == "package1")
        #expect(lines.last?["note"]?["text"] == "seven")
        // The file has the same.
        let file = try app.read("var/catalog.jsonl").split(separator: "\n")
        #expect(
            try Set(file.map { try JSON(parsing: Array($0.utf8))["package"]?["name"]?.string })
                == Set(lines.map { $0["package"]?["name"]?.string }))
        #expect(file.count == 206)
        try app.end()
    }

    @Test func finderTurnsPagesIntoOffsets() throws {
        let app = try CatalogApp(packages: 25)
        let tool = app.tool
        var names: Set<String> = []
        for (page, count) in [(1, 10), (2, 10), (3, 5), (4, 0)] {
            // The first one waits for the process.
            let find = try tool.call("Finder/find", ["words": ["number"], "page": .integer(Int64(page))])
            let answer = try tool.expectReply(to: find).json
            #expect(answer.matches(["page": .integer(Int64(page)), "pages": 3]))
            #expect(answer["found"]?.array?.count == count)
            names.formUnion(answer["found"]?.array?.compactMap { $0["name"]?.string } ?? [])
        }
        #expect(names.count == 25)
        #expect(try tool.asked("Finder/find", ["words": ["nothing"]])["pages"] == 0)
        try tool.refused("Finder/find", ["words": ["number"], "page": 0], with: "bad-params", ran: "yes")
        try tool.refused("Finder/find", ["words": []], with: "Catalog.empty-query", ran: "yes")
        try app.end()
    }

    @Test func memoryPressureEmptiesTheCatalogsMemory() throws {
        let app = try CatalogApp()
        let tool = app.tool
        let finds = try app.monitor(["module": "Storage"])
        for _ in 0..<2 { #expect(try tool.asked("Catalog/item", ["name": "package1"])["version"] == "1") }
        #expect(try app.emit("app.memoryPressure")["answer"] == true)
        _ = try tool.asked("Catalog/item", ["name": "package1"])
        // A monitor is sent frames a little later than others. This one is the last.
        _ = try tool.refused("Storage/nothing", with: "unknown-action")
        var calls = 0
        while true {
            let frame = try finds.next().json
            if frame["to"] == "Storage/nothing" { break }
            if frame["kind"] == "call", frame["to"] == "Storage/find" { calls += 1 }
        }
        #expect(calls == 2)
        try app.end()
    }

    @Test func memoryPressureLeavesLogItsLastLines() throws {
        let app = try CatalogApp()
        let tool = app.tool
        for number in 0..<30 { try tool.asked("Session/begin", ["reason": .string("reason \(number)")]) }
        // Its lines are reported, and nobody waits for them.
        while try tool.asked("Log/recent", ["limit": 100]).array?.last?.string?.contains("reason 29") != true {}
        #expect(try app.emit("app.memoryPressure")["answer"] == true)
        let lines = try tool.asked("Log/recent", ["limit": 100]).array ?? []
        #expect(lines.count == 20)
        #expect(lines.last?.string?.hasSuffix("reason 29") == true)
        try app.end()
    }

    @Test func reloadImportsWhatHasChanged() throws {
        let app = try CatalogApp()
        let log = try app.monitor(["name": "log.line", "bodies": true])
        try app.setPackages(2)
        #expect(try app.emit("app.reload")["answer"] == true)
        while try !log.next().description.contains("imported 2 packages") {}
        #expect(try app.tool.asked("Catalog/list")["total"] == 2)
        try app.end()
    }
}

extension CatalogApp {
    /// Emits an event, asking all: true where each did what it does.
    func emit(_ event: String) throws -> JSON {
        try tool.asked("bus/emit", nil, ["name": .string(event), "meta": ["policy": "all"]])
    }
}
