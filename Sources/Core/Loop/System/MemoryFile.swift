internal import CUV
internal import Glibc
public import StrataCore

/// A file without a name, in memory: how one program hands another a text that
/// is nobody else's to read.
public enum MemoryFile {
    /// Makes a file that holds the bytes, wound back to its start.
    /// - Parameter survivesExec: whether a program that this process becomes has
    ///   the descriptor too; `ChildProcess` hands it on either way.
    /// - Returns: its descriptor, the caller's to close.
    public static func make(
        _ name: String, holding bytes: [UInt8], survivesExec: Bool = false
    ) throws(SystemError) -> Int32 {
        let descriptor = strata_memory_file(name)
        guard descriptor >= 0 else { throw SystemError(errno, "make a memory file") }
        _ = strata_set_close_on_exec(descriptor, survivesExec ? 0 : 1)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                throw SystemError(code, "write a memory file")
            }
            written += count
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    /// Makes an empty file that can be sealed; the descriptor is the caller's to
    /// close, and is closed where a program is executed.
    public static func makeSealable(_ name: String) throws(SystemError) -> Int32 {
        let descriptor = strata_sealable_file(name)
        guard descriptor >= 0 else { throw SystemError(errno, "make a memory file") }
        return descriptor
    }

    /// Nobody, the caller included, can change such a file any more.
    public static func seal(_ descriptor: Int32) throws(SystemError) {
        let status = strata_seal(descriptor)
        guard status == 0 else { throw SystemError(status, "seal a memory file") }
    }

    /// Nobody can make such a file longer or shorter any more. Parts of it can be given back.
    public static func sealSize(_ descriptor: Int32) throws(SystemError) {
        let status = strata_seal_size(descriptor)
        guard status == 0 else { throw SystemError(status, "seal the size of a memory file") }
    }

    /// Whether it is a file in memory that nobody can change.
    public static func isSealed(_ descriptor: Int32) -> Bool {
        let seals = strata_seals(descriptor)
        return seals >= 0 && seals & 0xE == 0xE
    }
}
