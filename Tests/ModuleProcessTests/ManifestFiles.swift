import Glibc
import StrataManifest
import StrataTesting
import Testing

/// A folder with a manifest and the files beside it. The schema must take each manifest that the reader takes.
struct ManifestFiles {
    let folder: TemporaryFolder

    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try write(text, to: name) }
    }

    func write(_ text: String, to name: String) throws {
        if let slash = name.lastIndex(of: "/") { mkdir("\(folder.path)/\(name[..<slash])", 0o700) }
        let file = try #require(fopen("\(folder.path)/\(name)", "w"))
        defer { fclose(file) }
        #expect(fwrite(text, 1, text.utf8.count, file) == text.utf8.count)
    }

    /// What `load` is given.
    var environment: [String: String] = [:]
    var readsSecrets = true

    func load() throws(ManifestErrors) -> Manifest {
        let manifest = try Manifest.load(
            path: "\(folder.path)/strata.yaml", environment: environment, readsSecrets: readsSecrets)
        SchemaJudge.expectFit(manifest)
        return manifest
    }

    var rows: [String] { get throws { try load().table.modules.map(\.name) } }

    /// The errors, each with its path relative to the folder.
    var errors: [String] {
        do {
            _ = try load()
            return []
        } catch {
            let prefix = folder.path + "/"
            return "\(error)".split(separator: "\n").map { line in
                line.split(separator: prefix, omittingEmptySubsequences: false).joined()
            }
        }
    }
}
