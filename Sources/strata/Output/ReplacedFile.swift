import Glibc
import StrataCore

/// A file that gets a new content at one moment: a reader sees the old or the new one.
struct ReplacedFile {
    /// The file itself, which a link may lead to.
    private let path: String
    private let before: [UInt8]
    private let temporary: String

    /// Writes the new content beside the file, with the file's mode.
    /// - Parameter before: The content that the new one was made from.
    /// - Throws: `usage` if it can't be written.
    init(_ given: String, before: [UInt8], after: [UInt8]) throws(Failure) {
        guard let resolved = realpath(given, nil) else { throw Self.failure(given) }
        defer { free(resolved) }
        let path = String(cString: resolved)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(given) can't be changed: it is not a regular file")
        }
        // Beside the file, because only there the new one can take its place at one moment.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var template = Array("\(folder).strata-fix-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure(given) }
        let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let code = Descriptor.write(after, to: descriptor)
        if code != 0 { errno = code }
        // Only root may give the file to its owner.
        let isKept =
            code == 0 && (fchown(descriptor, status.st_uid, status.st_gid) == 0 || geteuid() != 0)
            && fchmod(descriptor, status.st_mode & 0o7777) == 0 && fsync(descriptor) == 0
        let reason = errno
        close(descriptor)
        guard isKept else {
            unlink(temporary)
            errno = reason
            throw Self.failure(given)
        }
        (self.path, self.before, self.temporary) = (path, before, temporary)
    }

    /// Puts the new content in the file's place.
    /// - Throws: `answer` if the file has changed meanwhile, `usage` if it can't be replaced.
    func replace() throws(Failure) {
        guard Self.content(path) == before else {
            discard()
            throw Failure(.answer, "\(path) has changed meanwhile: nothing was written there; try again")
        }
        guard rename(temporary, path) == 0 else {
            let failure = Self.failure(path)
            discard()
            throw failure
        }
    }

    /// Removes the new content.
    func discard() { unlink(temporary) }

    /// Returns the content of a file; nil if it can't be read.
    static func content(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return Descriptor.content(of: descriptor)
    }

    /// Replaces several files: all of them, unless one can't be written or has changed meanwhile.
    static func replace(_ files: [(path: String, before: [UInt8], after: [UInt8])]) throws(Failure) {
        var written: [ReplacedFile] = []
        do throws(Failure) {
            for file in files { written.append(try ReplacedFile(file.path, before: file.before, after: file.after)) }
            while let file = written.first {
                try file.replace()
                written.removeFirst()
            }
        } catch {
            for file in written { file.discard() }
            throw error
        }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.usage, "\(path) can't be changed: \(String(cString: strerror(errno)))")
    }
}
