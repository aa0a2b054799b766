internal import CUV
internal import Glibc
public import StrataCore

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

/// What a process may ask of the kernel for itself and for its children.
public enum ProcessControl {
    /// It writes its standard output line by line, also into a pipe, where the C library would
    /// hold 4 KiB back. Once per process, before the first `print`.
    public static func writeOutputByLines() { strata_line_buffer_output() }

    /// This process adopts what its descendants leave behind, instead of init.
    public static func becomeSubreaper() throws(SystemError) {
        try check(strata_become_subreaper(), "adopt descendants")
    }

    /// What its descendants leave behind is init's again.
    public static func endSubreaping() { _ = strata_end_subreaping() }

    /// No program that this thread starts from here on gains privileges by being
    /// executed (setuid files, file capabilities). Can't be taken back. Call it
    /// on the thread that starts children.
    public static func renouncePrivileges() throws(SystemError) {
        try check(strata_no_new_privileges(), "renounce new privileges")
    }

    /// What this process inherited beside the standard descriptors is not handed
    /// on to the programs that it starts.
    public static func keepDescriptorsToItself() {
        guard strata_close_range_on_exec(3) != 0 else { return }
        // Before Linux 5.11: one after another, as far as a table commonly goes.
        for descriptor in 3..<Int32(1024) { _ = strata_set_close_on_exec(descriptor, 1) }
    }

    /// Limits how many files another process may have open.
    public static func limitFiles(of pid: Int32, to most: UInt64) throws(SystemError) {
        try check(strata_limit_files(pid, UInt(most)), "limit the open files of process \(pid)")
    }

    /// Limits how many processes that process's *user* may have when it starts
    /// one more: the kernel counts per user, and never holds root to it.
    public static func limitProcesses(of pid: Int32, to most: UInt64) throws(SystemError) {
        try check(strata_limit_processes(pid, UInt(most)), "limit the processes of process \(pid)")
    }

    private static func check(_ status: Int32, _ operation: @autoclosure () -> String) throws(SystemError) {
        guard status == 0 else { throw SystemError(status, operation()) }
    }
}
