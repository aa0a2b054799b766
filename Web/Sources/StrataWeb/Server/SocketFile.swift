import Foundation

/// The file of a server's Unix socket, which is this user's alone.
struct SocketFile {
    /// Why a server can't listen there.
    struct Taken: Error, CustomStringConvertible {
        var description: String
    }

    let path: String

    /// The address's file; nil for a port.
    init?(_ address: ListenAddress) {
        guard case .path(let path) = address.place else { return nil }
        self.path = path
    }

    /// Makes sure that a server may listen: a socket that is left over may be replaced, a live one not.
    func prepare() throws(Taken) {
        // The server's other files are none of other users' business either.
        umask(0o077)
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Taken(description: "\(path) exists and is not a socket: remove it, or choose another path")
        }
        guard !isLive() else {
            throw Taken(description: "another process listens on \(path): choose another path")
        }
    }

    func remove() { unlink(path) }

    /// Whether somebody accepts connections there. What can't be known counts as live.
    private func isLive() -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return true }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 || errno != ECONNREFUSED
    }
}
