import FoundationEssentials
import Glibc
import StorageInterface
import Strata

/// An open file that JSON lines are written to, until nothing refers to it. All of it blocks.
struct LineOutput: Sendable {
    let descriptor: Descriptor
    /// What errors call it.
    let name: String

    /// Refuses what is no file of a disk: a pipe that nobody reads would hold this module's thread.
    func check() throws {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw Self.problem(name, "written") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ModuleError.badParams("\(name) is no regular file") }
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

    /// Waits until the disk has it: then it is there also after a loss of power.
    func sync() throws {
        guard fsync(descriptor.number) == 0 else { throw Self.problem(name, "written") }
    }

    /// The error of the system call that has just failed.
    static func problem(_ name: String, _ what: String) -> ModuleError {
        ModuleError("Export.no-file", "\(name) can't be \(what): \(String(cString: strerror(errno)))")
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw Self.problem(name, "written") }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
