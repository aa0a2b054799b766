import StrataCore

/// Says what the bus would do with a message, from the manifest and from what
/// modules say of themselves, and why: by the code that the broker decides with,
/// without a bus.
///
/// One extension for each kind of message.
public struct Judge {
    /// As it was read: what a row declares.
    let manifest: Manifest
    /// With what the modules add to it.
    let index: TableIndex
    let descriptions: [String: ModuleDescription]
    var policy: AppTable.CallPolicy { manifest.table.calls }

    /// - Parameter descriptions: by the row's name; some may lack one.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription] = [:]) {
        self.manifest = manifest
        self.descriptions = descriptions
        index = TableIndex(manifest.completed(by: descriptions).table)
    }

    // MARK: Names

    /// The rows' names.
    public var modules: [String] { manifest.table.modules.map(\.name) }

    /// The interfaces that a row provides or an adapter has.
    public var interfaces: [String] { index.interfaces }

    /// The notifications that some row sends or observes.
    public var notifications: [String] {
        Set(index.sentNames + index.table.modules.flatMap { $0.observes.map(\.name) }).sorted()
    }

    /// The row that provides an interface, behind its adapters too.
    public func provider(of interface: String) -> String? { index.provider(of: interface)?.name }

    // MARK: Shared by the kinds

    func level(_ row: AppTable.Row) -> String { "\(index.level(row)) (rank \(row.rank))" }

    func place(_ row: AppTable.Row, _ steps: ManifestPlaces.Step...) -> ManifestError {
        manifest.problem(["modules", .key(row.name)] + steps, "")
    }

    /// Where a list of the row has a name; the list, where it has not.
    func place(_ row: AppTable.Row, _ list: String, _ index: Int?) -> ManifestError {
        manifest.problem(["modules", .key(row.name), .key(list)] + (index.map { [.at($0)] } ?? []), "")
    }

    /// The line of `calls`; none where it has its default.
    var policyPlace: ManifestError? {
        let found = manifest.problem(["calls"], "")
        return found.line == nil ? nil : found
    }

    /// The row as the manifest has it.
    func row(_ row: AppTable.Row) -> AppTable.Row {
        manifest.table.modules.first { $0.name == row.name } ?? row
    }

    /// `; A, B may, whose programs have not described themselves`, of the rows
    /// that the judge takes; or nothing.
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

    /// `; did you mean Storage?`, or nothing.
    func hint(_ name: String, _ known: some Sequence<String>) -> String { ManifestReview.hint(name, known) }
}
