import Glibc
import StrataContracts
import StrataCore

/// Contracts in files.
enum ContractFiles {
    /// Returns the names of a folder's files that aren't hidden, sorted; nil if the path is no folder.
    static func names(in folder: String, suffix: String = ".json") -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(suffix), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    static func read(_ path: String) throws(Failure) -> Contract {
        guard let bytes = bytes(of: path) else {
            throw Failure(.usage, "\(Printable.line(path)) can't be read: \(String(cString: strerror(errno)))")
        }
        do throws(ContractError) { return try Contract(parsing: bytes) } catch {
            throw Failure(
                .usage, "\(Printable.line(path)) is not a contract: \(Printable.line(error.description))")
        }
    }

    /// Returns a file's bytes, up to a little more than the limit; nil if it can't be read.
    static func bytes(of path: String, limit: Int = ContractLimits.bytes) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return bytes
    }
}
