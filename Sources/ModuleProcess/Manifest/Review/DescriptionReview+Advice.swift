import StrataCore

/// Where a row and its module's own description differ, and the bus takes both.
extension DescriptionReview {
    /// In the order of the rows.
    public var advice: [ManifestError] {
        let owned = Set(manifest.table.modules.flatMap(\.provides))
        return manifest.table.modules.flatMap { row in
            descriptions[row.name].map { unnamed(row, $0, owned) + unmapped(row, $0) + unsaid(row, $0) } ?? []
        }
    }

    /// URLs of a module that starts on demand which only the module itself maps.
    private func unmapped(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        guard row.start == .onDemand else { return [] }
        return description.urls.filter { url in
            !row.urls.contains { $0.host == url.host && $0.path == url.path } && (try? URLPattern(url.path)) != nil
        }.map { url in
            let line = "\(JSON.string(url.host + url.path)): \(url.to)"
            let addition = row.urls.isEmpty ? "to the row: urls: {\(line)}" : "to the row's urls: \(line)"
            return error(
                row, ["urls"],
                "only the module maps \(url.host)\(url.path), so that it can be opened only while \(row.name) runs, and "
                    + "opening it doesn't start \(row.name) (start: on-demand); add \(addition)")
        }
    }

    /// Interfaces that the module brings and its row doesn't name.
    private func unnamed(
        _ row: AppTable.Row, _ description: ModuleDescription, _ owned: Set<String>
    ) -> [ManifestError] {
        description.interfaces.map(\.name).filter { !owned.contains($0) }.map { interface in
            error(
                row, ["provides"],
                "the module brings the interface \(interface), and its row doesn't name it: until the module is there "
                    + "nobody waits for it, and another may take it; add it")
        }
    }

    /// What the row says and the module doesn't. Whoever says nothing of a kind
    /// leaves it to its row.
    private func unsaid(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        func compare(_ key: String, _ listed: [String], _ said: [String], _ what: (String) -> String) -> [ManifestError]
        {
            guard !said.isEmpty else { return [] }
            return listed.enumerated().filter { !said.contains($0.element) }.map { place, name in
                error(
                    row, [.key(key), .at(place)],
                    "the row says that \(row.name) \(what(name)), and the module doesn't; mend one of them"
                        + ManifestReview.hint(name, said.filter { !listed.contains($0) }))
            }
        }
        var advice = compare("requires", row.requires, description.requires) { "requires \($0)" }
        advice += compare("observes", row.observes.map(\.name), description.observes.map(\.name)) { "observes \($0)" }
        advice += compare("broadcasts", row.broadcasts, description.broadcasts) { "broadcasts \($0)" }
        guard !description.reports.isEmpty else { return advice }
        for report in row.reports {
            let said = description.reports.first { $0.module == report.module }?.names ?? []
            advice += report.names.enumerated().filter { !said.contains($0.element) }.map { place, name in
                error(
                    row, ["reports", .key(report.module), .at(place)],
                    "the row says that \(row.name) reports \(name) to \(report.module), and the module doesn't; mend one "
                        + "of them" + ManifestReview.hint(name, said.filter { !report.names.contains($0) }))
            }
        }
        return advice
    }
}
