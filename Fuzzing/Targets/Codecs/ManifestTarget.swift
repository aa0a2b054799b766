import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// The text of a manifest. Reading it must give a table that survives a round trip through JSON,
/// or errors with their lines.
enum ManifestTarget {
    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let text = input.rest()
        let manifest: Manifest
        do throws(ManifestErrors) {
            manifest = try load(text)
        } catch {
            try demand(!error.errors.isEmpty, "it was refused without an error")
            let lines = text.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
            for error in error.errors {
                try demand(!error.message.isEmpty, "an error has no message")
                guard let line = error.line else {
                    try demand(error.key.isEmpty, "an error has a key and no line: \(error)")
                    continue
                }
                // The end of the text may count as a line of its own. YAML 1.1 also ends lines at
                // two further characters of three bytes each.
                try demand((1...(lines + 1 + text.count / 3)).contains(line), "there is no line \(line): \(error)")
            }
            return
        }
        let bytes = manifest.table.json().encoded()
        do {
            let table = try AppTable(json: try JSON(parsing: bytes))
            try demand(
                table == manifest.table, "the table came back another: \(String(decoding: bytes, as: UTF8.self))")
        } catch let finding as FuzzFinding {
            throw finding
        } catch {
            throw FuzzFinding("the table does not come back: \(error): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// Reads a manifest from memory, through a file without a name.
    private static func load(_ text: [UInt8]) throws(ManifestErrors) -> Manifest {
        // Because a machine without room for a small file can't run a fuzzer.
        let descriptor = try! MemoryFile.make("manifest", holding: text)
        defer { close(descriptor) }
        return try Manifest.load(path: "/proc/self/fd/\(descriptor)", environment: [:])
    }
}
