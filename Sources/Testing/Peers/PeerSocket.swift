internal import Glibc

/// A connected Unix socket with poll's timeouts, and the frames that arrive on
/// it. Never blocks longer than it is told to.
package final class PeerSocket: PeerLink {
    package private(set) var descriptor: Int32
    /// The other side has ended, or this side has closed.
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

    /// Takes over a connected socket, which does not block.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Sends all of it, or says how much went before the deadline passed or the
    /// broker closed.
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

    /// Reads what is there. Called where `poll` said so.
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

    /// The next whole frame of what was read.
    package func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    package var unfinished: Int { input.unfinished }

    package var isClosed: Bool { descriptor < 0 }

    package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() {
        guard descriptor >= 0 else { return }
        // A child that another test starts just now has a copy until it runs its
        // program, and the connection would end only then.
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
        descriptor = -1
        isAtEnd = true
    }
}
