import StrataCore

/// Events that nobody hears, and those that nobody may emit.
struct EventReview {
    private let manifest: Manifest
    private let descriptions: [String: ModuleDescription]
    private var rows: [AppTable.Row] { manifest.table.modules }

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
    }

    var findings: [Finding] { (unheard + unemitted).map { Finding(.advice, $0) } }

    /// Events that a row emits and no module is called for. Said only where all
    /// modules are known.
    private var unheard: [ManifestError] {
        guard manifest.table.guests == nil, rows.allSatisfy({ descriptions[$0.name] != nil }) else { return [] }
        let declared = descriptions.values.flatMap(\.events)
        return rows.flatMap { row in
            row.emits.enumerated().filter { !declared.contains($0.element) }.map { place, event in
                manifest.problem(
                    ["modules", .key(row.name), "emits", .at(place)],
                    "no module declares the event \(event)\(ManifestReview.hint(event, declared.sorted()))")
            }
        }
    }

    /// Events that a module is called for and no row emits.
    private var unemitted: [ManifestError] {
        let emitted = OwnEvents.all + rows.flatMap(\.emits)
        return rows.flatMap { row in
            (descriptions[row.name]?.events ?? []).filter { !emitted.contains($0) }.map { event in
                manifest.problem(
                    ["modules", .key(row.name)],
                    "the module declares the event \(event), which no row emits, so that only an operator does "
                        + "(strata emit)\(ManifestReview.hint(event, emitted.sorted()))")
            }
        }
    }
}
