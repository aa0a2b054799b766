internal import CUV
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

/// The process that connected a socket. Its number may be another process's since: so it
/// is looked at through a descriptor that stands for it, where the kernel has such.
package enum ConnectedProcess {
    /// A descriptor that can be read when the process has ended, and is closed here.
    case descriptor(Int32)
    /// It has ended, and was waited for.
    case ended
    /// The kernel has no such descriptor for a socket (before Linux 6.5), or this
    /// process may have none more.
    case unsupported

    /// That of a connected socket.
    package init(of socket: Int32) {
        let descriptor = strata_peer_descriptor(socket)
        if descriptor >= 0 {
            self = .descriptor(descriptor)
        } else {
            // What a kernel says of a process that was waited for.
            self = errno == ESRCH || errno == EINVAL ? .ended : .unsupported
        }
    }

    /// Looks at the process while it lives.
    /// - Returns: what `look` answered; nil where the process has ended before that was
    ///   done, or `/proc` doesn't show it.
    package func look<Result>(_ peer: PeerCredentials, _ look: (ProcessIdentity) -> Result) -> Result? {
        switch self {
        case .ended: return nil
        case .descriptor(let descriptor):
            defer { close(descriptor) }
            guard let process = ProcessIdentity(pid: peer.pid) else { return nil }
            let result = look(process)
            // It lives still, so the number was its own all the time.
            var watch = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&watch, 1, 0) == 0 ? result : nil
        case .unsupported:
            // What was started later than the connection was taken is another one.
            guard let process = ProcessIdentity(pid: peer.pid), process.startTicks <= peer.seenAt else { return nil }
            let result = look(process)
            return process.isAlive ? result : nil
        }
    }
}

extension Socket {
    /// Looks at the process that connected, while it lives.
    /// - Parameters:
    ///   - peer: what `credentials` said of it.
    ///   - look: what is asked about it.
    /// - Returns: nil where that process has ended, or `/proc` doesn't show it.
    public func lookAtPeer<Result>(_ peer: PeerCredentials, _ look: (ProcessIdentity) -> Result) -> Result? {
        ConnectedProcess(of: descriptor).look(peer, look)
    }
}
