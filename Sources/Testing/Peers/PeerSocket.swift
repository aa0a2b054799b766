internal import CUV
internal import Glibc
internal import StrataCore

/// A connected Unix socket with `poll`'s timeouts, and the frames that arrive on it. Never blocks
/// beyond its deadline.
package final class PeerSocket: PeerLink {
    package private(set) var descriptor: Int32
    /// Whether the other side has ended, or this side has closed.
    package private(set) var isAtEnd = false
    private var input = FrameInput()
    /// The descriptors that came with each frame that names some.
    private var received: [[Int32]] = []

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

    package func send(_ bytes: [UInt8], with descriptors: [Int32], until deadline: Deadline) -> Int {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            while true {
                let sent = strata_sendv_with(descriptor, &part, 1, descriptors, descriptors.count)
                if sent >= 0 { return sent }
                let code = errno
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard code == EAGAIN, poll(&wanted, 1, deadline.milliseconds) == 1 else { return -Int(code) }
            }
        }
    }

    /// Reads what is there. Call it when `poll` reports input.
    package func read() {
        guard descriptor >= 0, !isAtEnd else { return }
        withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { space in
            var numbers = [Int32](repeating: -1, count: strata_most_sent)
            var (came, isCut) = (0, Int32(0))
            let count = strata_receive_with(descriptor, space.baseAddress, space.count, &numbers, &came, &isCut)
            if came > 0 { received.append(Array(numbers[..<came])) }
            if count > 0 {
                input.append(UnsafeRawBufferPointer(rebasing: space[..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isAtEnd = true
            }
        }
    }

    /// Returns the next complete frame that was read; nil if there is none.
    package func nextFrame() throws -> ReceivedFrame? {
        guard var frame = try input.nextFrame() else { return nil }
        if let count = frame["memory"] == nil ? frame["descriptors"]?.integer : 1 {
            guard let came = received.first, came.count == count else {
                throw TestFailure("a frame named \(count) descriptors, and \(received) came")
            }
            frame.descriptors = received.removeFirst()
        }
        return frame
    }

    package var unfinished: Int { input.unfinished }

    package var isClosed: Bool { descriptor < 0 }

    package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() {
        guard descriptor >= 0 else { return }
        // Another test may be starting a child right now, which has a copy of the descriptor
        // until it runs its program. Without this, the connection would end only then.
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
        for number in received.joined() { Glibc.close(number) }
        descriptor = -1
        isAtEnd = true
    }
}
