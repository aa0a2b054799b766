import Glibc

/// What the files of one manifest have in common: their limits hold for all of them together.
struct ManifestSize {
    static let mostBytes = 1 << 20
    static let mostIncluded = 1_024

    /// The bytes that were read.
    var bytes = 0
    /// The number of values that aliases have added.
    var aliased = 0
    /// The contents of files that aren't written yet, by path. They count instead of the files'.
    var unwritten: [String: [UInt8]] = [:]
}

/// Reads one file of a manifest: UTF-8 of limited size, and one YAML document.
enum ManifestFile {
    struct Failure: Error {
        var message: String
        var line: Int?
        var column: Int?
    }

    /// Returns a file's tree; nil if it is empty.
    /// - Parameters:
    ///   - number: the file's number: 0 for the manifest, which may be a pipe. An included file is
    ///     a regular one.
    static func tree(_ path: String, number: Int = 0, _ size: inout ManifestSize) throws(Failure) -> YAMLNode? {
        let bytes: [UInt8]
        if let unwritten = size.unwritten[path] {
            bytes = unwritten
        } else {
            bytes = try self.bytes(path, number: number, &size)
        }
        try checkUTF8(bytes)
        do throws(YAMLError) {
            return try YAMLComposer.compose(bytes, file: number, aliased: &size.aliased)
        } catch {
            throw Failure(message: error.message, line: error.line, column: error.column)
        }
    }

    /// Returns a file's content, again.
    static func bytes(_ path: String, number: Int) throws(Failure) -> [UInt8] {
        var size = ManifestSize()
        return try bytes(path, number: number, &size)
    }

    private static func bytes(_ path: String, number: Int, _ size: inout ManifestSize) throws(Failure) -> [UInt8] {
        // Without O_NONBLOCK, a FIFO that a pattern matches would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (number > 0 ? O_NONBLOCK : 0))
        guard descriptor >= 0 else { throw failure("can't be opened") }
        defer { close(descriptor) }
        if number > 0 {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw Failure(message: "is not a regular file")
            }
        }
        return try read(descriptor, &size)
    }

    /// Returns the absolute path of a file's folder, with links resolved.
    static func folder(of path: String) throws(Failure) -> String {
        guard let resolved = realpath(parent(of: path) ?? ".", nil) else {
            throw failure("its folder can't be resolved")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the path of a file without links and other spellings; the path itself if there is no
    /// such file.
    static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns a path up to its last slash; nil if it has none.
    static func parent(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) }
    }

    /// Returns a failure with the system's reason.
    static func failure(_ what: String) -> Failure {
        Failure(message: "\(what): \(String(cString: strerror(errno)))")
    }

    private static func checkUTF8(_ bytes: [UInt8]) throws(Failure) {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        var line = 1
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if scalar == "\n" { line += 1 }
            case .emptyInput: return
            case .error: throw Failure(message: "is not valid UTF-8", line: line)
            }
        }
    }

    private static func read(_ descriptor: CInt, _ size: inout ManifestSize) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("can't be read") }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            size.bytes += count
            guard size.bytes <= ManifestSize.mostBytes else {
                let together = size.bytes > bytes.count ? " together with the files before it" : ""
                throw Failure(message: "is larger than 1 MiB\(together)")
            }
        }
    }
}
