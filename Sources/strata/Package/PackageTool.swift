import Glibc
import StrataCore

/// The tools that make a package's tree.
enum PackageTool {
    /// Runs a tool that must succeed, and returns the first line that it writes.
    static func text(of words: [String]) throws(Failure) -> String {
        let end: ChildCommand.End
        do throws(Failure) { end = try ChildCommand.run(words, returnsOutput: true) } catch {
            throw Failure(.usage, "\(error.message): strata package needs Debian's dpkg-dev")
        }
        guard end.isGood else { throw Failure(.answer, "\(words.joined(separator: " ")) ended with \(end.text)") }
        return String(String(decoding: end.output, as: UTF8.self).prefix { $0 != "\n" })
    }

    /// Makes the folder that a file is to be in.
    static func makeFolder(of path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        _ = try text(of: ["install", "-d", folder])
    }

    /// Writes a new file, and makes its folder.
    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(Failure) {
        try makeFolder(of: path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard Descriptor.write(Array(text.utf8), to: descriptor) == 0, fchmod(descriptor, mode) == 0 else {
            throw failure(path)
        }
    }

    static func failure(_ path: String) -> Failure {
        Failure(.usage, "\(path) can't be written: \(String(cString: strerror(errno)))")
    }
}
