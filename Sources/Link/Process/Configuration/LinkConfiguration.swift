public import StrataCore

/// What the launcher tells the link: the JSON in the file behind the descriptor that its argument names.
///
///     {"app": "moments", "node": "berlin", "nodes": ["tokyo"], "servers": ["tls://n1.example:4222"],
///      "key": "/etc/strata/moments.nk", "ca": "/etc/strata/ca.pem", "window": 4194304, "lost": 5000,
///      "unguarded": false, "socket": "/run/…/moments@berlin.sock", "token": "…"}
public struct LinkConfiguration: Equatable, Sendable {
    /// The app's name.
    public var app: String
    /// The name of this node.
    public var node: String
    /// The names of the other nodes, 1 to 31.
    public var others: [String]
    public var servers: [ServerAddress]
    /// The path of this node's seed; nil for a server that asks for none.
    public var key: String?
    /// The path of the certificates that servers' certificates are judged by; nil for the system's.
    public var ca: String?
    /// The most bytes under way to each node and from each, as configured.
    public var window: Int
    /// The silence after which a node is lost, in milliseconds.
    public var lost: UInt64
    /// Whether a NATS server that doesn't guard the nodes' names is used all the same.
    public var isUnguarded: Bool
    /// The path of the broker's socket.
    public var socket: String
    /// The token that the launcher vouches for.
    public var token: String

    /// Whether a server is connected to with TLS; libnats then does so with each.
    var usesTLS: Bool { servers.contains(where: \.usesTLS) }

    /// Reads a configuration.
    /// - Throws: a `LinkError` that names the member that is missing or wrong.
    public init(json: JSON) throws {
        func text(_ name: String) throws(LinkError) -> String? {
            guard let value = json[name], value != .null else { return nil }
            guard let text = value.string, !text.isEmpty, !text.utf8.contains(0) else {
                throw LinkError("\"\(name)\" is not a text")
            }
            return text
        }
        func required(_ name: String) throws(LinkError) -> String {
            guard let value = try text(name) else { throw LinkError("\"\(name)\" is missing") }
            return value
        }
        func texts(_ name: String) throws(LinkError) -> [String] {
            guard let texts = json[name]?.array?.map(\.string), !texts.isEmpty, !texts.contains(nil) else {
                throw LinkError("\"\(name)\" is not a list of texts")
            }
            return texts.compactMap { $0 }
        }
        func number(_ name: String, _ range: ClosedRange<Int64>, else standard: Int64) throws(LinkError) -> Int64 {
            guard let value = json[name], value != .null else { return standard }
            guard let number = value.integer, range.contains(number) else {
                throw LinkError("\"\(name)\" is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        app = try required("app")
        guard Name.isApp(app) else { throw LinkError("\"app\" is not an app's name: 1 to 32 of a-z, 0-9 and -") }
        node = try required("node")
        others = try texts("nodes")
        for name in [node] + others where !Name.isNode(name) {
            throw LinkError("\"\(Printable.line(name))\" is not a node's name: 1 to 32 of a-z, 0-9 and -, no - first")
        }
        guard Set(others + [node]).count == others.count + 1, others.count < 32 else {
            throw LinkError("\"nodes\" names this node, a node twice, or more than 31 others")
        }
        servers = try texts("servers").map { text throws(LinkError) in try ServerAddress(text) }
        guard servers.count <= 32 else { throw LinkError("\"servers\" has more than 32 addresses") }
        guard Set(servers.map(\.usesTLS)).count == 1 else {
            throw LinkError("\"servers\" has addresses with tls:// and with nats://: use one of them")
        }
        key = try text("key")
        ca = try text("ca")
        window = Int(try number("window", 64 << 10...32 << 20, else: 4 << 20))
        lost = UInt64(try number("lost", 2_000...60_000, else: 5_000))
        guard let unguarded = (json["unguarded"] ?? false).bool else {
            throw LinkError("\"unguarded\" is neither true nor false")
        }
        isUnguarded = unguarded
        socket = try required("socket")
        token = try required("token")
    }
}
