import StrataCore

extension Manifest {
    /// The manifest, its rows with what their modules add to them: as the bus
    /// knows them once all have said hello.
    ///
    /// Under `calls: declared` what is sent counts from the row alone, and so is
    /// not added.
    public func completed(by descriptions: [String: ModuleDescription]) -> Manifest {
        var manifest = self
        for index in manifest.table.modules.indices {
            guard let description = descriptions[manifest.table.modules[index].name] else { continue }
            manifest.table.modules[index].add(description, sends: table.calls != .declared)
        }
        return manifest
    }
}

extension AppTable.Row {
    fileprivate mutating func add(_ description: ModuleDescription, sends: Bool) {
        provides += description.interfaces.map(\.name).filter { !provides.contains($0) }
        requires += description.requires.filter { !requires.contains($0) }
        for observed in description.observes {
            // Of one that both have, the module's word counts.
            if let place = observes.firstIndex(where: { $0.name == observed.name && $0.object == observed.object }) {
                observes[place].keep = observed.keep
            } else {
                observes.append(observed)
            }
        }
        urls += description.urls.filter { !urls.contains($0) }
        // A report to a later level is refused whoever declares it.
        for report in description.reports {
            guard let place = reports.firstIndex(where: { $0.module == report.module }) else {
                reports.append(sends ? report : .init(module: report.module, names: []))
                continue
            }
            guard sends else { continue }
            reports[place].names += report.names.filter { !reports[place].names.contains($0) }
        }
        if sends { broadcasts += description.broadcasts.filter { !broadcasts.contains($0) } }
    }
}
