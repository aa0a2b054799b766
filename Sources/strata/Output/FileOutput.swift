import Glibc
import StrataCore

/// A file that a command writes.
enum FileOutput {
    /// Writes a file and replaces an existing one.
    /// - Throws: `usage` if it can't be written.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        let code = Descriptor.write(bytes, to: descriptor)
        guard code == 0 else { throw failure(path, code) }
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure(.usage, "\(path) can't be written: \(String(cString: strerror(code)))")
    }
}
