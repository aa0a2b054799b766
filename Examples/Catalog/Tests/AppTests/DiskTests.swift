import StrataTesting
import Testing

/// Disk, the module in C.
@Suite(.timeLimit(.minutes(10)))
struct DiskTests {
    private let folder: TemporaryFolder

    /// Three packages, two of which say their size.
    init() throws {
        folder = try TemporaryFolder()
        let packages = [("small", "Installed-Size: 7\n"), ("large", "Installed-Size: 300\n"), ("unknown", "")]
        let status = packages.map { name, size in
            "Package: \(name)\nStatus: install ok installed\n\(size)Version: 1\nDescription: \(name)\n\n"
        }
        try CatalogApp.write(folder.path + "/status", status.joined())
    }

    private func app(_ changes: [String: String] = [:]) throws -> CatalogApp {
        try CatalogApp(changes.merging(["/var/lib/dpkg/status": folder.path + "/status"]) { one, _ in one })
    }

    @Test func diskCountsWhatStorageHas() throws {
        let app = try app()
        let count = try app.tool.expectReply(to: try app.tool.call("Disk/largest")).json
        #expect(
            count == [
                "kib": 307, "packages": 3,
                "largest": .array([["name": "large", "kib": 300], ["name": "small", "kib": 7]]),
            ])
        let refusal = try app.tool.refused("Disk/largest", ["limit": 51], with: "bad-params", ran: "yes")
        #expect(refusal.message == "$.limit: expected an integer from 0 to 50")
        try app.end()
    }

    @Test func diskNamesAsManyPackagesAsItsSettingSays() throws {
        let app = try app(["disk.largest: 10": "disk.largest: 1"])
        let count = try app.tool.expectReply(to: try app.tool.call("Disk/largest")).json
        #expect(count["largest"] == .array([["name": "large", "kib": 300]]))
        try app.end()
    }
}
