/// The horizontal positions of the nodes: near the middle of their neighbours, in the order of
/// their row, and with enough distance.
struct Spacing {
    private static let rounds = 24
    private static let betweenBoxes = 26.0
    private static let besideBend = 16.0
    /// The space between the boxes of two columns, in which their frames are.
    static let betweenColumns = 52.0

    private let net: Net
    /// The width of each node.
    private let widths: [Double]
    private var above: [[Int]]
    private var below: [[Int]]
    private var middles: [Double]

    /// Returns the middle of each node; the leftmost edge of all is at 0.
    /// - Parameter columns: The least width of each column.
    static func place(_ net: Net, widths: [Double], columns: [Double] = []) -> [Double] {
        var spacing = Spacing(net, widths)
        spacing.run()
        spacing.separate(columns)
        let left = spacing.middles.indices.map { spacing.middles[$0] - widths[$0] / 2 }.min() ?? 0
        return spacing.middles.map { $0 - left }
    }

    private init(_ net: Net, _ widths: [Double]) {
        self.net = net
        self.widths = widths
        let none = Array(repeating: [Int](), count: net.nodes.count)
        (above, below) = (none, none)
        middles = Array(repeating: 0, count: net.nodes.count)
        for link in net.links {
            below[link.upper].append(link.lower)
            above[link.lower].append(link.upper)
        }
        for row in net.rows {
            let steps = self.steps(row)
            for (node, step) in zip(row, steps) { middles[node] = step - (steps.last ?? 0) / 2 }
        }
    }

    private mutating func run() {
        let all = zip(above, below).map { $0 + $1 }
        for round in 0..<Self.rounds {
            let isDown = round % 2 == 0
            for row in isDown ? Array(net.rows.indices) : net.rows.indices.reversed() {
                // In the last rounds, the neighbours on both sides count.
                settle(net.rows[row], round >= Self.rounds - 4 ? all : isDown ? above : below)
            }
        }
    }

    /// Moves columns to the right, so that each begins where the one before ends in all rows.
    private mutating func separate(_ least: [Double]) {
        var end: Double?
        for (column, least) in least.enumerated() {
            let nodes = middles.indices.filter { net.column[$0] == column }
            guard let left = nodes.map({ middles[$0] - widths[$0] / 2 }).min() else { continue }
            if let end {
                let move = end + Self.betweenColumns - left
                for node in middles.indices where net.column[node] >= column { middles[node] += move }
            }
            let right = nodes.map { middles[$0] + widths[$0] / 2 }.max() ?? 0
            let begin = nodes.map { middles[$0] - widths[$0] / 2 }.min() ?? 0
            end = max(right, begin + least)
        }
    }

    /// Returns the positions of a row's nodes when they are as close together as allowed.
    private func steps(_ row: [Int]) -> [Double] {
        var steps: [Double] = []
        for (index, node) in row.enumerated() {
            guard index > 0 else {
                steps.append(0)
                continue
            }
            let before = row[index - 1]
            let gap = net.isBend(node) || net.isBend(before) ? Self.besideBend : Self.betweenBoxes
            steps.append(steps[index - 1] + (widths[before] + widths[node]) / 2 + gap)
        }
        return steps
    }

    /// Moves a row's nodes as close to their preferred positions as their order and spacing allow:
    /// least squares, by pooling adjacent violators.
    private mutating func settle(_ row: [Int], _ neighbours: [[Int]]) {
        let steps = self.steps(row)
        var pools: [(sum: Double, weight: Double, count: Int)] = []
        for (node, step) in zip(row, steps) {
            var (sum, weight) = (0.0, 0.0)
            for other in neighbours[node] {
                // Weighted more, so that long lines become straight.
                let share = net.isBend(node) && net.isBend(other) ? 6.0 : 1.0
                sum += share * middles[other]
                weight += share
            }
            if weight == 0 { (sum, weight) = (0.1 * middles[node], 0.1) }
            pools.append((sum - weight * step, weight, 1))
            while pools.count > 1 {
                let (last, before) = (pools[pools.count - 1], pools[pools.count - 2])
                guard before.sum / before.weight > last.sum / last.weight else { break }
                pools.removeLast()
                pools[pools.count - 1] = (
                    before.sum + last.sum, before.weight + last.weight, before.count + last.count
                )
            }
        }
        var index = 0
        for pool in pools {
            for _ in 0..<pool.count {
                middles[row[index]] = pool.sum / pool.weight + steps[index]
                index += 1
            }
        }
    }
}
