/// How much room there is above the first row, between rows, and below the last one:
/// more where more lines pass, and where they go far to the side.
enum RowGaps {
    private static let least = 52.0
    private static let most = 190.0
    private static let outer = 26.0
    /// For lines between modules of one row.
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
