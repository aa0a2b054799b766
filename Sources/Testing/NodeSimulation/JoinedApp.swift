import StrataCore

/// The app of a simulation of joined brokers: its nodes and rows, and what harms it. All of it
/// follows from a seed.
struct JoinedApp {
    struct Row {
        let name: String
        let rank: Int
        /// The nodes that it runs on, as indices.
        let nodes: [Int]
        /// Whether two replicas share its work.
        var hasReplicas = false
        /// Whether its modules retain all that they broadcast. So an observer's last broadcast of one must be the last
        /// that it has made.
        var retains: Bool { name.utf8.first.map { $0 % 2 == 1 } ?? false }

        var interface: String { "I\(name)" }
        /// The names of its modules on a node.
        var modules: [String] { hasReplicas ? ["\(name)~1", "\(name)~2"] : [name] }
        /// The name that its modules broadcast.
        var broadcast: String { "b.\(name)" }
        /// A pattern that matches only this name.
        var pattern: String { "*.\(name)" }
        var host: String { "h\(name.lowercased())" }
    }

    /// The user of all processes.
    static let user: UInt32 = 1_000
    /// The name that all modules observe, for reports.
    static let reported = "r"
    static let levels = ["basic", "middle", "topout"]

    let nodes: [AppTable.Node]
    let rows: [Row]
    let calls: AppTable.CallPolicy
    /// Whether the limits are so small that requests may be refused for them.
    let isTight: Bool
    /// Whether nothing ends a session between two links: messages are lost, and no process dies.
    let isCalm: Bool
    /// How many messages of 1,000 the carrier harms in each way.
    let harm: (lost: Int, doubled: Int, reordered: Int)
    /// How many bytes wait between a broker and its link.
    let lineCapacity: Int
    /// How many bytes may be under way between two links.
    let window: Int
    /// The row with replicas. It runs on one node.
    let replicated: Int
    private let table: AppTable

    init(_ numbers: inout SeededGenerator) {
        let count = numbers.chance(1, in: 3) ? 3 : 2
        nodes = ["berlin", "osaka", "tokyo"].suffix(count).map { .init($0, operates: numbers.chance(1, in: 2)) }
        calls = numbers.chance(1, in: 2) ? .layered : .any
        isCalm = numbers.chance(1, in: 5)
        let often = isCalm ? 20 : [0, 20, 60, 150][numbers.below(4)]
        harm = (often, [0, 20, 100][numbers.below(3)], [0, 20, 200][numbers.below(3)])
        lineCapacity = [300, 4 << 10, 208 << 10, 208 << 10][numbers.below(4)]
        window = [64 << 10, 64 << 10, 1 << 20][numbers.below(3)]
        var rows: [Row] = []
        for node in 0..<count {
            for place in 0..<2 {
                rows.append(Row(name: Self.name(2 * node + place), rank: numbers.below(3), nodes: [node]))
            }
        }
        if numbers.chance(2, in: 3) {
            let left = numbers.below(count + 1)
            let placed = (0..<count).filter { count == 2 || $0 != left }
            rows.append(Row(name: "W", rank: numbers.below(3), nodes: placed))
        }
        replicated = numbers.below(2 * count)
        rows[replicated].hasReplicas = true
        self.rows = rows
        var table = AppTable(app: "joined")
        table.schemes = ["sim"]
        table.calls = calls
        table.nodes = nodes
        table.join = [0, 500, 10_000, 10_000][numbers.below(4)]
        isTight = numbers.chance(1, in: 4)
        if isTight {
            table.limits.queue = [2 << 10, 16 << 10][numbers.below(2)]
            table.limits.calls = [4, 1_024][numbers.below(2)]
            table.limits.waiting = [2, 1_024][numbers.below(2)]
        }
        let declares = numbers.chance(1, in: 2)
        for row in rows {
            for name in row.modules {
                var own = AppTable.Row(name: name)
                own.replica = ReplicaName(name)
                own.rank = row.rank
                own.start = .manual
                own.provides = [row.interface]
                own.urls = [.init(host: row.host, path: "/x/:n", to: "\(row.interface)/a")]
                own.placement = .on(row.nodes.map { [nodes] in nodes[$0].name })
                if declares { own.broadcasts = [row.broadcast] }
                table.modules.append(own)
            }
        }
        self.table = table
    }

    private static func name(_ place: Int) -> String { String(UnicodeScalar(UInt8(65 + place))) }

    /// Returns the table as a node has it.
    func table(of node: Int) -> AppTable { TestNodes.table(table, of: nodes[node].name) }

    /// Whether a module of that rank may call a row.
    func mayCall(from rank: Int, to row: Int) -> Bool { calls == .any || rows[row].rank <= rank }
}
