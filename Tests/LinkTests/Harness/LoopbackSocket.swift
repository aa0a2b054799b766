import Glibc
import Testing

/// TCP sockets on this machine.
enum LoopbackSocket {
    /// Returns a listening socket that never blocks, and its port.
    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        let (status, address) = with(port: 0) { address, length in
            bind(descriptor, address, length.pointee) | Glibc.listen(descriptor, 16)
                | getsockname(descriptor, address, length)
        }
        try #require(status == 0)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Returns a connected socket.
    static func connect(to port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let (status, _) = with(port: port) { address, length in Glibc.connect(descriptor, address, length.pointee) }
        try #require(status == 0)
        return descriptor
    }

    private static func with(
        port: UInt16, _ use: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (Int32, sockaddr_in) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, &length) }
        }
        return (status, address)
    }
}
