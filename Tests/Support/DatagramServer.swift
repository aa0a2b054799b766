import Glibc

/// A datagram socket in the file system: a stand-in for a service manager or a journal.
public final class DatagramServer {
    public let path: String
    private let descriptor: Int32

    /// Makes the socket; nil if that fails.
    public init?(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0, Self.bind(descriptor, path) else { return nil }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Returns the next datagram; nil if none has arrived.
    public func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Makes a Unix stream socket that listens on a path; -1 if that fails.
    public static func listener(path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, bind(descriptor, path), listen(descriptor, 16) == 0 else { return -1 }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, _ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
