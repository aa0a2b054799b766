import StrataTesting
import Testing

/// Disk, the module in C.
@Suite(.timeLimit(.minutes(10)))
struct DiskTests {
    @Test func diskCountsWhatStorageHas() throws {
        let app = try CatalogApp(packages: 3)
        let tool = app.tool
        let count = try tool.expectReply(to: try tool.call("Disk/largest", ["limit": 2])).json
        #expect(count["packages"] == 3)
        #expect(count["largest"]?.array?.count == 2)
        try tool.refused("Disk/largest", ["limit": 51], with: "bad-params", ran: "yes")
        try app.end()
    }

    @Test func diskNamesAsManyPackagesAsItsSettingSays() throws {
        let app = try CatalogApp(packages: 3, ["disk.largest: 10": "disk.largest: 1"])
        let tool = app.tool
        let count = try tool.expectReply(to: try tool.call("Disk/largest")).json
        #expect(count["largest"]?.array?.count == 1)
        try app.end()
    }
}
