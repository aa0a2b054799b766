import StrataCore

/// What is wrong between the rows of a manifest that is right in itself: who
/// requires what nobody provides, and who would speak to a later level.
///
/// It takes rows at their word; `DescriptionReview` completes them by what their
/// executables declare.
public struct ManifestReview {
    private let file: String
    private let table: AppTable
    private var providers: [String: AppTable.Row] = [:]
    private var adapters: [String: String] = [:]

    public init(_ manifest: Manifest) {
        file = manifest.path
        table = manifest.table
        for row in table.modules {
            for interface in row.provides { providers[interface] = row }
        }
        for adapter in table.adapters { adapters[adapter.name] = adapter.to }
    }

    /// What the bus would refuse for certain, in the order of the rows.
    public var errors: [ManifestError] {
        table.modules.flatMap { row in
            row.requires.compactMap { call(to: $0, by: row) } + row.reports.compactMap { report($0.module, by: row) }
        }
    }

    /// Requirements that no row meets, in the order of the rows. A module may
    /// bring interfaces that its row doesn't name, so they may be met after all.
    public var unmet: [ManifestError] {
        // A guest may provide what no row names.
        guard table.guests == nil else { return [] }
        let known = Array(providers.keys) + adapters.keys
        return table.modules.flatMap { row in
            row.requires.filter { provider(of: $0) == nil }.map { interface in
                let near = nearestNames(to: interface, in: known).first.map { "; did you mean \($0)?" } ?? ""
                return error(row, "requires", "no row provides \(interface), and there are no guests\(near)")
            }
        }
    }

    private func call(to interface: String, by row: AppTable.Row) -> ManifestError? {
        guard let provider = provider(of: interface) else { return nil }
        guard table.calls != .any, provider.rank > row.rank else { return nil }
        return error(
            row, "requires",
            "\(interface) is of \(provider.name) in the later level \(level(provider)), which calls: \(table.calls.rawValue) "
                + "keeps \(row.name) in \(level(row)) from calling; open a URL, or move one of them")
    }

    private func report(_ target: String, by row: AppTable.Row) -> ManifestError? {
        guard let other = table.modules.first(where: { $0.name == target }), other.rank > row.rank else { return nil }
        return error(
            row, "reports",
            "\(target) is in the later level \(level(other)), and \(row.name) in \(level(row)); reports go to the same or "
                + "an earlier level: broadcast, or move one of them")
    }

    /// Who answers calls to an interface: the row that provides it, else the
    /// one at the end of its adapters.
    private func provider(of interface: String) -> AppTable.Row? {
        var interface = interface
        // The manifest's reader refuses cycles; there are no more steps than adapters.
        for _ in 0...adapters.count {
            if let row = providers[interface] { return row }
            guard let next = adapters[interface] else { return nil }
            interface = next
        }
        return nil
    }

    private func level(_ row: AppTable.Row) -> String { table.levels[row.rank] }

    private func error(_ row: AppTable.Row, _ key: String, _ message: String) -> ManifestError {
        ManifestError(file: file, line: nil, column: nil, key: "modules.\(row.name).\(key)", message: message)
    }
}
