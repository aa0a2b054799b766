import Glibc
import StrataManifest
import Testing

/// Manifests in files that are removed after the test. The schema must take each that the reader takes.
enum TemporaryManifest {
    static func load(_ bytes: [UInt8], environment: [String: String] = [:]) throws -> Manifest {
        var template = Array("/tmp/strata-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let path = folder + "/strata.yaml"
        defer {
            unlink(path)
            rmdir(folder)
        }
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        fclose(file)
        let manifest = try Manifest.load(path: path, environment: environment)
        SchemaJudge.expectFit(manifest)
        return manifest
    }

    /// Returns the errors without the file's name: `:12: key: message`.
    static func errors(_ bytes: [UInt8], environment: [String: String] = [:]) -> [String] {
        do {
            _ = try load(bytes, environment: environment)
            return []
        } catch let errors as ManifestErrors {
            return errors.errors.map { error in
                #expect(error.description.hasPrefix(error.file))
                return String(error.description.dropFirst(error.file.count))
            }
        } catch {
            return ["\(error)"]
        }
    }
}
