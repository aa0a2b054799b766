public import Glibc
internal import StrataTesting

/// Programs that tests write, and then run.
public enum WrittenProgram {
    /// `F_SETLEASE`, which glibc declares only as an extension.
    private static let setLease: Int32 = 1_024

    /// Makes a file that a test can run at once.
    public static func write(_ text: String, to path: String, mode: mode_t = 0o755) throws {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    /// Makes a file from bytes.
    public static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o755) throws {
        // `O_CLOEXEC`, so that no program that another test starts keeps it open for writing.
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

    /// Waits until no process has a file open for writing that was just written. A process that
    /// another test starts at the same moment has it open, too, until it executes its own
    /// program. Until then, executing the file fails (ETXTBSY).
    public static func settle(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A read lease is granted if no process has the file open for writing.
        let limit = ContinuousClock.now + TestBus.patience
        while fcntl(descriptor, setLease, F_RDLCK) != 0, errno == EAGAIN, ContinuousClock.now < limit {
            sched_yield()
        }
    }
}
