/// The address of a NATS server: `nats://host:port` without TLS, or `tls://host:port`. Other machines are reached with
/// TLS alone.
public struct ServerAddress: Equatable, Sendable {
    /// The address as libnats takes it.
    public let url: String
    public let host: String
    public let usesTLS: Bool

    /// Reads an address.
    /// - Throws: a `LinkError` if it is none, or leads to another machine without TLS.
    init(_ text: String) throws(LinkError) {
        func refused(_ why: String) -> LinkError { LinkError("the server \"\(text)\" \(why)") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw LinkError("a server's address is not ASCII")
        }
        if text.hasPrefix("tls://") {
            usesTLS = true
        } else if text.hasPrefix("nats://") {
            usesTLS = false
        } else {
            throw refused("begins with neither tls:// nor nats://")
        }
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        // User names and passwords have no place here: a node is known by its key.
        guard !rest.isEmpty, !rest.contains(where: { "/@?#,".contains($0) }) else {
            throw refused("is not a host and a port")
        }
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
        } else {
            host = String(rest.prefix { $0 != ":" })
        }
        guard !host.isEmpty else { throw refused("has no host") }
        guard usesTLS || Self.isLoopback(host) else {
            throw refused("leads to another machine without TLS: write tls://")
        }
        url = text
    }

    /// Whether a host is this machine, as far as its text says.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
    }
}
