/// The points where lines meet the boxes: on the top or the bottom, ordered by where the lines come
/// from.
struct Ports {
    enum Side: Hashable { case top, bottom }

    /// The top or bottom of a module's box.
    private struct Edge: Hashable {
        var module: Int
        var side: Side
    }

    /// An end of a bundle's line, at its hub or at one of its members.
    private struct End: Hashable {
        var bundle: Int
        /// The member's node; -1 for the hub.
        var member: Int
        var side: Side
    }

    static let distance = 16.0
    private static let corner = 14.0

    private let net: Net
    private let bundles: [Bundle]
    private var ends: [Edge: [End]] = [:]
    private var middles: [End: Double] = [:]

    init(_ net: Net, _ bundles: [Bundle]) {
        self.net = net
        self.bundles = bundles
        for (index, bundle) in bundles.enumerated() {
            for (member, way) in zip(bundle.members, net.ways[index]) {
                add(End(bundle: index, member: -1, side: hubSide(index, way)), at: bundle.hub)
                add(End(bundle: index, member: way.last ?? 0, side: memberSide(index, way)), at: member)
            }
        }
    }

    private mutating func add(_ end: End, at module: Int) {
        let edge = Edge(module: module, side: end.side)
        if ends[edge]?.contains(end) != true { ends[edge, default: []].append(end) }
    }

    /// Returns the side on which a way leaves its hub. A way within the row uses the same side as
    /// the rest of its bundle.
    func hubSide(_ bundle: Int, _ way: [Int]) -> Side {
        let hub = way[0]
        if net.row[way[1]] != net.row[hub] { return net.row[way[1]] > net.row[hub] ? .bottom : .top }
        let others = net.ways[bundle].map { net.row[$0[1]] }
        return others.contains { $0 < net.row[hub] } && !others.contains { $0 > net.row[hub] } ? .top : .bottom
    }

    /// Returns the side on which a way reaches its member.
    func memberSide(_ bundle: Int, _ way: [Int]) -> Side {
        let (before, last) = (way[way.count - 2], way[way.count - 1])
        if net.row[before] == net.row[last] { return hubSide(bundle, way) }
        return net.row[before] < net.row[last] ? .top : .bottom
    }

    /// Returns the width that a module's box needs for its lines.
    func width(of module: Int) -> Double {
        let most = [Side.top, .bottom].map { ends[Edge(module: module, side: $0)]?.count ?? 0 }.max() ?? 0
        return Double(max(0, most - 1)) * Self.distance + 2 * Self.corner
    }

    /// Spreads the ends of the lines, once the positions of all nodes are known.
    mutating func spread(_ nodeMiddles: [Double], boxMiddles: [Double], boxWidths: [Double]) {
        for (edge, unsorted) in ends {
            let from = unsorted.map { origin(of: $0, nodeMiddles) }
            let sorted = unsorted.indices.sorted { one, other in
                (from[one], unsorted[one].bundle, unsorted[one].member)
                    < (from[other], unsorted[other].bundle, unsorted[other].member)
            }
            let room = boxWidths[edge.module] - 2 * Self.corner
            let step = min(Self.distance * 1.5, sorted.count > 1 ? room / Double(sorted.count - 1) : 0)
            for (index, end) in sorted.enumerated() {
                let offset = (Double(index) - Double(sorted.count - 1) / 2) * step
                middles[unsorted[end]] = boxMiddles[edge.module] + offset
            }
        }
    }

    /// Returns the position that an end's line comes from.
    private func origin(of end: End, _ nodeMiddles: [Double]) -> Double {
        if end.member >= 0 {
            let way = net.ways[end.bundle].first { $0.last == end.member } ?? []
            return way.count > 1 ? nodeMiddles[way[way.count - 2]] : 0
        }
        let next = Set(net.ways[end.bundle].filter { hubSide(end.bundle, $0) == end.side }.map { $0[1] })
        return next.sorted().reduce(0) { $0 + nodeMiddles[$1] } / Double(max(1, next.count))
    }

    func hub(_ bundle: Int, _ side: Side) -> Double { middles[End(bundle: bundle, member: -1, side: side)] ?? 0 }

    func member(_ bundle: Int, _ node: Int, _ side: Side) -> Double {
        middles[End(bundle: bundle, member: node, side: side)] ?? 0
    }
}
