import Glibc

/// Programs that tests write, and then run.
public enum ProgramFile {
    /// `F_SETLEASE`, which glibc declares for its own extensions alone.
    private static let setLease: Int32 = 1_024

    /// Waits until nobody has a file open for writing that was just written. A process
    /// that another test starts in the same moment has it, too, until it executes its own
    /// program; to execute the file fails meanwhile (ETXTBSY).
    public static func settle(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A lease to read is granted where nobody has it open for writing.
        let limit = seconds + 5
        while fcntl(descriptor, setLease, F_RDLCK) != 0, errno == EAGAIN, seconds < limit { sched_yield() }
    }

    private static var seconds: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec
    }
}
