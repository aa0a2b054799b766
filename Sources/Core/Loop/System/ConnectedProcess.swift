public import StrataCore
internal import CUV
internal import Glibc

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
