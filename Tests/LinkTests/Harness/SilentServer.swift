import Glibc
import Testing

/// A server that wants TLS, and then says nothing more.
final class SilentServer {
    let port: UInt16
    private let listener: Int32
    private var connections: [Int32] = []

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) | listen(descriptor, 16) | getsockname(descriptor, address, &length)
            }
        }
        try #require(status == 0)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        for connection in connections { close(connection) }
        close(listener)
    }

    /// Greets the clients that have connected.
    func greet() {
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            connections.append(connection)
            let greeting = Array(#"INFO {"server_id":"x","max_payload":1048576,"tls_required":true}"#.utf8) + [13, 10]
            _ = write(connection, greeting, greeting.count)
        }
    }
}
