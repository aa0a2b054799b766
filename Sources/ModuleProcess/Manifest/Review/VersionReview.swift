import StrataCore

/// Compares the versions of interfaces that rows and modules require with those that their
/// providers describe, as the bus does under `contracts: enforced`.
struct VersionReview {
    let manifest: Manifest
    let index: TableIndex
    let descriptions: [String: ModuleDescription]

    /// - Parameter index: the rows with what their modules declare.
    init(_ manifest: Manifest, index: TableIndex, _ descriptions: [String: ModuleDescription]) {
        (self.manifest, self.index, self.descriptions) = (manifest, index, descriptions)
    }

    /// The findings, in the order of the rows.
    var findings: [Finding] {
        manifest.table.modules.flatMap { row in
            let own = descriptions[row.name]?.requires ?? []
            var findings = row.requires.enumerated().flatMap { place, required in
                unserved(required, by: row, place) + contradiction(required, own, of: row, place)
            }
            for required in own where !row.requires.contains(required) {
                let place = row.requires.firstIndex { $0.name == required.name } ?? row.requires.count
                findings += unserved(required, by: row, place)
            }
            return findings
        }
    }

    /// Returns an error if the provider describes a version that doesn't serve the required one.
    /// Through adapters nothing is compared.
    private func unserved(_ required: RequiredInterface, by row: AppTable.Row, _ place: Int) -> [Finding] {
        guard let version = required.version, row.contracts != .off, let owner = index.providers[required.name],
            owner.name != row.name, owner.contracts != .off,
            let provided = descriptions[owner.name]?.interface(required.name)?.version, !provided.serves(version)
        else { return [] }
        let written = index.row(owner.name)?.provides.firstIndex(of: required.name) ?? 0
        let other = manifest.problem(["modules", .key(owner.name), "provides", .at(written)], "")
        let line = other.line.map { " (\(other.file):\($0))" } ?? ""
        return [
            problem(
                .error, row, place,
                "\(row.name) requires \(required), and the module \(owner.name)\(line) serves version \(provided): "
                    + "run a \(owner.name) that serves \(version), or build \(row.name) with \(provided)")
        ]
    }

    /// Returns advice if the module was built with another version than its row says.
    private func contradiction(
        _ required: RequiredInterface, _ own: [RequiredInterface], of row: AppTable.Row, _ place: Int
    ) -> [Finding] {
        guard let version = required.version, let built = own.first(where: { $0.name == required.name })?.version,
            built != version
        else { return [] }
        return [
            problem(
                .advice, row, place,
                "the row says that \(row.name) requires version \(version) of \(required.name), and the module was "
                    + "built with \(built); fix one of them, or leave the row's version out")
        ]
    }

    private func problem(_ severity: Finding.Severity, _ row: AppTable.Row, _ place: Int, _ message: String) -> Finding
    {
        Finding(severity, manifest.problem(["modules", .key(row.name), "requires", .at(place)], message))
    }
}
