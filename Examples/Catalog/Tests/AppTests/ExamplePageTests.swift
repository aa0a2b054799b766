import Glibc
import StrataTesting
import Testing

/// docs/first-ten-minutes.md is typed, and writes what the page shows.
@Suite(.timeLimit(.minutes(3)))
struct FirstTenMinutesTests {
    private static let catalog = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    @Test func thePageIsReplayed() throws {
        let temporary = try TemporaryFolder()
        defer { temporary.remove() }
        // What the page is in is the repository's folder: here it has what its
        // commands use, and `scripts/up` finds everything built.
        let folder = temporary.path + "/a clone"
        for name in ["", "/Examples", "/Examples/Catalog", "/scripts"] { #expect(mkdir(folder + name, 0o755) == 0) }
        #expect(mkdir(temporary.path + "/run", 0o700) == 0)
        let built = try String(BuiltExecutable.path("strata").dropLast("/strata".count))
        var manifest = try text(of: Self.catalog + "/strata.yaml")
        manifest.replace("[.build/release/", with: "[built/")
        #expect(symlink(built, folder + "/Examples/Catalog/built") == 0)
        #expect(symlink(Self.catalog + "/Sources", folder + "/Examples/Catalog/Sources") == 0)
        try write(manifest, to: folder + "/Examples/Catalog/strata.yaml")
        try write(text(of: Self.catalog + "/users"), to: folder + "/Examples/Catalog/users")
        try write("#!/bin/sh\nexec strata up Examples/Catalog/strata.yaml\n", to: folder + "/scripts/up")
        #expect(chmod(folder + "/scripts/up", 0o755) == 0)

        let page = try Page(Self.catalog + "/../../docs/first-ten-minutes.md")
        let count = try Transcript(
            page, in: folder,
            environment: [
                "PATH": "\(built):/usr/bin:/bin", "XDG_RUNTIME_DIR": temporary.path + "/run",
                // Other tests have buses in the folders that are looked into.
                "STRATA_SOCKET": temporary.path + "/run/strata/catalog.sock", "MEMORY_PRESSURE_WATCH": "/dev/null",
            ]
        ).replay()
        #expect(count > 30)
    }

    private func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path) can't be read")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"), "\(path) can't be written")
        fputs(text, file)
        fclose(file)
    }
}
