internal import Glibc

/// A fresh folder with a short path, removed with its contents.
public final class TemporaryFolder {
    /// The path of the folder.
    public let path: String
    private var isRemoved = false

    /// Makes a folder in `/tmp`, for this user alone.
    public init() throws {
        var template = Array("/tmp/strata-t-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure.system("make a folder in /tmp", errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Sets the mode again, because the umask is the whole process's. A broker on another
        // thread may be narrowing it for its socket right now.
        chmod(path, 0o700)
    }

    deinit { remove() }

    /// Removes the folder. Does nothing the second time.
    public func remove() {
        guard !isRemoved else { return }
        isRemoved = true
        Self.remove(path)
    }

    /// The names of the folder's entries.
    public var contents: [String] { Self.names(in: path) }

    private static func remove(_ path: String) {
        for name in names(in: path) {
            let inner = "\(path)/\(name)"
            var status = stat()
            if lstat(inner, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { remove(inner) } else { unlink(inner) }
        }
        rmdir(path)
    }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
