/// The nodes of a run's app, and the nodes on which each role's processes run.
public struct RolePlacement: Sendable, Equatable {
    /// The nodes' names. An app of one machine has none.
    private static let names = ["berlin", "oslo", "tokyo"]
    public static let most = names.count

    /// The app's `federation.lost`, in milliseconds.
    public static let lost: UInt64 = 5_000

    /// The number of nodes; 1 for an app of one machine.
    public let count: Int

    public init(nodes: Int) { count = min(max(nodes, 1), Self.most) }

    public var hasNodes: Bool { count > 1 }

    /// How long a request may take. With several nodes it is longer than the time after which a
    /// node counts as lost, so that no deadline hides what becomes of its requests.
    public var patience: Duration { hasNodes ? .seconds(12) : .seconds(3) }
    public var nodes: [UInt8] { (0..<count).map { UInt8($0) } }

    /// Returns a node's name; nil if the app has one machine.
    public func name(of node: UInt8) -> String? { hasNodes ? Self.names[Int(node)] : nil }

    public func node(named name: String) -> UInt8? {
        Self.names.prefix(hasNodes ? count : 0).firstIndex(of: name).map { UInt8($0) }
    }

    /// Returns the nodes on which a role has a process, each once.
    public func homes(of role: Role) -> [UInt8] {
        switch role.home {
        case .one(let node): [UInt8(node % count)]
        case .some(let some): nodes.filter { some.contains(Int($0)) }
        case .all: nodes
        }
    }

    /// Returns the nodes to which a request for a role may go: the caller's own, if the role has a
    /// process there.
    public func callees(of role: Role, from node: UInt8) -> [UInt8] {
        let homes = homes(of: role)
        return homes.contains(node) ? [node] : homes
    }

    /// Returns a role's `node` in the manifest.
    public func manifestValue(of role: Role) -> String {
        if case .all = role.home { return "all" }
        let names = homes(of: role).compactMap { name(of: $0) }
        return names.count == 1 ? names[0] : "[\(names.joined(separator: ", "))]"
    }
}
