import Glibc

/// The spans at the end of a file that modules append to.
struct SpanLog {
    /// How much of the file is read at most.
    static let most = 64 << 20

    private(set) var spans: [Span] = []
    /// Lines that are no spans, as the last one of a module that died in it.
    private(set) var unreadable = 0
    /// Whether the file has older spans than were read.
    private(set) var isCut = false

    /// - Throws: `usage` if the file can't be read.
    init(_ path: String) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                .usage,
                "\(path): \(String(cString: strerror(errno))); `strata up --spans \(path)` lets modules write it")
        }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        isCut = size > Self.most
        lseek(descriptor, max(0, size - off_t(Self.most)), SEEK_SET)
        guard let bytes = Descriptor.content(of: descriptor) else {
            throw Failure(.usage, "\(path): \(String(cString: strerror(errno)))")
        }
        // The first line may have begun before what was read.
        for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst(isCut ? 1 : 0) {
            if let spans = Span.read(line) { self.spans += spans } else { unreadable += 1 }
        }
    }
}
