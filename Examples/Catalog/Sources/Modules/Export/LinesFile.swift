import ExportInterface
import FoundationEssentials
import Glibc
import StorageInterface
import Strata

/// A file of JSON lines that appears under its name when it is complete. All of
/// it blocks.
struct LinesFile: Sendable {
    /// From the root.
    let fullPath: String
    private let descriptor: Int32
    private var partPath: String { fullPath + ".part" }

    init(path: String) throws {
        fullPath = path.hasPrefix("/") ? path : Self.workingFolder + "/" + path
        descriptor = open(fullPath + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem("opened") }
    }

    /// Appends a line for each; answers with how many bytes that were.
    func append(_ batch: Storage.Dump.Element) throws -> Int {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var lines: [UInt8] = []
        for line in batch.lines { lines += try encoder.encode(line) + [0x0A] }
        try write(lines)
        return lines.count
    }

    /// Ends writing: now the file is there, also after a loss of power.
    func complete() throws {
        guard fsync(descriptor) == 0, rename(partPath, fullPath) == 0 else { throw problem("written") }
        close(descriptor)
    }

    func abandon() {
        unlink(partPath)
        close(descriptor)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw problem("written") }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private func problem(_ what: String) -> ModuleError {
        ModuleError("Export.no-file", "\(fullPath) can't be \(what): \(String(cString: strerror(errno)))")
    }

    private static var workingFolder: String {
        guard let folder = getcwd(nil, 0) else { return "." }
        defer { free(folder) }
        return String(cString: folder)
    }
}
