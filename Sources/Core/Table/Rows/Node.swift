extension AppTable {
    /// A machine of an app that runs on several.
    public struct Node: Sendable, Hashable {
        public var name: String
        /// Whether its operators may use the other nodes' tools.
        public var operates: Bool
        public init(_ name: String, operates: Bool = false) {
            self.name = name
            self.operates = operates
        }

        /// The most nodes that an app may have.
        public static let most = 32
    }
}

extension AppTable {
    /// The name of the app's socket: with nodes `moments@berlin`.
    public var socketName: String { node.map { "\(app)@\($0)" } ?? app }

    /// Returns the names of the nodes on which a row's module runs, in the table's order.
    public func nodes(of row: Row) -> [String] { nodes.map(\.name).filter(row.placement.includes) }

    /// Returns the nodes of a row's module from which its requests to another row leave. From the
    /// other nodes they reach the module that runs beside it.
    public func nodes(of row: Row, without other: Row) -> [String] {
        nodes(of: row).filter { !other.placement.includes($0) }
    }

    /// Whether a broadcast from one row to another leaves its node: unlike a request, it goes to the
    /// observers of all nodes.
    public func broadcastLeaves(from sender: Row, to observer: Row) -> Bool {
        Set(nodes(of: sender) + nodes(of: observer)).count > 1
    }
}

extension AppTable.Node {
    func json() -> JSON {
        var members: [JSON.Member] = [.init("name", .string(name))]
        if operates { members.append(.init("operates", true)) }
        return .object(members)
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "operates"])
        let name = try value.required("name")
        self.init(try name.string())
        guard Name.isNode(self.name) else { throw name.expected("a node's name") }
        try value.read("operates", into: &operates) { (v) throws(AppTableError) in try v.bool() }
    }
}

extension AppTable {
    /// Reads `nodes` and `node` after the rows, whose placements must name these nodes. The broker
    /// indexes by them, so what doesn't fit together is an error here.
    mutating func readNodes(_ value: TableValue) throws(AppTableError) {
        try value.read("nodes", into: &nodes) { (v) throws(AppTableError) in
            let nodes = try v.list { (node) throws(AppTableError) in try Node(node) }
            guard (1...Node.most).contains(nodes.count), Set(nodes.map(\.name)).count == nodes.count else {
                throw v.expected("1 to \(Node.most) nodes, each once")
            }
            return nodes
        }
        let names = Set(nodes.map(\.name))
        try value.read("node", into: &node) { (v) throws(AppTableError) in
            let name = try v.string()
            guard names.contains(name) else { throw v.expected("one of nodes") }
            return name
        }
        try value.read("join", into: &join) { (v) throws(AppTableError) in try v.integer() }
        for (index, row) in modules.enumerated() where !row.placement.fits(names) {
            throw AppTableError(
                path: "modules[\(index)].placement",
                message: names.isEmpty ? "the table has no nodes" : "expected some of nodes, or \"\(Placement.all)\"")
        }
    }
}

extension AppTable.Placement {
    /// Whether a row of an app with these nodes may be placed so.
    fileprivate func fits(_ nodes: Set<String>) -> Bool {
        switch self {
        case .here: nodes.isEmpty
        case .on(let names): names.allSatisfy(nodes.contains)
        case .everywhere: !nodes.isEmpty
        }
    }
}
