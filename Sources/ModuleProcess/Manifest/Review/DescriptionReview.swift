import StrataCore

/// Finds contradictions between the modules' own descriptions and the rows of a manifest. The bus
/// would refuse such a module's hello, or what the module does later.
public struct DescriptionReview {
    let manifest: Manifest
    let descriptions: [String: ModuleDescription]

    /// Creates a review.
    /// - Parameter descriptions: The modules' descriptions by row name; some may be missing.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
    }

    /// The errors, in the order of the rows.
    public var errors: [ManifestError] {
        var owners: [String: String] = [:]
        for row in manifest.table.modules {
            for interface in row.provides { owners[interface] = row.name }
        }
        var urls = URLTable<String>()
        for row in manifest.table.modules { add(row.urls, of: row, to: &urls) }
        var errors: [ManifestError] = []
        for row in manifest.table.modules {
            guard let description = descriptions[row.name] else { continue }
            errors += place(row, description) + interfaces(row, description, &owners)
            errors += rowURLs(row, description) + ownURLs(row, description, &urls)
            if manifest.table.calls == .declared { errors += undeclared(row, description) }
        }
        return errors
    }

    private func place(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        let level = manifest.table.levels[row.rank]
        guard let stated = description.level, stated != level else { return [] }
        return [error(row, ["level"], "the row says \(level), and the module \(stated): fix one of them")]
    }

    private func interfaces(
        _ row: AppTable.Row, _ description: ModuleDescription, _ owners: inout [String: String]
    ) -> [ManifestError] {
        let brought = description.interfaces.map(\.name)
        var errors: [ManifestError] = []
        for (place, interface) in row.provides.enumerated() where !brought.contains(interface) {
            let found = brought.isEmpty ? "none" : brought.joined(separator: ", ")
            errors.append(
                error(
                    row, ["provides", .at(place)], "the module lacks the interface \(interface); it has \(found)"))
        }
        for interface in brought {
            if let owner = owners[interface], owner != row.name {
                errors.append(
                    error(
                        row, ["provides"],
                        "the module provides the interface \(interface), which belongs to \(owner)"))
            }
            owners[interface] = owners[interface] ?? row.name
        }
        return errors
    }

    /// Returns errors for the row's URLs that lead to actions that the module lacks.
    private func rowURLs(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        row.urls.enumerated().compactMap { place, url in
            problem(url, description).map {
                error(row, ["urls", .at(place)], "\(url.host)\(url.path) leads to \(url.to), \($0)")
            }
        }
    }

    private func ownURLs(
        _ row: AppTable.Row, _ description: ModuleDescription, _ urls: inout URLTable<String>
    ) -> [ManifestError] {
        var errors: [ManifestError] = []
        for url in description.urls {
            let text = "the module's URL \(url.host)\(url.path)"
            if let problem = problem(url, description) {
                errors.append(error(row, ["urls"], "\(text) leads to \(url.to), \(problem)"))
            }
            let pattern: URLPattern
            do throws(BusURLError) { pattern = try URLPattern(url.path) } catch {
                errors.append(
                    self.error(
                        row, ["urls"],
                        "the module has a URL of the host \(url.host) that nothing can match: \(error.message)"))
                continue
            }
            if let owner = urls.value(of: pattern, host: url.host), owner != row.name {
                errors.append(error(row, ["urls"], "\(text) is \(owner)'s: choose another path"))
            }
        }
        add(description.urls, of: row, to: &urls)
        return errors
    }

    private func problem(_ url: AppTable.URLMapping, _ description: ModuleDescription) -> String? {
        guard let target = url.target else { return "which is not an Interface/action" }
        guard let interface = description.interface(target.interface) else {
            return "and the module has no interface \(target.interface)"
        }
        if interface.isMultiple { return "which has instances: multiple" }
        guard !interface.has(target.action) else { return nil }
        return
            "and the module has no such action\(ManifestReview.hint(target.action, (interface.actions ?? []).map(\.name)))"
    }

    /// Returns declarations that only the module makes: under `calls: declared`, only the row
    /// counts.
    private func undeclared(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        func missing(_ key: String, _ what: String) -> ManifestError {
            error(row, [.key(key)], "the module declares \(what), and under calls: declared its row must too: add it")
        }
        return undeclaredFacts(row, description).compactMap { fact in
            switch fact {
            case .requires(let interface): missing("requires", interface)
            case .broadcasts(let name): missing("broadcasts", name)
            case .reports(let name, let module): missing("reports", "\(name) to \(module)")
            case .provides, .url: nil
            }
        }
    }

    private func add(_ mappings: [AppTable.URLMapping], of row: AppTable.Row, to urls: inout URLTable<String>) {
        for url in mappings {
            guard let pattern = try? URLPattern(url.path) else { continue }
            // A pattern that is already taken is reported by `ownURLs`.
            try? urls.add(pattern, host: url.host, value: row.name)
        }
    }

    func error(_ row: AppTable.Row, _ steps: [ManifestPlaces.Step], _ message: String) -> ManifestError {
        manifest.problem(["modules", .key(row.name)] + steps, message)
    }
}

