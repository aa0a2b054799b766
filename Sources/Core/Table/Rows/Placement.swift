extension AppTable {
    /// Where a row's module runs: `node` in the manifest. It has the size of one pointer.
    public enum Placement: Sendable, Hashable {
        /// The app has no nodes, and the module runs on its one machine.
        case here
        /// One process on each of these nodes, which other nodes may ask; at least one, each once.
        case on([String])
        /// One process on each node, which only its own node asks.
        case everywhere

        /// The word for `everywhere`, in the manifest and in the table. No node has this name.
        public static let all = "all"

        /// Whether the module runs on the node; nil is the machine of an app without nodes.
        public func includes(_ node: String?) -> Bool {
            guard case .on(let nodes) = self else { return true }
            return node.map(nodes.contains) ?? false
        }
    }
}

extension AppTable.Placement: CustomStringConvertible {
    /// Whether some node is in both.
    public func meets(_ other: Self) -> Bool {
        guard case .on(let nodes) = self else { return true }
        return nodes.contains(where: other.includes)
    }

    /// The nodes for people, as in `berlin, tokyo`; empty for `here`.
    public var description: String {
        switch self {
        case .here: ""
        case .on(let nodes): nodes.joined(separator: ", ")
        case .everywhere: Self.all
        }
    }
}

extension AppTable.Row {
    /// Whether the module runs on other nodes than this one only. Nil is the machine of an app
    /// without nodes, from which no row is away.
    public func isAway(from node: String?) -> Bool {
        node != nil && !placement.includes(node)
    }
}

extension AppTable.Placement {
    /// Returns `"all"` or an array of names; nil for `here`, which the table leaves out.
    func json() -> JSON? {
        switch self {
        case .here: nil
        case .on(let nodes): .strings(nodes)
        case .everywhere: .string(Self.all)
        }
    }

    init(_ value: TableValue) throws(AppTableError) {
        if value.json.string == Self.all {
            self = .everywhere
            return
        }
        guard value.json.array?.isEmpty == false else {
            throw value.expected("\"\(Self.all)\" or an array of nodes")
        }
        let nodes = try value.strings()
        guard Set(nodes).count == nodes.count else { throw value.expected("each node once") }
        self = .on(nodes)
    }
}
