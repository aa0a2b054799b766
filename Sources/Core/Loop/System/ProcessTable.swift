internal import CUV
internal import Glibc
public import StrataCore

// Queries to the kernel's process table.

extension ProcessIdentity {
    /// The process that has a pid now, even if it has ended but was not waited for. Nil if there is
    /// none, or `/proc` doesn't show it.
    public init?(pid: Int32) {
        guard let status = ProcessStatus(of: pid) else { return nil }
        self.init(pid: pid, startTicks: status.startTicks)
    }

    /// This process.
    public static var own: ProcessIdentity { ProcessIdentity(pid: getpid()) ?? .ended(getpid()) }

    /// Whether the process has not ended.
    public var isAlive: Bool {
        guard let status = ProcessStatus(of: pid) else { return false }
        return status.startTicks == startTicks && !status.hasEnded
    }
}

extension ProcessStatus {
    /// Nil if there is no such process, or `/proc` doesn't show it.
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
    /// Returns how a process is related to a living ancestor.
    public static func descent(of process: ProcessIdentity, from ancestor: ProcessIdentity) -> Descent {
        descent(of: process, from: ancestor, status: ProcessStatus.init(of:))
    }
}

/// The process at the other end of a connected socket. Its pid may since have been reused, so it is
/// observed through a descriptor of the process if the kernel offers one.
package enum ConnectedProcess {
    /// A descriptor that becomes readable when the process ends; `look` closes it.
    case descriptor(Int32)
    /// The process has ended and was waited for.
    case ended
    /// The kernel has no such descriptor for a socket (before Linux 6.5), or this process has
    /// reached its limit of descriptors.
    case unsupported

    /// The process that connected `socket`.
    package init(of socket: Int32) {
        let descriptor = strata_peer_descriptor(socket)
        if descriptor >= 0 {
            self = .descriptor(descriptor)
        } else {
            // The kernel reports one of these errors for a process that was waited for.
            self = errno == ESRCH || errno == EINVAL ? .ended : .unsupported
        }
    }

    /// Runs `look` on the process while it lives.
    /// - Returns: the result of `look`; nil if the process ended before `look` returned, or `/proc`
    ///   doesn't show it.
    package func look<Result>(_ peer: PeerCredentials, _ look: (ProcessIdentity) -> Result) -> Result? {
        switch self {
        case .ended: return nil
        case .descriptor(let descriptor):
            defer { close(descriptor) }
            guard let process = ProcessIdentity(pid: peer.pid) else { return nil }
            let result = look(process)
            // The process still lives, so the pid has belonged to it the whole time.
            var watch = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&watch, 1, 0) == 0 ? result : nil
        case .unsupported:
            // A process that started after the connection was accepted is a different one.
            guard let process = ProcessIdentity(pid: peer.pid), process.startTicks <= peer.seenAt else { return nil }
            let result = look(process)
            return process.isAlive ? result : nil
        }
    }
}

extension Socket {
    /// Runs `look` on the process that connected, while it lives.
    /// - Parameters:
    ///   - peer: the result of `credentials`.
    ///   - look: gets the process, and returns what to find out about it.
    /// - Returns: the result of `look`; nil if the process has ended, or `/proc` doesn't show it.
    public func lookAtPeer<Result>(_ peer: PeerCredentials, _ look: (ProcessIdentity) -> Result) -> Result? {
        ConnectedProcess(of: descriptor).look(peer, look)
    }
}
