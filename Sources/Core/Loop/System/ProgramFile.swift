internal import CUV
internal import Glibc
public import StrataCore

/// Checks on a program's file before it is started.
public enum ProgramFile {
    /// Whether the kernel knows how to execute the file: it begins with `#!`, or it is ELF and
    /// holds all its program headers. A file that can't be read counts as a program, since
    /// executing it gives the better error.
    ///
    /// libuv starts children with execvp(3), which hands any other file to `/bin/sh`. The shell
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

    /// Returns the end of an ELF file's program headers; nil if its ELF header is incomplete or
    /// names none.
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

    /// The file that a path led to, and the time of its last change.
    public struct Identity: Equatable, Sendable {
        private let device, inode, seconds, nanoseconds: Int64

        /// Nil if the path leads nowhere.
        public init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = Int64(truncatingIfNeeded: status.st_dev)
            inode = Int64(truncatingIfNeeded: status.st_ino)
            // ctime: unlike the modification time, no program can set it at will.
            seconds = Int64(status.st_ctim.tv_sec)
            nanoseconds = Int64(status.st_ctim.tv_nsec)
        }
    }
}

/// Kernel settings for this process and its children.
public enum ProcessControl {
    /// Makes this process write its standard output line by line, even into a pipe. By default the
    /// C library holds back 4 KiB. Call it once per process, before the first `print`.
    public static func writeOutputByLines() { strata_line_buffer_output() }

    /// Makes this process, instead of init, adopt the orphans among its descendants.
    public static func becomeSubreaper() throws(SystemError) {
        try check(strata_become_subreaper(), "adopt descendants")
    }

    /// Leaves the orphans among its descendants to init again.
    public static func endSubreaping() { _ = strata_end_subreaping() }

    /// Makes this process get SIGTERM when the process that started it ends. It holds for the program
    /// that this process executes, too. If the parent has ended already, it has no effect.
    public static func endWithParent() throws(SystemError) {
        try check(strata_end_with_parent(), "end with the parent")
    }

    /// Keeps programs that this thread starts from gaining privileges when executed (setuid files,
    /// file capabilities). It can't be undone. Call it on the thread that starts children.
    public static func renouncePrivileges() throws(SystemError) {
        try check(strata_no_new_privileges(), "renounce new privileges")
    }

    /// Keeps inherited descriptors, except the standard ones, from the programs that this process
    /// starts.
    public static func keepDescriptorsToItself() {
        guard strata_close_range_on_exec(3) != 0 else { return }
        // Before Linux 5.11: sets them one by one, up to the usual size of a descriptor table.
        for descriptor in 3..<Int32(1024) { _ = strata_set_close_on_exec(descriptor, 1) }
    }

    /// Limits the number of files that another process may have open.
    public static func limitFiles(of pid: Int32, to most: UInt64) throws(SystemError) {
        try check(strata_limit_files(pid, UInt(most)), "limit the open files of process \(pid)")
    }

    /// Limits how many processes the *user* of a process may have when that process starts another.
    /// The kernel counts per user, and never applies the limit to root.
    public static func limitProcesses(of pid: Int32, to most: UInt64) throws(SystemError) {
        try check(strata_limit_processes(pid, UInt(most)), "limit the processes of process \(pid)")
    }

    private static func check(_ status: Int32, _ operation: @autoclosure () -> String) throws(SystemError) {
        guard status == 0 else { throw SystemError(status, operation()) }
    }
}
