internal import CUV
internal import Glibc
public import StrataCore

/// Connecting to the broker of another app, which may be another user's. Only a socket that this
/// user alone can have put there is used, and only if the user, or root, listens on it.
///
/// Nothing here waits: each step asks the kernel alone. The folder and the socket are examined
/// through descriptors, so that nothing can be swapped in between a check and its use.
public enum OtherAppSocket {
    /// Why a socket wasn't used, as a part of a message.
    public struct Problem: Error {
        public let message: String
        public init(_ message: String) { self.message = message }
    }

    /// Returns the paths at which an app may listen, in the order of the protocol's section 1.
    /// - Parameters:
    ///   - user: the user that its broker runs as.
    ///   - own: the user of this process.
    ///   - runtimeFolder: `XDG_RUNTIME_DIR` of this process.
    public static func paths(
        _ place: OtherApp.Place, user: UInt32, own: UInt32, runtimeFolder: String?
    ) -> [String] {
        guard case .name(let app) = place else {
            if case .socket(let path) = place { return [path] }
            return []
        }
        let runtime = user == own ? runtimeFolder : "/run/user/\(user)"
        var paths = [SocketPath.standard(app: app, hasGroup: true, user: user, runtimeFolder: nil)]
        for folder in [runtime, nil] {
            let path = SocketPath.standard(app: app, hasGroup: false, user: user, runtimeFolder: folder)
            if !paths.contains(path), path.utf8.count <= SocketPath.longest { paths.append(path) }
        }
        return paths
    }

    /// Connects to a socket.
    /// - Parameters:
    ///   - user: the user that must be listening. Root may, too: a service manager listens as root on
    ///     the sockets of system units, and root can pretend to be anyone anyway.
    ///   - isShared: whether the folder is in a place that other users share, where it must not be a
    ///     file system of its own: that user's program could let this process wait.
    /// - Returns: a connected, non-blocking descriptor, and who listens.
    public static func connect(
        _ path: String, user: UInt32, isShared: Bool
    ) throws(Problem) -> (descriptor: Int32, listener: PeerCredentials) {
        let folder = strata_open_path(AT_FDCWD, SocketPath.folder(of: path), 1)
        guard folder >= 0 else { throw problem(errno, "its folder is a link or not a folder") }
        defer { close(folder) }
        if isShared, strata_is_mount_root(folder) == 1 { throw Problem("its folder is a file system of its own") }
        var status = stat()
        guard fstat(folder, &status) == 0 else { throw problem(errno) }
        guard status.st_uid == user || status.st_uid == 0 else {
            throw Problem("its folder belongs to user \(status.st_uid), not to \(user)")
        }
        guard status.st_mode & 0o022 == 0 else { throw Problem("other users may write to its folder") }

        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let file = strata_open_path(folder, name, 0)
        guard file >= 0 else { throw problem(errno) }
        defer { close(file) }
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { throw Problem("it isn't a socket") }
        guard status.st_uid == user || status.st_uid == 0 else {
            throw Problem("it belongs to user \(status.st_uid), not to \(user)")
        }

        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { throw Problem("the broker has no free file descriptor") }
        let code = strata_unix_connect(descriptor, "/proc/self/fd/\(file)")
        guard code == 0 else {
            close(descriptor)
            throw code == EAGAIN ? Problem("too many connections wait for it") : problem(code)
        }
        var (pid, uid, gid) = (Int32(0), UInt32(0), UInt32(0))
        guard strata_peer_credentials(descriptor, &pid, &uid, &gid) == 0, uid == user || uid == 0 else {
            close(descriptor)
            throw Problem("user \(uid) listens on it, not \(user)")
        }
        return (descriptor, PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: strata_boot_ticks()))
    }

    /// Returns the problem of an errno.
    private static func problem(_ code: Int32, _ link: String = "it is a link") -> Problem {
        switch code {
        case ENOENT: Problem("there is no socket")
        case ECONNREFUSED: Problem("nobody listens")
        case ELOOP, ENOTDIR: Problem(link)
        default: Problem(String(cString: strerror(code)))
        }
    }
}
