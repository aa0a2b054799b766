import Glibc
import StrataTesting
import Testing

/// A folder as the pages of the example have it: a clone's, with what their commands
/// use; `scripts/up` finds everything built.
final class RepositoryFolder {
    private static let catalog = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    private let temporary: TemporaryFolder
    private let built: String
    private var folder: String { temporary.path + "/a clone" }

    init() throws {
        temporary = try TemporaryFolder()
        built = try String(BuiltExecutable.path("strata").dropLast("/strata".count))
        for name in ["", "/Examples", "/Examples/Catalog", "/scripts"] { #expect(mkdir(folder + name, 0o755) == 0) }
        #expect(mkdir(temporary.path + "/run", 0o700) == 0)
        var manifest = try text(of: Self.catalog + "/strata.yaml")
        manifest.replace("[.build/release/", with: "[built/")
        // The machine's packages, in a file that a page may change.
        manifest.replace("/var/lib/dpkg/status", with: "\(folder)/status")
        try write(text(of: "/var/lib/dpkg/status"), to: folder + "/status")
        #expect(symlink(built, folder + "/Examples/Catalog/built") == 0)
        #expect(symlink(Self.catalog + "/Sources", folder + "/Examples/Catalog/Sources") == 0)
        try write(manifest, to: folder + "/Examples/Catalog/strata.yaml")
        try write(text(of: Self.catalog + "/users"), to: folder + "/Examples/Catalog/users")
        try write("#!/bin/sh\nexec strata up Examples/Catalog/strata.yaml\n", to: folder + "/scripts/up")
        #expect(chmod(folder + "/scripts/up", 0o755) == 0)
    }

    deinit { temporary.remove() }

    /// Types a page's sessions, and returns the number of commands.
    /// - Parameters:
    ///   - page: its path, from the example's folder.
    ///   - section: the one to type; nil for the whole page.
    func replay(_ page: String, section: String? = nil) throws -> Int {
        try Transcript(
            Page("\(Self.catalog)/\(page)", section: section), in: folder,
            environment: [
                "PATH": "\(built):/usr/bin:/bin", "XDG_RUNTIME_DIR": temporary.path + "/run",
                // Other tests have buses in the folders that are looked into.
                "STRATA_SOCKET": temporary.path + "/run/strata/catalog.sock", "MEMORY_PRESSURE_WATCH": "/dev/null",
            ]
        ).replay()
    }

    private func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path) can't be read")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"), "\(path) can't be written")
        fputs(text, file)
        fclose(file)
    }
}
