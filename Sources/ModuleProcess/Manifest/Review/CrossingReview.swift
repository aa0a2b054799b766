import StrataCore

/// Lists what leaves its node: calls, broadcasts, reports, URLs, and questions to the authorizer. It
/// takes longer there and can fail by the network, so a person should know each of them.
struct CrossingReview {
    private let manifest: Manifest
    private let index: TableIndex
    private var table: AppTable { index.table }

    init(_ completed: Manifest) {
        manifest = completed
        index = TableIndex(completed.table)
    }

    var findings: [Finding] {
        guard table.nodes.count > 1 else { return [] }
        let ofRows = table.modules.flatMap { calls(of: $0) + broadcasts(of: $0) + reports(of: $0) + urls(of: $0) }
        return (ofRows + authorizations).map { Finding(.note, $0) }
    }

    private func calls(of row: AppTable.Row) -> [ManifestError] {
        row.requires.map(\.name).enumerated().compactMap { place, name in
            guard let owner = index.provider(of: name) else { return nil }
            let from = table.nodes(of: row, without: owner)
            let what = name == owner.name ? "calls" : "calls \(name) of"
            return from.isEmpty ? nil : note(row, "requires", .at(place), from, what, owner)
        }
    }

    private func broadcasts(of row: AppTable.Row) -> [ManifestError] {
        row.broadcasts.enumerated().flatMap { place, original in
            index.names(ofBroadcast: original, by: row).flatMap { name in
                index.observers(of: name).filter {
                    LevelRule.broadcastReaches(from: row.rank, to: $0.rank) && table.broadcastLeaves(from: row, to: $0)
                }.map { observer in
                    note(
                        row, "broadcasts", .at(place), table.nodes(of: row),
                        "broadcasts \(original)\(name == original ? "" : " (as \(name))") to", observer)
                }
            }
        }
    }

    private func reports(of row: AppTable.Row) -> [ManifestError] {
        row.reports.compactMap { report in
            guard let target = index.row(report.module) else { return nil }
            let from = table.nodes(of: row, without: target)
            let what = "reports \(report.names.joined(separator: ", ")) to"
            return from.isEmpty ? nil : note(row, "reports", .key(target.name), from, what, target)
        }
    }

    private func note(
        _ row: AppTable.Row, _ key: String, _ step: ManifestPlaces.Step, _ from: [String], _ what: String,
        _ other: AppTable.Row
    ) -> ManifestError {
        manifest.problem(
            ["modules", .key(row.name), .key(key), step],
            "leaves its node: \(row.name) (\(index.level(row))) on \(from.joined(separator: ", ")) \(what) "
                + "\(other.name) (\(index.level(other))) on \(other.placement)")
    }

    /// No row declares which URLs it opens, so each node without the URL's module counts.
    private func urls(of row: AppTable.Row) -> [ManifestError] {
        let others = elsewhere(row)
        guard !others.isEmpty else { return [] }
        return row.urls.enumerated().map { place, url in
            manifest.problem(
                ["modules", .key(row.name), "urls", .at(place)],
                "leaves its node: \(url.host)\(url.path), if it is opened on \(others), leads to \(row.name) "
                    + "(\(index.level(row))) on \(row.placement)")
        }
    }

    private var authorizations: [ManifestError] {
        guard let name = table.authorizer, let owner = index.provider(of: name) else { return [] }
        let others = elsewhere(owner)
        guard !others.isEmpty else { return [] }
        return [
            manifest.problem(
                ["authorizer"],
                "leaves its node: actions with auth: true on \(others) ask \(owner.name) (\(index.level(owner))) on "
                    + "\(owner.placement)")
        ]
    }

    /// Returns the nodes on which a row's module doesn't run.
    private func elsewhere(_ row: AppTable.Row) -> String {
        table.nodes.map(\.name).filter { !row.placement.includes($0) }.joined(separator: ", ")
    }
}
