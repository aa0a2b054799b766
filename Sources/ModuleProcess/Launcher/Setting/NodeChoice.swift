import StrataCore
public import StrataManifest

/// Which node of its app this machine is: `--node`, or else `STRATA_NODE`.
public struct NodeChoice: Sendable, Equatable {
    /// The server and key of a node whose app runs on one machine, all nodes together. They replace
    /// what the manifest says, unless that names servers.
    public struct Local: Sendable, Equatable {
        public var server: String
        /// The path of the node's seed.
        public var key: String?

        public init(server: String, key: String?) { (self.server, self.key) = (server, key) }
    }

    /// The value of `--node`; nil if it is missing.
    private let given: String?
    private let local: Local?

    public init(given: String? = nil, over local: Local? = nil) { (self.given, self.local) = (given, local) }

    /// The arguments that choose the same node in another command.
    var arguments: [String] { given.map { ["--node", $0] } ?? [] }

    /// The name that was chosen, whether the app has it or not. An empty variable counts as unset.
    func name(_ environment: [String: String]) -> String? {
        given ?? environment["STRATA_NODE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the chosen node of an app; nil if the app has no nodes. The variable may be the whole
    /// machine's, so it means nothing to such an app.
    public func node(of manifest: Manifest, _ environment: [String: String]) throws(LaunchError) -> String? {
        let (table, path) = (manifest.table, manifest.path)
        let names = table.nodes.map(\.name)
        guard !names.isEmpty else {
            guard let given else { return nil }
            throw LaunchError(
                2, "\(path): the app \(table.app) has no nodes, and --node says \(given): leave it out, or list nodes")
        }
        guard let name = name(environment) else {
            throw LaunchError(
                2,
                "\(path): the app \(table.app) has nodes: \(names.joined(separator: ", ")); say which one this machine is, "
                    + "with --node NAME or STRATA_NODE")
        }
        guard names.contains(name) else {
            let near = nearestNames(to: name, in: names).first.map { "; did you mean \($0)?" } ?? ""
            throw LaunchError(
                2,
                "\(path): the app \(table.app) has no node \(name)\(given == nil ? " (STRATA_NODE)" : ""); it has "
                    + "\(names.joined(separator: ", "))\(near)")
        }
        return name
    }

    /// Sets how the nodes of one machine reach each other.
    func addLocal(to manifest: inout Manifest) {
        guard let local, manifest.federation?.servers.isEmpty == true else { return }
        manifest.federation?.servers = [local.server]
        manifest.federation?.ownFiles = [:]
        manifest.federation?.files = Federation.Files(key: local.key)
    }

    /// Refuses an app whose nodes have no way to reach each other.
    static func checkServers(of manifest: Manifest) throws(LaunchError) {
        guard manifest.table.nodes.count > 1, manifest.federation?.servers.isEmpty == true else { return }
        let problem = manifest.problem(
            ["federation"],
            "expected servers, because \(manifest.table.nodes.count) nodes reach each other through NATS servers; found "
                + "none: list them, as in servers: [tls://n1.example:4222]")
        throw LaunchError(2, problem.description)
    }
}
