public import StrataCore

/// A graph of what an app's table declares.
extension AppGraph {
    /// Makes a graph of the rows' declarations; no module needs to run.
    public init(_ table: AppTable) {
        self.init(app: table.app, levels: table.levels)
        let names = Names(table)
        modules = table.modules.map { row in
            var module = Module(name: row.name, rank: row.rank)
            module.start = row.start
            module.provides = row.provides
            module.urls = row.urls.map { $0.host + $0.path }
            return module
        }
        addFrames(table)
        for (index, row) in table.modules.enumerated() { addCalls(of: row, index, names) }
        for (index, row) in table.modules.enumerated() { addBroadcasts(of: row, index, table, names) }
        for (index, row) in table.modules.enumerated() { addReports(of: row, index) }
    }

    /// Returns a module's index; nil if no module has that name.
    func index(of name: String) -> Int? { modules.firstIndex { $0.name == name } }

    /// Adds the frames of single nodes first, in the table's order. `all` comes last.
    private mutating func addFrames(_ table: AppTable) {
        guard !table.nodes.isEmpty else { return }
        let used = table.modules.map(\.placement.description)
        frames = table.nodes.map(\.name).filter(used.contains)
        for frame in used where frame != AppTable.Placement.all && !frames.contains(frame) { frames.append(frame) }
        if used.contains(AppTable.Placement.all) { frames.append(AppTable.Placement.all) }
        for index in modules.indices { modules[index].frame = frames.firstIndex(of: used[index]) }
    }

    private mutating func addCalls(of row: AppTable.Row, _ index: Int, _ names: Names) {
        for asked in row.requires.lazy.map(\.name) {
            let provided = names.provided(asked)
            guard let owner = modules.firstIndex(where: { $0.provides.contains(provided) }) else {
                remarks.append("\(row.name) requires \(asked), which no row provides.")
                continue
            }
            edges.append(
                Edge(
                    kind: .call, from: index, to: owner, name: asked,
                    providerName: provided == asked ? nil : provided))
        }
    }

    private mutating func addBroadcasts(
        of row: AppTable.Row, _ index: Int, _ table: AppTable, _ names: Names
    ) {
        for name in row.broadcasts {
            var isHeard = false
            for observed in [name] + names.aliases(of: name, by: row) {
                for (other, observer) in table.modules.enumerated() where observer.rank > row.rank {
                    guard observer.observes.contains(where: { $0.isOf(observed) }) else { continue }
                    isHeard = true
                    // A module that observes both names gets only one edge.
                    guard !edges.contains(where: { $0.isBroadcast(name, from: index, to: other) }) else { continue }
                    edges.append(
                        Edge(
                            kind: .broadcast, from: index, to: other, name: name,
                            providerName: observed == name ? nil : observed))
                }
            }
            if !isHeard { modules[index].unheard.append(name) }
        }
    }

    private mutating func addReports(of row: AppTable.Row, _ index: Int) {
        for report in row.reports {
            guard let target = self.index(of: report.module) else {
                remarks.append("\(row.name) reports to \(report.module), which is in no row.")
                continue
            }
            for name in report.names { edges.append(Edge(kind: .report, from: index, to: target, name: name)) }
        }
    }
}

/// The effect of adapters on names, as the bus applies them.
private struct Names {
    private let chains: AdapterChains
    private let provided: Set<String>

    init(_ table: AppTable) {
        chains = AdapterChains(table.adapters)
        provided = Set(table.modules.flatMap(\.provides))
    }

    /// Returns the interface that a call to a required one reaches. An interface that a row
    /// provides itself beats an adapter.
    func provided(_ asked: String) -> String {
        guard !provided.contains(asked) else { return asked }
        return chains.chain(asked, "", isProvided: provided.contains)?.interface ?? asked
    }

    /// Returns the other names under which a row's broadcast is delivered.
    func aliases(of name: String, by row: AppTable.Row) -> [String] {
        chains.noticeAliases.filter { alias in
            alias.original == name && row.provides.contains(alias.provider) && !provided.contains(alias.adapter)
        }.map(\.name)
    }
}

extension AppGraph.Edge {
    fileprivate func isBroadcast(_ name: String, from: Int, to: Int) -> Bool {
        kind == .broadcast && self.name == name && self.from == from && self.to == to
    }
}
