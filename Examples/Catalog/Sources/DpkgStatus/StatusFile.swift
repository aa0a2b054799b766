import Glibc
public import StorageInterface

/// dpkg's status file while it is read, a batch of packages at a time. Reading
/// blocks: off the module's loop.
public struct StatusFile: Sendable {
    /// What tells this file from another or a changed one: its path, its size,
    /// and when it was changed last.
    public let stamp: String

    let path: String
    private let descriptor: Int32
    private var parser = StatusParser()
    /// What was read and not handed out yet.
    private var packages: [Package] = []
    private var hasEnded = false

    /// Opens the file. Who opens it closes it.
    public init(path: String) throws(StatusFileError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StatusFileError(path, "can't be opened", code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw StatusFileError(path, "is no regular file")
        }
        stamp = "\(path) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// The next packages, at most so many; none at the end.
    public mutating func next(_ count: Int) throws(StatusFileError) -> [Package] {
        while packages.count < count, !hasEnded { try read() }
        let batch = Array(packages.prefix(count))
        packages.removeFirst(batch.count)
        return batch
    }

    public func close() { Glibc.close(descriptor) }

    private mutating func read() throws(StatusFileError) {
        let size = 64 << 10
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        let count = Glibc.read(descriptor, buffer.baseAddress, size)
        if count > 0 {
            packages += parser.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } else if count == 0 {
            hasEnded = true
            if let last = parser.finish() { packages.append(last) }
        } else if errno != EINTR {
            throw StatusFileError(path, "can't be read", code: errno)
        }
    }
}

/// Why a status file can't be read.
public struct StatusFileError: Error, CustomStringConvertible {
    /// Whether there is no such file: this machine has another package manager.
    public let isMissing: Bool
    public let description: String

    /// The file was read, and there was none in it: it is of another format.
    public init(noPackagesIn file: StatusFile) { self.init(file.path, "holds no installed package") }

    init(_ path: String, _ problem: String) {
        isMissing = false
        description = "\(path) \(problem)"
    }

    /// - Parameter code: the system's, as in `errno`.
    init(_ path: String, _ problem: String, code: Int32) {
        isMissing = code == ENOENT || code == ENOTDIR
        description = "\(path) \(problem): \(String(cString: strerror(code)))"
    }
}
