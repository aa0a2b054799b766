import StrataCore

/// Finds what rows need of modules that never run on their node. `manages` and `wakes` are a node's
/// own: their requests and notices don't go to other nodes.
struct NodeReview {
    private let manifest: Manifest
    private let index: TableIndex

    init(_ manifest: Manifest, _ index: TableIndex) {
        self.manifest = manifest
        self.index = index
    }

    /// What can never work, in the order of the rows.
    var errors: [ManifestError] {
        guard !index.table.nodes.isEmpty else { return [] }
        return zip(index.table.modules, manifest.processes).compactMap(replicas)
            + index.table.modules.flatMap { managed(by: $0) + wakes(of: $0) }
    }

    private func replicas(of row: AppTable.Row, _ process: ModuleProcess) -> ManifestError? {
        guard process.replicas != nil else { return nil }
        if case .on(let nodes) = row.placement, nodes.count == 1 { return nil }
        return manifest.problem(
            ["modules", .key(row.name), "replicas"],
            "a row with replicas runs on one node, and \(row.name) runs on \(row.placement): requests with one key would "
                + "go to a replica on each; place it on one node, or leave replicas out")
    }

    private func managed(by row: AppTable.Row) -> [ManifestError] {
        row.manages.enumerated().compactMap { place, name in
            guard let other = index.row(name), !row.placement.meets(other.placement) else { return nil }
            return manifest.problem(
                ["modules", .key(row.name), "manages", .at(place)],
                "a module manages rows of its own node alone; \(row.name) is on \(row.placement), \(name) on "
                    + "\(other.placement): place both on one node, or leave \(name) out")
        }
    }

    private func wakes(of row: AppTable.Row) -> [ManifestError] {
        // A guest of the node may send what no row does.
        guard index.table.guests == nil else { return [] }
        return row.wakes.enumerated().compactMap { place, name in
            let observed = row.observes.first { $0.name == name } ?? AppTable.Observed(name: name)
            let senders = senders(of: observed, to: row)
            guard !senders.isEmpty, !senders.contains(where: { $0.placement.meets(row.placement) }) else {
                return nil
            }
            let known = senders.map { "\($0.name) on \($0.placement)" }.joined(separator: ", ")
            return manifest.problem(
                ["modules", .key(row.name), "wakes", .at(place)],
                "only what its own node sends starts a module; \(row.name) is on \(row.placement), and \(name) comes "
                    + "from \(known): place both on one node, or leave \(name) out")
        }
    }

    /// Returns the rows that declare to broadcast, report or emit what a row gets.
    private func senders(of observed: AppTable.Observed, to row: AppTable.Row) -> [AppTable.Row] {
        let broadcasters = index.sources(of: observed).map(\.row).filter {
            LevelRule.broadcastReaches(from: $0.rank, to: row.rank)
        }
        let others = index.table.modules.filter { other in
            other.emits.contains(observed.name)
                || other.reports.contains { $0.module == row.name && $0.names.contains(where: observed.isOf) }
        }
        return broadcasters + others
    }
}
