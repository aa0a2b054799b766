internal import Glibc

/// The file that holds a node's seed. Nobody but its owner may read it.
enum KeyFile {
    /// Makes a file with a new key, which must not exist yet.
    /// - Throws: if it can't be made; nothing is left then.
    static func make(_ path: String) throws(LinkError) -> NodeKey {
        var generator = SystemRandomNumberGenerator()  // getrandom(2), which never fails
        let key = NodeKey(secret: (0..<NodeKey.secretLength).map { _ in .random(in: 0...255, using: &generator) })
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw LinkError(
                errno == EEXIST
                    ? "\(path) exists: move it away first, or choose another path, since a key isn't overwritten"
                    : "\(path) can't be made: \(text(errno))")
        }
        defer { close(descriptor) }
        let line = Array((key.seed + "\n").utf8)
        guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
            let code = errno
            unlink(path)
            throw LinkError("\(path) can't be written: \(text(code))")
        }
        return key
    }

    /// Reads a node's key.
    /// - Throws: if the file can't be read, others may read or write it, or it holds no seed.
    static func read(_ path: String) throws(LinkError) -> NodeKey {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw LinkError("the key \(path) can't be read: \(text(errno))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw LinkError("the key \(path) is not a file")
        }
        guard status.st_uid == geteuid() else {
            throw LinkError(
                "the key \(path) belongs to user \(status.st_uid), and the link runs as user \(geteuid()): give it to that user"
            )
        }
        guard status.st_mode & 0o777 & ~0o600 == 0 else {
            throw LinkError(
                "the key \(path) has mode \(String(status.st_mode & 0o777, radix: 8)), so others may use it: run chmod 600 \(path)"
            )
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 10)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw LinkError("the key \(path) can't be read: \(text(errno))") }
        do {
            return try NodeKey(seed: String(decoding: bytes[..<count], as: UTF8.self))
        } catch {
            throw LinkError("the key \(path) can't be used: \(error)")
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
