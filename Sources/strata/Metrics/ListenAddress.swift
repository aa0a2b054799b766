import ArgumentParser
import Glibc
import StrataCore
import StrataLoop

/// The address at which metrics are served: a port of this machine, or a socket in the file
/// system.
struct ListenAddress: ExpressibleByArgument {
    enum Place: Equatable {
        /// A port at a numeric address.
        case port(host: String, UInt16)
        case path(String)
    }

    let place: Place

    /// Reads `9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, or a path with a slash. A
    /// port without a host is open to this machine alone.
    init?(argument: String) {
        if argument.contains("/") {
            place = .path(argument)
            return
        }
        guard let colon = argument.lastIndex(of: ":") else {
            guard let port = UInt16(argument) else { return nil }
            place = .port(host: "127.0.0.1", port)
            return
        }
        guard let port = UInt16(argument[argument.index(after: colon)...]) else { return nil }
        var host = String(argument[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Self.isNumeric(host, AF_INET6) else { return nil }
        } else {
            if host == "localhost" { host = "127.0.0.1" }
            guard Self.isNumeric(host, AF_INET) else { return nil }
        }
        place = .port(host: host, port)
    }

    /// Whether a request may name this host: a name of this machine, or this address, with or
    /// without a port.
    ///
    /// A web page that lets its own name lead here (DNS rebinding) names another host.
    func isMeant(by host: String) -> Bool {
        guard case .port(let own, _) = place else { return true }
        var name = host.lowercased()
        if let colon = name.lastIndex(of: ":"), name[name.index(after: colon)...].allSatisfy(\.isNumber) {
            name = String(name[..<colon])
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if ["localhost", "127.0.0.1", "::1", own.lowercased()].contains(name) { return true }
        // The server listens on all addresses of this machine.
        return ["0.0.0.0", "::"].contains(own) && (Self.isNumeric(name, AF_INET) || Self.isNumeric(name, AF_INET6))
    }

    private static func isNumeric(_ host: String, _ family: Int32) -> Bool {
        var address = in6_addr()  // the larger of the two
        return inet_pton(family, host, &address) == 1
    }

    /// Listens at the address.
    /// - Returns: the listener, and the address as a person writes it.
    /// - Throws: `usage` if it can't listen there.
    func listen(_ loop: Loop, onConnection: @escaping (Socket) -> Void) throws(Failure) -> (Listener, String) {
        switch place {
        case .path(let path): return (try Self.listen(loop, path, onConnection), path)
        case .port(let host, let port):
            let name = host.contains(":") ? "[\(host)]" : host
            let (descriptor, chosen) = try Self.listen(host, port, name)
            do throws(SystemError) {
                let listener = try Listener(
                    loop, path: "\(name):\(chosen)", descriptor: descriptor, removesFile: false,
                    onConnection: onConnection)
                return (listener, "http://\(name):\(chosen)/metrics")
            } catch {
                throw Failure(.usage, "can't listen on \(name):\(chosen): \(error)")
            }
        }
    }

    private static func listen(
        _ loop: Loop, _ path: String, _ onConnection: @escaping (Socket) -> Void
    ) throws(Failure) -> Listener {
        switch SocketAddress.occupant(path) {
        case .nothing: break
        case .dead: unlink(path)
        case .live: throw Failure(.usage, "another process listens on \(path): choose another path")
        case .foreign: throw Failure(.usage, "\(path) exists and is not a socket: remove it, or choose another path")
        case .unknown(let code): throw Failure(.usage, "\(path) can't be examined: \(String(cString: strerror(code)))")
        }
        do throws(SystemError) { return try Listener(loop, path: path, onConnection: onConnection) } catch {
            throw Failure(.usage, "can't \(error)")
        }
    }

    private static func listen(_ host: String, _ port: UInt16, _ name: String) throws(Failure) -> (Int32, UInt16) {
        let isNew = host.contains(":")
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(isNew ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { throw Self.failure(name, port) }
        // Ignore what an ended process has left in the kernel.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, host, port, isNew), Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            let failure = Self.failure(name, port)
            close(descriptor)
            throw failure
        }
        return (descriptor, port == 0 ? boundPort(descriptor) : port)
    }

    private static func failure(_ name: String, _ port: UInt16) -> Failure {
        Failure(.usage, "can't listen on \(name):\(port): \(String(cString: strerror(errno)))")
    }

    private static func bind(_ descriptor: Int32, _ host: String, _ port: UInt16, _ isNew: Bool) -> Bool {
        if isNew {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            return bind(descriptor, &address, MemoryLayout<sockaddr_in6>.size)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return bind(descriptor, &address, MemoryLayout<sockaddr_in>.size)
    }

    private static func bind(_ descriptor: Int32, _ address: UnsafeRawPointer, _ size: Int) -> Bool {
        Glibc.bind(descriptor, address.assumingMemoryBound(to: sockaddr.self), socklen_t(size)) == 0
    }

    /// Returns the port that the kernel chose. Both address families keep it at the same place.
    private static func boundPort(_ descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            _ = getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
        }
        return UInt16(bigEndian: address.sin6_port)
    }
}
