internal import StrataCore
internal import CUV
internal import Glibc

/// What can be said of a path before a socket is made of it.
public enum SocketAddress {
    /// The kernel's limit for a Unix socket's path, in bytes.
    public static let longestPath = 107

    /// The message for a path that the kernel would cut off.
    public static func tooLong(_ path: String) -> String {
        "the socket path \(path) has \(path.utf8.count) bytes, and a Unix socket's may have "
            + "\(longestPath): choose a shorter one"
    }

    /// What stands at a path.
    public enum Occupant: Sendable, Equatable {
        case nothing
        /// A socket that somebody listens on.
        case live
        /// A socket that nobody listens on.
        case dead
        /// A file that is no socket.
        case foreign
        /// It can't be told: an errno.
        case unknown(Int32)
    }

    /// Whether a path leads to a socket's file, of whatever kind.
    public static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one datagram, without waiting.
    /// - Returns: 0, or an errno: EAGAIN where its receiver has no room.
    public static func send(datagram bytes: [UInt8], to path: String) -> Int32 {
        strata_unix_datagram(path, bytes, bytes.count)
    }

    /// Looks at a path, and tries a connection where a socket is.
    public static func occupant(_ path: String) -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT ? .nothing : .unknown(errno) }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .foreign }
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { return .unknown(errno) }
        defer { close(descriptor) }
        switch strata_unix_connect(descriptor, path) {
        case 0, EAGAIN: return .live
        case ECONNREFUSED: return .dead
        case ENOENT: return .nothing
        case let code: return .unknown(code)
        }
    }
}
