internal import CUV
internal import Glibc
public import StrataCore

/// An unnamed file in memory, with which one program passes another a text that no other process
/// can read.
public enum MemoryFile {
    /// Makes a sealed file that holds the bytes, positioned at its start.
    /// - Parameter survivesExec: whether the descriptor stays open in a program that this process
    ///   executes; `ChildProcess` passes it on either way.
    /// - Returns: its descriptor, which the caller closes.
    public static func make(
        _ name: String, holding bytes: [UInt8], survivesExec: Bool = false
    ) throws(SystemError) -> Int32 {
        let descriptor = try bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try make(name, holding: bytes) }
        }.get()
        if survivesExec { _ = strata_set_close_on_exec(descriptor, 0) }
        return descriptor
    }

    /// Does the same with bytes in memory, for this process alone.
    public static func make(_ name: String, holding bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int32 {
        let descriptor = try makeSealable(name)
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress! + written, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                throw SystemError(code, "write a memory file")
            }
            written += count
        }
        lseek(descriptor, 0, SEEK_SET)
        do throws(SystemError) { try seal(descriptor) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Makes an empty file that can be sealed. The caller closes the descriptor, which also closes
    /// on exec.
    public static func makeSealable(_ name: String) throws(SystemError) -> Int32 {
        let descriptor = strata_sealable_file(name)
        guard descriptor >= 0 else { throw SystemError(errno, "make a memory file") }
        return descriptor
    }

    /// Seals a file, so that nobody, including the caller, can change it any more.
    public static func seal(_ descriptor: Int32) throws(SystemError) {
        let status = strata_seal(descriptor)
        guard status == 0 else { throw SystemError(status, "seal a memory file") }
    }

    /// Seals a file's size, so that nobody can change it any more. Pages of it can still be given
    /// back.
    public static func sealSize(_ descriptor: Int32) throws(SystemError) {
        let status = strata_seal_size(descriptor)
        guard status == 0 else { throw SystemError(status, "seal the size of a memory file") }
    }

    /// Whether the file is in memory and nobody can change it.
    public static func isSealed(_ descriptor: Int32) -> Bool {
        let seals = strata_seals(descriptor)
        return seals >= 0 && seals & 0xE == 0xE
    }
}
