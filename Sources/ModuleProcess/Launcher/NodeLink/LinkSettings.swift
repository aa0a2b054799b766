import StrataCore
import StrataManifest

/// What the link of a node must know, in an app whose nodes reach each other.
struct LinkSettings: Equatable {
    private let app: String
    private let node: String
    private let others: [String]
    private let federation: Federation

    /// Returns nil if the app has no other nodes, or no servers that lead to them.
    init?(_ manifest: Manifest) {
        guard let node = manifest.table.node, let federation = manifest.federation, !federation.servers.isEmpty
        else { return nil }
        (app, self.node, self.federation) = (manifest.table.app, node, federation)
        others = manifest.table.nodes.map(\.name).filter { $0 != node }
        if others.isEmpty { return nil }
    }

    /// The user that the link runs as; nil for the launcher's.
    var user: UInt32? { federation.user }

    /// Returns the configuration that `strata-link` reads.
    func json(socket: String, token: String) -> JSON {
        var members: [JSON.Member] = [
            .init("app", .string(app)), .init("node", .string(node)),
            .init("nodes", .array(others.map { .string($0) })),
            .init("servers", .array(federation.servers.map { .string($0) })),
            .init("window", .integer(Int64(federation.window))),
            .init("lost", .integer(Int64(federation.lost))), .init("unguarded", .bool(federation.unguarded)),
            .init("socket", .string(socket)), .init("token", .string(token)),
        ]
        let files = federation.files(of: node)
        if let key = files.key { members.append(.init("key", .string(key))) }
        if let ca = files.ca { members.append(.init("ca", .string(ca))) }
        return .object(members)
    }
}