/// Differences between a row and its module's own description that the bus accepts.
extension DescriptionReview {
    /// The advice, in the order of the rows.
    public var advice: [ManifestError] {
        let owned = Set(manifest.table.modules.flatMap(\.provides))
        return manifest.table.modules.flatMap { row in
            descriptions[row.name].map { unnamed(row, $0, owned) + unmapped(row, $0) + unsaid(row, $0) } ?? []
        }
    }

    private func unmapped(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        unmappedURLs(row, description).map { url in
            let line = "\(JSON.string(url.host + url.path)): \(url.to)"
            let addition = row.urls.isEmpty ? "to the row: urls: {\(line)}" : "to the row's urls: \(line)"
            return error(
                row, ["urls"],
                "only the module maps \(url.host)\(url.path), so it can be opened only while \(row.name) runs, and "
                    + "opening it doesn't start \(row.name) (start: on-demand); add \(addition)")
        }
    }

    private func unnamed(
        _ row: AppTable.Row, _ description: ModuleDescription, _ owned: Set<String>
    ) -> [ManifestError] {
        unnamedInterfaces(description, owned).map { interface in
            error(
                row, ["provides"],
                "the module provides the interface \(interface), and its row doesn't list it: requests don't wait "
                    + "for it, and another module may take it; add it")
        }
    }

    /// Returns what the row declares and the module doesn't. A module that declares nothing of a
    /// kind leaves that kind to its row.
    private func unsaid(_ row: AppTable.Row, _ description: ModuleDescription) -> [ManifestError] {
        func compare(_ key: String, _ listed: [String], _ said: [String], _ what: (String) -> String) -> [ManifestError]
        {
            guard !said.isEmpty else { return [] }
            return listed.enumerated().filter { !said.contains($0.element) }.map { place, name in
                error(
                    row, [.key(key), .at(place)],
                    "the row says that \(row.name) \(what(name)), and the module doesn't; fix one of them"
                        + ManifestReview.hint(name, said.filter { !listed.contains($0) }))
            }
        }
        let required = (row.requires.map(\.name), description.requires.map(\.name))
        var advice = compare("requires", required.0, required.1) { "requires \($0)" }
        advice += compare("observes", row.observes.map(\.name), description.observes.map(\.name)) { "observes \($0)" }
        advice += compare("broadcasts", row.broadcasts, description.broadcasts) { "broadcasts \($0)" }
        guard !description.reports.isEmpty else { return advice }
        for report in row.reports {
            let said = description.reports.first { $0.module == report.module }?.names ?? []
            advice += report.names.enumerated().filter { !said.contains($0.element) }.map { place, name in
                error(
                    row, ["reports", .key(report.module), .at(place)],
                    "the row says that \(row.name) reports \(name) to \(report.module), and the module doesn't; "
                        + "fix one of them" + ManifestReview.hint(name, said.filter { !report.names.contains($0) }))
            }
        }
        return advice
    }
}
