import StrataCore
public import StrataOperator

/// A graph of a running app, and parts of a graph.
extension AppGraph {
    /// Makes a graph of what a bus reports. It has the calls that live modules and rows require. The bus
    /// doesn't report who observes what, so broadcasts and reports are added as they are seen.
    public init(app: String, levels: [String], modules rows: [ModuleRow], interfaces: [InterfaceRow]) {
        self.init(app: app, levels: levels)
        add(rows)
        for interface in interfaces {
            guard let owner = index(of: interface.module) else { continue }
            modules[owner].provides.append(interface.name)
            modules[owner].urls += interface.urls.map(\.address)
            for name in interface.requiredBy {
                guard let caller = index(of: name) else { continue }
                edges.append(Edge(kind: .call, from: caller, to: owner, name: interface.name))
            }
        }
    }

    /// Adds the modules of a bus that the graph doesn't have, such as guests.
    public mutating func add(_ rows: [ModuleRow]) {
        for row in rows where index(of: row.name) == nil {
            guard let rank = levels.firstIndex(of: row.level) else { continue }
            var module = Module(name: row.name, rank: rank)
            module.start = AppTable.Start(rawValue: row.start) ?? .eager
            module.isListed = row.start != "guest"
            modules.append(module)
        }
    }

    /// Adds an edge that was seen between two of its modules, unless the graph has it.
    /// - Parameter name: the interface, the URL's host and pattern, or the notification's name.
    /// - Returns: whether an edge was added.
    @discardableResult
    public mutating func addSeen(_ kind: Kind, from: String, to: String, name: String) -> Bool {
        guard let from = index(of: from), let to = index(of: to) else { return false }
        let count = edges.count
        return place(ofSeen: kind, from: from, to: to, name: name) == count
    }

    /// Returns a module with its neighbours: the modules that it exchanges messages with. Nil if the graph
    /// doesn't have the module.
    public func neighbourhood(of name: String) -> AppGraph? {
        guard let middle = index(of: name) else { return nil }
        let kept = edges.filter { $0.from == middle || $0.to == middle }
        let members = Set(kept.flatMap { [$0.from, $0.to] } + [middle]).sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(members, 0...))
        var part = self
        part.modules = members.map { modules[$0] }
        part.edges = kept.map { edge in
            var edge = edge
            (edge.from, edge.to) = (places[edge.from]!, places[edge.to]!)  // because `members` has both ends
            return edge
        }
        // Only what is left over is framed.
        let framed = Set(part.modules.compactMap(\.frame)).sorted()
        part.frames = framed.map { frames[$0] }
        for index in part.modules.indices {
            part.modules[index].frame = part.modules[index].frame.flatMap { framed.firstIndex(of: $0) }
        }
        part.remarks = []
        return part
    }
}
