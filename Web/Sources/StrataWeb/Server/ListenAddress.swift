import Glibc
import Hummingbird

/// Where a server listens: a port of a numeric address, or a socket in the file system.
public struct ListenAddress: Equatable, Sendable {
    enum Place: Equatable {
        case port(host: String, Int)
        case path(String)
    }

    let place: Place

    /// A port of this machine's own address that the kernel chooses.
    public static let anyPort = ListenAddress(argument: "0")!  // because 0 is a port

    /// Reads `9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, or a path with a slash. A port
    /// without a host is this machine's own.
    public init?(argument: String) {
        if argument.contains("/") {
            place = .path(argument)
            return
        }
        let colon = argument.lastIndex(of: ":")
        guard let port = UInt16(colon.map { argument[argument.index(after: $0)...] } ?? argument[...]) else {
            return nil
        }
        var host = colon.map { String(argument[..<$0]) } ?? "127.0.0.1"
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Self.isNumeric(host, AF_INET6) else { return nil }
        } else {
            if host == "localhost" { host = "127.0.0.1" }
            guard Self.isNumeric(host, AF_INET) else { return nil }
        }
        place = .port(host: host, Int(port))
    }

    /// Whether only processes of this machine can connect.
    public var isOfThisMachine: Bool {
        switch place {
        case .path: true
        case .port(let host, _): host == "::1" || host.hasPrefix("127.")
        }
    }

    /// The host as a URL has it; nil for a path.
    var hostName: String? {
        guard case .port(let host, _) = place else { return nil }
        return host.contains(":") ? "[\(host)]" : host
    }

    /// Returns the address as a person writes it.
    /// - Parameter port: the port that the kernel has chosen.
    func text(port: Int?) -> String {
        switch place {
        case .path(let path): path
        case .port(_, let given): "http://\(hostName ?? ""):\(port ?? given)"
        }
    }

    var bindAddress: BindAddress {
        switch place {
        case .path(let path): .unixDomainSocket(path: path)
        case .port(let host, let port): .hostname(host, port: port)
        }
    }

    /// Whether a host, as a URL has it, is a numeric address.
    static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") { return isNumeric(String(host.dropFirst().dropLast()), AF_INET6) }
        return isNumeric(host, AF_INET)
    }

    private static func isNumeric(_ host: String, _ family: Int32) -> Bool {
        var address = in6_addr()  // the larger of the two
        return inet_pton(family, host, &address) == 1
    }
}
