internal import Glibc

/// A connected Unix socket with `poll`'s timeouts, and the frames that arrive on it. Never blocks
/// beyond its deadline.
package final class PeerSocket: PeerLink {
    package private(set) var descriptor: Int32
    /// Whether the other side has ended, or this side has closed.
    package private(set) var isAtEnd = false
    private var input = FrameInput()

    package init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure.system("make a socket", errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw TestFailure("the socket path \(path) is too long") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            let code = errno
            Glibc.close(descriptor)
            descriptor = -1
            throw TestFailure.system("connect to \(path)", code)
        }
    }

    /// Takes over a connected, non-blocking socket.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Sends the bytes, until the deadline passes or the broker closes.
    /// - Returns: the number of bytes that were sent.
    package func send(_ bytes: [UInt8], until deadline: Deadline) -> Int {
        var sent = 0
        while sent < bytes.count, descriptor >= 0 {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if deadline.hasPassed || poll(&wanted, 1, deadline.milliseconds) == 0 { return sent }
            } else if errno != EINTR {
                return sent
            }
        }
        return sent
    }

    /// Reads what is there. Call it when `poll` reports input.
    package func read() {
        guard descriptor >= 0, !isAtEnd else { return }
        withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { space in
            let count = recv(descriptor, space.baseAddress, space.count, 0)
            if count > 0 {
                input.append(UnsafeRawBufferPointer(rebasing: space[..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isAtEnd = true
            }
        }
    }

    /// Returns the next complete frame that was read; nil if there is none.
    package func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    package var unfinished: Int { input.unfinished }

    package var isClosed: Bool { descriptor < 0 }

    package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() {
        guard descriptor >= 0 else { return }
        // Another test may be starting a child right now, which has a copy of the descriptor
        // until it runs its program. Without this, the connection would end only then.
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
        descriptor = -1
        isAtEnd = true
    }
}
