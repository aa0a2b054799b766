import StrataCore

/// What a module says of itself and its row lacks, although it belongs there.
enum MissingFact: Equatable {
    /// An interface that the module brings and no row names.
    case provides(String)
    /// The interface's name. The version is the program's affair: a row that repeats it would have to be
    /// changed with it.
    case requires(String)
    /// A URL of an on-demand module, which can be opened only while the module runs.
    case url(AppTable.URLMapping)
    case broadcasts(String)
    case reports(String, to: String)
}

extension DescriptionReview {
    /// What the rows lack, in the order of the rows. Each of it is a finding of the review.
    var missing: [(row: AppTable.Row, facts: [MissingFact])] {
        let owned = Set(manifest.table.modules.flatMap(\.provides))
        return manifest.table.modules.compactMap { row in
            guard let description = descriptions[row.name] else { return nil }
            var facts = unnamedInterfaces(description, owned).map(MissingFact.provides)
            if manifest.table.calls == .declared { facts += undeclaredFacts(row, description) }
            facts += unmappedURLs(row, description).map(MissingFact.url)
            var distinct: [MissingFact] = []
            for fact in facts where !distinct.contains(fact) { distinct.append(fact) }
            return distinct.isEmpty ? nil : (row, distinct)
        }
    }

    /// Returns the interfaces that the module brings and no row names.
    func unnamedInterfaces(_ description: ModuleDescription, _ owned: Set<String>) -> [String] {
        description.interfaces.map(\.name).filter { !owned.contains($0) }
    }

    /// Returns the URLs of an on-demand module that only the module itself maps.
    func unmappedURLs(_ row: AppTable.Row, _ description: ModuleDescription) -> [AppTable.URLMapping] {
        guard row.start == .onDemand else { return [] }
        return description.urls.filter { url in
            !row.urls.contains { $0.host == url.host && $0.path == url.path } && (try? URLPattern(url.path)) != nil
        }
    }

    /// Returns what the module requires and sends, and its row doesn't list.
    func undeclaredFacts(_ row: AppTable.Row, _ description: ModuleDescription) -> [MissingFact] {
        let listed = Set(row.requires.map(\.name))
        var facts = description.requires.map(\.name).filter { !listed.contains($0) }.map(MissingFact.requires)
        facts += description.broadcasts.filter { !row.broadcasts.contains($0) }.map(MissingFact.broadcasts)
        for report in description.reports {
            let listed = row.reports.first { $0.module == report.module }?.names ?? []
            facts += report.names.filter { !listed.contains($0) }.map { .reports($0, to: report.module) }
        }
        return facts
    }
}
