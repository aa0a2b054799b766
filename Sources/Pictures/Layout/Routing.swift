/// Draws lines between boxes whose positions are known. Lines curve between two rows, and are
/// vertical through a row, where a bend has kept space free.
struct Routing {
    let net: Net
    let bundles: [Bundle]
    let ports: Ports
    /// The middle of each node.
    let middles: [Double]
    /// The top and the height of each row.
    let tops: [Double]
    let heights: [Double]
    /// The end of the last band.
    let end: Double

    func lines() -> [GraphLayout.Line] {
        bundles.enumerated().flatMap { index, bundle in
            zip(bundle.members, zip(bundle.edges, net.ways[index])).map { member, found in
                let (edges, way) = found
                var curves = self.curves(index, way)
                let own = curves[curves.count - 1].end
                // A way leads from the hub to the member.
                if !bundle.goesOut { curves = curves.reversed().map(\.reversed) }
                return GraphLayout.Line(
                    edges: edges, to: bundle.goesOut ? member : bundle.hub,
                    from: bundle.goesOut ? bundle.hub : member, kind: bundle.kind, isDeclared: bundle.isDeclared,
                    curves: curves, ownEnd: own)
            }
        }
    }

    private func curves(_ bundle: Int, _ way: [Int]) -> [Curve] {
        let side = ports.hubSide(bundle, way)
        let start = Point(ports.hub(bundle, side), y(net.row[way[0]], side))
        let last = way[way.count - 1]
        let lastSide = ports.memberSide(bundle, way)
        let end = Point(ports.member(bundle, last, lastSide), y(net.row[last], lastSide))
        guard net.row[way[0]] != net.row[last] else {
            let depth = self.depth(net.row[last], side, abs(start.x - end.x))
            return [.arc(from: start, to: end, depth: side == .bottom ? depth : -depth)]
        }
        var curves: [Curve] = []
        var here = start
        for bend in way.dropFirst().dropLast() {
            let (near, far): (Ports.Side, Ports.Side) = side == .bottom ? (.top, .bottom) : (.bottom, .top)
            let entry = Point(middles[bend], y(net.row[bend], near))
            let exit = Point(middles[bend], y(net.row[bend], far))
            curves.append(.swing(from: here, to: entry))
            curves.append(.line(from: entry, to: exit))
            here = exit
        }
        curves.append(.swing(from: here, to: end))
        return curves
    }

    private func y(_ row: Int, _ side: Ports.Side) -> Double { side == .top ? tops[row] : tops[row] + heights[row] }

    /// Returns how far an arc may reach into the space next to its row.
    private func depth(_ row: Int, _ side: Ports.Side, _ distance: Double) -> Double {
        let room: Double
        switch side {
        case .bottom: room = (row + 1 < tops.count ? tops[row + 1] : end) - tops[row] - heights[row]
        case .top: room = tops[row] - (row > 0 ? tops[row - 1] + heights[row - 1] : GraphLayout.head)
        }
        return min(room * 1.1, 26 + 0.07 * distance)
    }
}

extension Curve {
    var reversed: Curve { Curve(start: end, control1: control2, control2: control1, end: start) }
}
