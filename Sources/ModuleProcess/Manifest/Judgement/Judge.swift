import StrataCore

/// Predicts what the bus would do with a message, and explains why. It needs no bus: it applies the
/// broker's own rules to the manifest and the modules' own descriptions.
///
/// Each kind of message has an extension.
public struct Judge {
    /// The manifest as it was read: what the rows declare.
    let manifest: Manifest
    /// The table, completed by the modules' descriptions.
    let index: TableIndex
    let descriptions: [String: ModuleDescription]
    var policy: AppTable.CallPolicy { manifest.table.calls }

    /// Creates a judge.
    /// - Parameter descriptions: The modules' descriptions by row name; some may be missing.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription] = [:]) {
        self.manifest = manifest
        self.descriptions = descriptions
        index = TableIndex(manifest.completed(by: descriptions).table)
    }

    // MARK: Names

    /// The names of the rows.
    public var modules: [String] { manifest.table.modules.map(\.name) }

    /// The interfaces of rows and of adapters.
    public var interfaces: [String] { index.interfaces }

    /// The notifications that some row sends or observes.
    public var notifications: [String] {
        index.observedNames.union(index.sentNames).sorted()
    }

    /// Returns the row that provides an interface, directly or through adapters.
    public func provider(of interface: String) -> String? { index.provider(of: interface)?.name }

    // MARK: Shared by all kinds

    func level(_ row: AppTable.Row) -> String { "\(index.level(row)) (rank \(row.rank))" }

    func place(_ row: AppTable.Row, _ steps: ManifestPlaces.Step...) -> ManifestError {
        manifest.problem(["modules", .key(row.name)] + steps, "")
    }

    /// Returns the position of a name in a list of the row, or of the list if the name is missing.
    func place(_ row: AppTable.Row, _ list: String, _ index: Int?) -> ManifestError {
        manifest.problem(["modules", .key(row.name), .key(list)] + (index.map { [.at($0)] } ?? []), "")
    }

    /// The line of `calls`; nil if it has its default.
    var policyPlace: ManifestError? {
        let found = manifest.problem(["calls"], "")
        return found.line == nil ? nil : found
    }

    /// Returns the row as the manifest has it.
    func row(_ row: AppTable.Row) -> AppTable.Row {
        manifest.table.modules.first { $0.name == row.name } ?? row
    }

    /// Returns `; A, B may, whose programs have not described themselves` for the rows that `judge`
    /// accepts; empty if there are none.
    func undescribed(_ judge: (AppTable.Row) -> Bool) -> String {
        let silent = manifest.processes.filter { process in
            process.executable != nil && descriptions[process.name] == nil && index.row(process.name).map(judge) == true
        }.map(\.name)
        guard !silent.isEmpty else { return "" }
        let whose =
            silent.count == 1
            ? "whose program has not described itself" : "whose programs have not described themselves"
        return "; \(silent.joined(separator: ", ")) may, \(whose)"
    }

    /// Returns `; did you mean Storage?`, or nothing.
    func hint(_ name: String, _ known: some Sequence<String>) -> String { ManifestReview.hint(name, known) }
}
