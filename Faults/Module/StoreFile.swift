internal import Glibc
internal import Strata

/// The example's store, which appends to one file. It empties the file when it has grown, so a
/// disk is full only if something else has filled it.
struct StoreFile: Sendable {
    let path: String
    static let most: off_t = 64 << 10

    /// Appends text; takes as long as the disk does.
    /// - Throws: `Store.full` or `Store.broken`, errors of the module's own.
    func append(_ text: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.refusal(errno) }
        defer { close(descriptor) }
        if lseek(descriptor, 0, SEEK_END) > Self.most { ftruncate(descriptor, 0) }
        let bytes = Array(text.utf8)
        let count = write(descriptor, bytes, bytes.count)
        guard count == bytes.count else { throw Self.refusal(count < 0 ? errno : ENOSPC) }
    }

    private static func refusal(_ code: Int32) -> ModuleError {
        ModuleError(code == ENOSPC || code == EFBIG ? "Store.full" : "Store.broken", "the disk refuses: errno \(code)")
    }
}
