/// What was seen on a running bus.
extension AppGraph {
    /// Adds how often each edge was seen, and the edges that nobody has declared.
    /// - Parameter milliseconds: how long the bus was watched.
    public mutating func add(_ traffic: SeenTraffic, watchedFor milliseconds: UInt64) {
        watched = milliseconds
        for index in edges.indices { edges[index].seen = 0 }
        for (key, count) in traffic.counts.sorted(by: { $0.key < $1.key }) {
            guard let from = index(of: key.from, traffic), let to = index(of: key.to, traffic) else { continue }
            let known = edges.firstIndex { edge in
                edge.kind == key.kind && edge.from == from && edge.to == to
                    && (edge.name == key.name || edge.providerName == key.name)
            }
            if let known {
                edges[known].seen = (edges[known].seen ?? 0) + count
            } else {
                var edge = Edge(kind: key.kind, from: from, to: to, name: key.name)
                edge.isDeclared = key.kind == .open
                edge.seen = count
                edges.append(edge)
            }
        }
        if traffic.missed > 0 { remarks.append("\(traffic.missed) frames were missed: the counts are too small.") }
    }

    /// A module's index; one that no row names is added.
    private mutating func index(of name: String, _ traffic: SeenTraffic) -> Int? {
        if let known = index(of: name) { return known }
        guard let rank = traffic.ranks[name], levels.indices.contains(rank) else { return nil }
        var guest = Module(name: name, rank: rank)
        guest.isListed = false
        modules.append(guest)
        return modules.count - 1
    }
}

extension SeenTraffic.Key: Comparable {
    static func < (one: Self, other: Self) -> Bool {
        (one.kind.rawValue, one.from, one.to, one.name) < (other.kind.rawValue, other.from, other.to, other.name)
    }
}
