import Glibc
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// Descriptors that are closed on other threads.
@Suite(.timeLimit(.hang)) struct ThreadCloserTests {
    /// More than there are threads.
    private static let stuckCount = 40

    @Test(.promise("6.68")) func whatBlocksOneUserHoldsUpNoOther() throws {
        let closer = ThreadCloser()
        let stuck = try (0..<Self.stuckCount).map { _ in try StuckSocket() }
        for socket in stuck { closer.close([socket.descriptor], of: 1) }
        for _ in 1...20 {
            let pipe = try Pipe()
            defer { close(pipe.reading) }
            closer.close([pipe.writing], of: 2)
            // The pipe hangs up when its other end is closed.
            var wanted = pollfd(fd: pipe.reading, events: 0, revents: 0)
            #expect(poll(&wanted, 1, Int32(TestBus.patience.components.seconds * 1_000)) == 1)
        }
        #expect(closer.pending(of: 1) == Self.stuckCount)
        for socket in stuck { socket.letGo() }
        while closer.pending > 0 { sched_yield() }
    }
}

/// A connected TCP socket whose closing blocks, because its other side doesn't take the last bytes.
private final class StuckSocket {
    let descriptor: Int32
    private let other: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connecting = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = connecting
        let isConnected = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0 && connect(connecting, address, length) == 0
            }
        }
        other = accept(listener, nil, nil)
        guard isConnected, other >= 0 else { throw TestFailure("no connection: \(errno)", file: #fileID, line: #line) }
        var stays = linger(l_onoff: 1, l_linger: 3_600)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &stays, socklen_t(MemoryLayout<linger>.size))
        let bytes = [UInt8](repeating: 0, count: 64 << 10)
        while send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Ends the connection, and with it whatever waits for its last bytes.
    func letGo() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(other, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(other)
    }
}
