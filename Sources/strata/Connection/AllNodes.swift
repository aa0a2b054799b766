import StrataCore
import StrataOperator

/// The modules of all nodes of an app: each node is asked for those that run on it.
struct AllNodes {
    /// How long another node may take, in milliseconds.
    private static let patience: UInt64 = 5_000

    private(set) var modules: [ModuleRow] = []
    /// Why nodes did not answer, a line for each.
    private(set) var failures: [String] = []

    /// Asks the nodes one after another, in the order of the manifest. What a node that doesn't answer
    /// would have said is taken from the bus's own answer.
    init(_ connection: CommandClient) throws(Failure) {
        let own = try connection.modules()
        let nodes = try connection.nodes()
        guard !nodes.isEmpty else {
            modules = own
            return
        }
        var silent: Set<String> = []
        var here = ""
        for node in nodes {
            let name = node.name
            do throws(Failure) {
                if node.isOwn { here = name }
                let found = here == name ? own : try Self.modules(of: name, connection)
                // A module that runs on other nodes alone is listed with theirs.
                modules += found.filter { $0.nodes == [name] }
            } catch {
                // Without its own bus, there is nothing to ask.
                guard error.status == .answer, error.code != .cancelled else { throw error }
                silent.insert(name)
                failures.append("\(name): \(error.message)")
            }
        }
        modules += own.filter { $0.nodes != [here] && $0.nodes.allSatisfy(silent.contains) }
    }

    private static func modules(of node: String, _ connection: CommandClient) throws(Failure) -> [ModuleRow] {
        try connection.asking(node) { () throws(Failure) in
            let body = try connection.send(
                Request(to: "bus/modules", nil, deadline: patience), "waiting for the node \(node)")
            return [ModuleRow]((try? JSON(parsing: body)) ?? .null)
        }
    }
}
