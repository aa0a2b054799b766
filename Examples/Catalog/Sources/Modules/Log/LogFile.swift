import Glibc
import Strata

/// A file of lines, which begins anew when it has grown too long. Writing
/// blocks.
struct LogFile: Sendable {
    /// Bytes from which on the file is renamed, to `….1`, and begun anew.
    private static let longest = 1 << 20

    let path: String

    func append(_ line: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem("opened") }
        defer { close(descriptor) }
        var line = line + "\n"
        let written = line.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard written == line.utf8.count else { throw problem("written") }
        if lseek(descriptor, 0, SEEK_END) > Self.longest { rename(path, path + ".1") }
    }

    private func problem(_ what: String) -> ModuleError {
        ModuleError("Log.no-file", "\(path) can't be \(what): \(String(cString: strerror(errno)))")
    }
}
