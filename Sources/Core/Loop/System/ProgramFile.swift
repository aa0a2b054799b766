internal import StrataCore
internal import Glibc

/// What can be seen of a program's file before it is started.
public enum ProgramFile {
    /// Whether the kernel can tell how to execute it: a file that begins with `#!`, or as ELF
    /// does, with its program headers. What can't be read counts as such: executing it says
    /// more.
    ///
    /// execvp(3), by which libuv starts children, gives any other file to `/bin/sh`, which
    /// would run whatever it finds there.
    public static func isProgram(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { head in
            let count = read(descriptor, head.baseAddress, head.count)
            guard count >= 0 else { return true }
            let head = UnsafeRawBufferPointer(rebasing: head[..<count])
            if head.starts(with: [0x23, 0x21]) { return true }
            var status = stat()
            guard head.starts(with: [0x7F, 0x45, 0x4C, 0x46]), fstat(descriptor, &status) == 0 else { return false }
            return programHeadersEnd(head).map { $0 <= UInt64(max(0, status.st_size)) } ?? false
        }
    }

    /// Where an ELF file's program headers end; nil where its own header isn't whole,
    /// or names none.
    private static func programHeadersEnd(_ head: UnsafeRawBufferPointer) -> UInt64? {
        let is64 = head.count > 5 && head[4] == 2
        guard head.count >= (is64 ? 64 : 52) else { return nil }
        let isBig = head[5] == 2
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> UInt64 {
            let read = head.loadUnaligned(fromByteOffset: offset, as: Number.self)
            return UInt64(truncatingIfNeeded: isBig ? Number(bigEndian: read) : Number(littleEndian: read))
        }
        let start = is64 ? number(32, UInt64.self) : number(28, UInt32.self)
        let size = number(is64 ? 54 : 42, UInt16.self) * number(is64 ? 56 : 44, UInt16.self)
        return size == 0 || start > .max - size ? nil : start + size
    }

    /// Which file a path led to, and when that was changed last.
    public struct Identity: Equatable, Sendable {
        private let device, inode, seconds, nanoseconds: Int64

        /// Nil where the path leads nowhere.
        public init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = Int64(truncatingIfNeeded: status.st_dev)
            inode = Int64(truncatingIfNeeded: status.st_ino)
            // Nobody sets the time of the last change of its data or its inode at will.
            seconds = Int64(status.st_ctim.tv_sec)
            nanoseconds = Int64(status.st_ctim.tv_nsec)
        }
    }
}
