/// The nodes of a picture, in rows: modules and bends. A bend keeps space free for a line that
/// passes through a row, so no line runs through a box.
///
/// After Sugiyama, Tagawa and Toda's layered drawing (1981); the lines of a bundle share their
/// bends.
struct Net {
    enum Node: Equatable {
        /// A module's box.
        case box(Int)
        /// A bundle that passes through the row.
        case bend(Int)
    }

    /// A link between two nodes of consecutive rows.
    struct Link: Hashable {
        var upper: Int
        var lower: Int
    }

    /// Two connected nodes of the same row.
    struct Pair: Hashable {
        var one: Int
        var other: Int
    }

    private(set) var nodes: [Node] = []
    /// The row of each node.
    private(set) var row: [Int] = []
    /// The column of each node. In each row, the columns are from left to right: each frame is one,
    /// and what has no frame is the last.
    private(set) var column: [Int] = []
    /// The nodes of each row, from left to right.
    var rows: [[Int]]
    private(set) var links: [Link] = []
    private(set) var pairs: [Pair] = []
    /// The nodes on the way from the hub to a member, by bundle and member.
    private(set) var ways: [[[Int]]] = []
    /// The node of each module.
    private var boxes: [Int]

    /// - Parameter rows: the modules of each row.
    init(_ graph: AppGraph, _ bundles: [Bundle], rows modules: [[Int]]) {
        rows = modules.map { _ in [] }
        boxes = Array(repeating: 0, count: graph.modules.count)
        for (number, modules) in modules.enumerated() {
            for module in modules {
                boxes[module] = add(.box(module), number, graph.modules[module].frame ?? graph.frames.count)
            }
        }
        var known: Set<Link> = []
        var knownPairs: Set<Pair> = []
        for (index, bundle) in bundles.enumerated() {
            var bends: [Int: Int] = [:]
            let hub = boxes[bundle.hub]
            ways.append([])
            for member in bundle.members.map({ boxes[$0] }) {
                let (from, to) = (row[hub], row[member])
                var way = [hub]
                for number in from < to
                    ? Array(from + 1..<max(to, from + 1)) : Array((to + 1..<max(from, to + 1)).reversed())
                {
                    let bend = bends[number] ?? add(.bend(index), number, column[hub])
                    bends[number] = bend
                    way.append(bend)
                }
                way.append(member)
                ways[index].append(way)
                if from == to {
                    let pair = Pair(one: min(hub, member), other: max(hub, member))
                    if hub != member, knownPairs.insert(pair).inserted { pairs.append(pair) }
                    continue
                }
                for (one, other) in zip(way, way.dropFirst()) {
                    let link = row[one] < row[other] ? Link(upper: one, lower: other) : Link(upper: other, lower: one)
                    if known.insert(link).inserted { links.append(link) }
                }
            }
        }
    }

    func isBend(_ node: Int) -> Bool {
        if case .bend = nodes[node] { true } else { false }
    }

    private mutating func add(_ node: Node, _ number: Int, _ column: Int) -> Int {
        nodes.append(node)
        row.append(number)
        self.column.append(column)
        rows[number].append(nodes.count - 1)
        return nodes.count - 1
    }
}
