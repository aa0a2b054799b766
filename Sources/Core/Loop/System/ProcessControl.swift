public import StrataCore
internal import CUV
internal import Glibc

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
