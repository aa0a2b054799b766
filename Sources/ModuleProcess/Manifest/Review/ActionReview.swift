import StrataCore

/// Actions that the manifest counts on and modules don't have: those that
/// adapters lead to, and the authorizer's.
///
/// Those of URLs are in `DescriptionReview`, since a hello has URLs too.
struct ActionReview {
    private let manifest: Manifest
    private let index: TableIndex
    private let descriptions: [String: ModuleDescription]

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
        index = TableIndex(manifest.table)
    }

    var findings: [Finding] { (adapters + authorizer + unauthorized).map { Finding(.error, $0) } }

    private var adapters: [ManifestError] {
        index.table.adapters.enumerated().flatMap { place, adapter in
            adapter.actions.enumerated().compactMap { actionPlace, action in
                guard let chain = index.chain(adapter.name, action.name),
                    // One that leads to another adapter's action is that one's to judge.
                    chain.steps.last(where: { $0.action != nil })?.adapter.name == adapter.name,
                    let (owner, interface) = described(chain.interface), !interface.has(chain.action)
                else { return nil }
                return manifest.problem(
                    ["adapters", .at(place), "actions", .at(actionPlace), "to"],
                    "\(adapter.name)/\(action.name) leads to \(chain.interface)/\(chain.action), and \(owner.name) has "
                        + "no such action\(hint(chain.action, interface))")
            }
        }
    }

    /// What the authorizer is asked, it must have.
    private var authorizer: [ManifestError] {
        guard let name = index.table.authorizer, let (owner, interface) = described(name) else { return [] }
        if interface.isMultiple {
            return [
                manifest.problem(
                    ["authorizer"],
                    "\(name), of \(owner.name), has instances: multiple, and the bus asks without an instance: make it single"
                )
            ]
        }
        guard !interface.has("authorize") else { return [] }
        return [
            manifest.problem(
                ["authorizer"],
                "\(owner.name) has no action \(name)/authorize, which the bus asks before each action with auth: true"
                    + hint("authorize", interface))
        ]
    }

    /// Actions that nobody can allow.
    private var unauthorized: [ManifestError] {
        guard index.table.authorizer == nil else { return [] }
        return index.table.modules.flatMap { row in
            (descriptions[row.name]?.interfaces ?? []).compactMap { interface in
                let actions = (interface.actions ?? []).filter(\.needsAuthorization).map(\.name)
                guard let problem = ManifestReview.unauthorized(actions, of: interface.name) else { return nil }
                return manifest.problem(
                    ["modules", .key(row.name), "provides", .at(row.provides.firstIndex(of: interface.name) ?? 0)],
                    problem)
            }
        }
    }

    /// The row that provides an interface, where its module has described it.
    private func described(_ interface: String) -> (AppTable.Row, ModuleDescription.Interface)? {
        guard let row = index.providers[interface], let found = descriptions[row.name]?.interface(interface) else {
            return nil
        }
        return (row, found)
    }

    private func hint(_ action: String, _ interface: ModuleDescription.Interface) -> String {
        ManifestReview.hint(action, (interface.actions ?? []).map(\.name))
    }
}

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
