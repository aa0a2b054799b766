/// Sorts the nodes of each row so that few lines cross: by the barycentre of their
/// neighbours, from top to bottom and back, then by swapping neighbours. The best
/// order of all is kept, and equal ones stay as they were, so that the same graph
/// always gives the same picture.
struct RowOrder {
    private static let sweeps = 24
    private static let swaps = 8

    private var net: Net
    /// By node: its neighbours in the row above, in the one below, in its own.
    private var above: [[Int]]
    private var below: [[Int]]
    private var beside: [[Int]]
    /// By node: where it stands in its row.
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
        for row in net.rows { number(row) }
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
        let sorted = wanted.indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
        net.rows[row] = sorted.map { net.rows[row][$0] }
        number(net.rows[row])
    }

    /// How far right it stands, from 0 to 1.
    private func share(_ node: Int) -> Double {
        (Double(place[node]) + 0.5) / Double(net.rows[net.row[node]].count)
    }

    // MARK: crossings

    /// Crossings, and half of what lies between modules of one row that speak.
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

    /// How often lines of two nodes cross, the first of them on the left.
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
