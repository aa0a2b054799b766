public import Glibc
internal import StrataTesting

/// Programs that tests write, and then run.
public enum WrittenProgram {
    /// `F_SETLEASE`, which glibc declares for its own extensions alone.
    private static let setLease: Int32 = 1_024

    /// Makes a file that a test can run at once.
    public static func write(_ text: String, to path: String, mode: mode_t = 0o755) throws {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    /// The same of bytes.
    public static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o755) throws {
        // No program that another test starts meanwhile keeps it open for writing.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw TestFailure("\(path) can't be written: error \(errno)", file: #fileID, line: #line)
            }
            rest = rest.dropFirst(count)
        }
        fchmod(descriptor, mode)
        close(descriptor)
        settle(path)
    }

    /// Waits until nobody has a file open for writing that was just written. A process
    /// that another test starts in the same moment has it, too, until it executes its own
    /// program; to execute the file fails meanwhile (ETXTBSY).
    public static func settle(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A lease to read is granted where nobody has it open for writing.
        let limit = ContinuousClock.now + TestBus.patience
        while fcntl(descriptor, setLease, F_RDLCK) != 0, errno == EAGAIN, ContinuousClock.now < limit {
            sched_yield()
        }
    }
}
