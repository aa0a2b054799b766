import StrataCore

/// Finds actions that the manifest relies on and modules don't have: the destinations of adapters,
/// and the authorizer's action.
///
/// `DescriptionReview` covers the destinations of URLs, because a hello has URLs too.
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
                    // An action that leads to another adapter's action is checked there.
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

    /// Errors if the authorizer lacks the action that the bus calls.
    private var authorizer: [ManifestError] {
        guard let name = index.table.authorizer, let (owner, interface) = described(name) else { return [] }
        if interface.isMultiple {
            return [
                manifest.problem(
                    ["authorizer"],
                    "\(name), of \(owner.name), has instances: multiple, and the bus calls it without an instance: "
                        + "make it single"
                )
            ]
        }
        if interface.actions?.contains(where: { $0.name == "authorize" && $0.isStream }) == true {
            return [
                manifest.problem(
                    ["authorizer"],
                    "\(name)/authorize, of \(owner.name), answers in a stream, and the bus waits for one answer: make it "
                        + "an action")
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

    /// Errors about actions that no authorizer can allow.
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

    /// Returns the row that provides an interface, if its module has described the interface.
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

/// Finds events that no module receives, and events that no row may emit.
struct EventReview {
    private let manifest: Manifest
    private let descriptions: [String: ModuleDescription]
    private var rows: [AppTable.Row] { manifest.table.modules }

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
    }

    var findings: [Finding] { (unheard + unemitted).map { Finding(.advice, $0) } }

    /// Events that a row emits and no module declares. Reported only if all modules have described
    /// themselves.
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

    /// Events that a module declares and no row emits.
    private var unemitted: [ManifestError] {
        let emitted = OwnEvents.all + rows.flatMap(\.emits)
        return rows.flatMap { row in
            (descriptions[row.name]?.events ?? []).filter { !emitted.contains($0) }.map { event in
                manifest.problem(
                    ["modules", .key(row.name)],
                    "the module declares the event \(event), which no row emits, so only an operator does "
                        + "(strata emit)\(ManifestReview.hint(event, emitted.sorted()))")
            }
        }
    }
}
