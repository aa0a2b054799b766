internal import Glibc
public import StrataCore

// What the kernel's process table says now.

extension ProcessIdentity {
    /// The process that has a number now; also one that has ended and was not waited
    /// for. Nil where there is none, or `/proc` doesn't show it.
    public init?(pid: Int32) {
        guard let status = ProcessStatus(of: pid) else { return nil }
        self.init(pid: pid, startTicks: status.startTicks)
    }

    /// This process.
    public static var own: ProcessIdentity { ProcessIdentity(pid: getpid()) ?? .ended(getpid()) }

    /// Whether it has not ended.
    public var isAlive: Bool {
        guard let status = ProcessStatus(of: pid) else { return false }
        return status.startTicks == startTicks && !status.hasEnded
    }
}

extension ProcessStatus {
    /// Nil where there is no such process, or `/proc` doesn't show it.
    package init?(of pid: Int32) {
        guard pid > 0 else { return nil }
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let status = withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 8) { space -> ProcessStatus? in
            let count = read(descriptor, space.baseAddress, space.count)
            return count > 0 ? ProcessStatus(UnsafeRawBufferPointer(rebasing: space[..<count])) : nil
        }
        guard let status else { return nil }
        self = status
    }
}

extension Ancestors {
    /// How a process is related to an ancestor that lives.
    public static func descent(of process: ProcessIdentity, from ancestor: ProcessIdentity) -> Descent {
        descent(of: process, from: ancestor, status: ProcessStatus.init(of:))
    }
}
