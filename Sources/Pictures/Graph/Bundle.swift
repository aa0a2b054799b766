/// Edges that share one end and are drawn as one branching line: all calls of one interface, a
/// broadcast to all its observers, or all reports to one module.
struct Bundle: Equatable {
    var kind: AppGraph.Kind
    var isDeclared: Bool
    /// The module at the shared end, which is called, is reported to, or broadcasts.
    var hub: Int
    /// The modules at the other ends, each once.
    var members: [Int]
    /// The names of interfaces or notifications.
    var names: [String]
    /// The indices of the edges, grouped by member.
    var edges: [[Int]]

    /// Whether the hub sends, and the members receive.
    var goesOut: Bool { kind == .broadcast }

    /// Returns the bundles of a graph, in the order of their first edges.
    static func all(of graph: AppGraph) -> [Bundle] {
        var bundles: [Bundle] = []
        var places: [Key: Int] = [:]
        for (index, edge) in graph.edges.enumerated() {
            let hub = edge.kind == .broadcast ? edge.from : edge.to
            let member = edge.kind == .broadcast ? edge.to : edge.from
            // Reports to a module and opens of its URLs are bundled whatever their names are.
            let isByName = edge.kind == .call || edge.kind == .broadcast
            let key = Key(
                kind: edge.kind, isDeclared: edge.isDeclared, hub: hub, name: isByName ? edge.name : "")
            if let place = places[key] {
                bundles[place].add(index, member, edge.name)
            } else {
                places[key] = bundles.count
                bundles.append(
                    Bundle(
                        kind: edge.kind, isDeclared: edge.isDeclared, hub: hub, members: [member],
                        names: [edge.name], edges: [[index]]))
            }
        }
        return merged(bundles)
    }

    private struct Key: Hashable {
        var kind: AppGraph.Kind
        var isDeclared: Bool
        var hub: Int
        var name: String
    }

    private mutating func add(_ edge: Int, _ member: Int, _ name: String) {
        if !names.contains(name) { names.append(name) }
        if let place = members.firstIndex(of: member) {
            edges[place].append(edge)
        } else {
            members.append(member)
            edges.append([edge])
        }
    }

    /// Merges bundles between the same modules.
    private static func merged(_ bundles: [Bundle]) -> [Bundle] {
        var merged: [Bundle] = []
        for bundle in bundles {
            let same = merged.firstIndex { other in
                other.kind == bundle.kind && other.isDeclared == bundle.isDeclared && other.hub == bundle.hub
                    && Set(other.members) == Set(bundle.members)
            }
            guard let same else {
                merged.append(bundle)
                continue
            }
            for (member, edges) in zip(bundle.members, bundle.edges) {
                for edge in edges { merged[same].add(edge, member, bundle.names[0]) }
            }
            for name in bundle.names where !merged[same].names.contains(name) { merged[same].names.append(name) }
        }
        return merged
    }
}
