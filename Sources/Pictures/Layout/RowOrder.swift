/// Sorts the nodes of each row so that few lines cross. It sorts by the barycentre of their
/// neighbours, from top to bottom and back, and then swaps neighbours. The best order is kept. Ties
/// keep their order, so that the same graph always gives the same picture. Columns stay apart.
struct RowOrder {
    private static let sweeps = 24
    private static let swaps = 8

    private var net: Net
    /// The neighbours of each node: in the row above, in the row below, and in its own row.
    private var above: [[Int]]
    private var below: [[Int]]
    private var beside: [[Int]]
    /// The index of each node in its row.
    private var place: [Int]

    static func sort(_ net: Net) -> Net {
        var order = RowOrder(net)
        return order.best()
    }

    private init(_ net: Net) {
        self.net = net
        let none = Array(repeating: [Int](), count: net.nodes.count)
        (above, below, beside) = (none, none, none)
        place = Array(repeating: 0, count: net.nodes.count)
        for link in net.links {
            below[link.upper].append(link.lower)
            above[link.lower].append(link.upper)
        }
        for pair in net.pairs {
            beside[pair.one].append(pair.other)
            beside[pair.other].append(pair.one)
        }
        for row in net.rows.indices { self.net.rows[row].sort { (net.column[$0], $0) < (net.column[$1], $1) } }
        for row in self.net.rows { number(row) }
    }

    private mutating func number(_ row: [Int]) {
        for (index, node) in row.enumerated() { place[node] = index }
    }

    private mutating func best() -> Net {
        var best = net
        var fewest = cost()
        for sweep in 0..<Self.sweeps {
            let isDown = sweep % 2 == 0
            for row in isDown ? Array(net.rows.indices) : net.rows.indices.reversed() {
                sort(row, by: isDown ? above : below)
            }
            swapNeighbours()
            let cost = cost()
            if cost < fewest { (best, fewest) = (net, cost) }
        }
        return best
    }

    private mutating func sort(_ row: Int, by neighbours: [[Int]]) {
        let wanted = net.rows[row].map { node -> Double in
            let others = neighbours[node] + beside[node]
            guard !others.isEmpty else { return share(node) }
            return others.reduce(0) { $0 + share($1) } / Double(others.count)
        }
        let columns = net.rows[row].map { net.column[$0] }
        let sorted = wanted.indices.sorted { (columns[$0], wanted[$0], $0) < (columns[$1], wanted[$1], $1) }
        net.rows[row] = sorted.map { net.rows[row][$0] }
        number(net.rows[row])
    }

    /// Returns how far right a node is in its row, from 0 to 1.
    private func share(_ node: Int) -> Double {
        (Double(place[node]) + 0.5) / Double(net.rows[net.row[node]].count)
    }

    // MARK: crossings

    /// Returns the number of crossings, plus half of the nodes between connected modules of the
    /// same row.
    private func cost() -> Double {
        var cost = 0.0
        for row in net.rows {
            for (index, one) in row.enumerated() {
                for other in row[(index + 1)...] { cost += Double(crossings(one, other, below)) }
            }
        }
        for pair in net.pairs { cost += 0.5 * Double(abs(place[pair.one] - place[pair.other]) - 1) }
        return cost
    }

    /// Returns how often the lines of two nodes cross, if the first node is on the left.
    private func crossings(_ left: Int, _ right: Int, _ neighbours: [[Int]]) -> Int {
        var count = 0
        for one in neighbours[left] {
            for other in neighbours[right] where place[one] > place[other] { count += 1 }
        }
        return count
    }

    private mutating func swapNeighbours() {
        for _ in 0..<Self.swaps {
            var hasSwapped = false
            for row in net.rows.indices {
                for index in net.rows[row].indices.dropLast() {
                    let (one, other) = (net.rows[row][index], net.rows[row][index + 1])
                    guard net.column[one] == net.column[other] else { continue }
                    let now = crossings(one, other, above) + crossings(one, other, below)
                    let then = crossings(other, one, above) + crossings(other, one, below)
                    guard then < now else { continue }
                    net.rows[row].swapAt(index, index + 1)
                    (place[one], place[other]) = (index + 1, index)
                    hasSwapped = true
                }
            }
            if !hasSwapped { return }
        }
    }
}

/// The modules of each row. A level is one row, or several if it has many modules.
enum LevelRows {
    /// The most modules in a row.
    static let widest = 7

    struct Row: Equatable {
        var rank: Int
        var modules: [Int]
    }

    /// Returns the rows; each level has at least one, even without modules.
    static func of(_ graph: AppGraph) -> [Row] {
        var pull = Array(repeating: 0, count: graph.modules.count)
        for edge in graph.edges {
            let (from, to) = (graph.modules[edge.from].rank, graph.modules[edge.to].rank)
            // Counts the direction of its lines: down is positive, up is negative.
            pull[edge.from] += (to - from).signum()
            pull[edge.to] += (from - to).signum()
        }
        return graph.levels.indices.flatMap { rank -> [Row] in
            let members = graph.modules.indices.filter { graph.modules[$0].rank == rank }
            guard members.count > widest else { return [Row(rank: rank, modules: members)] }
            let sorted = members.sorted { (pull[$0], $0) < (pull[$1], $1) }
            let count = (members.count + widest - 1) / widest
            return (0..<count).map { row in
                let range = row * sorted.count / count..<(row + 1) * sorted.count / count
                return Row(rank: rank, modules: Array(sorted[range]))
            }
        }
    }
}

/// The space above the first row, between rows, and below the last one. It grows with the number of
/// lines and with their horizontal distance.
enum RowGaps {
    private static let least = 52.0
    private static let most = 190.0
    private static let outer = 26.0
    /// The extra space for lines between modules of the same row.
    private static let arcs = 26.0

    static func of(_ net: Net, _ bundles: [Bundle], _ ports: Ports, _ middles: [Double]) -> [Double] {
        var lines = Array(repeating: 0, count: net.rows.count + 1)
        var widest = Array(repeating: 0.0, count: net.rows.count + 1)
        for link in net.links {
            let gap = net.row[link.lower]
            lines[gap] += 1
            widest[gap] = max(widest[gap], abs(middles[link.upper] - middles[link.lower]))
        }
        var hasArcs = Array(repeating: false, count: net.rows.count + 1)
        for (bundle, ways) in net.ways.enumerated() {
            for way in ways where way.count == 2 && net.row[way[0]] == net.row[way[1]] {
                hasArcs[net.row[way[0]] + (ports.hubSide(bundle, way) == .bottom ? 1 : 0)] = true
            }
        }
        return lines.indices.map { gap in
            let extra = hasArcs[gap] ? arcs : 0
            guard gap > 0, gap < net.rows.count else { return outer + extra }
            return min(most, least + 1.6 * Double(lines[gap]) + 0.07 * widest[gap]) + extra
        }
    }
}
