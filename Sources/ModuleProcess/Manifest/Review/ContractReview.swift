import StrataComparing
import StrataContracts
import StrataCore

/// Finds types that two modules don't agree on: a caller and a provider, through adapters too, and
/// a sender and an observer. Each was built with its own contract.
///
/// Only what both describe is compared.
struct ContractReview {
    /// The most differences that one finding lists.
    private static let mostDifferences = 4

    private let manifest: Manifest
    private let index: TableIndex
    private let descriptions: [String: ModuleDescription]

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
        index = TableIndex(manifest.table)
    }

    var findings: [Finding] {
        index.table.modules.flatMap { row in
            (descriptions[row.name]?.contracts).map { callerFindings(row, $0) + observerFindings(row, $0.module) } ?? []
        }.map { Finding(.error, $0) }
    }

    // MARK: Callers

    private func callerFindings(_ row: AppTable.Row, _ contracts: ModuleContracts) -> [ManifestError] {
        contracts.requires.flatMap { required in
            index.providers[required.subject.name] == nil
                ? adapterFindings(row, required) : providerFindings(row, required)
        }
    }

    private func providerFindings(_ row: AppTable.Row, _ required: Contract) -> [ManifestError] {
        guard let (owner, provided) = provider(of: required.subject.name), owner.name != row.name,
            let differences = differences(provided.changes(forCaller: required))
        else { return [] }
        return [
            manifest.problem(
                steps(row, "requires", row.requires.firstIndex { $0.name == required.subject.name }),
                "\(row.name) was built with another contract of \(required.subject.name) than \(owner.name) has "
                    + "(\(place(of: owner))): \(differences); build both with the same one")
        ]
    }

    /// Compares each action that a caller knows by an adapter's name with what the adapter makes of
    /// the provider's. A property is its actions there.
    private func adapterFindings(_ row: AppTable.Row, _ required: Contract) -> [ManifestError] {
        (required.actions + required.actionsOfProperties).compactMap { action in
            guard let chain = index.chain(required.subject.name, action.name),
                let (owner, provided) = provider(of: chain.interface), let original = provided.action(chain.action)
            else { return nil }
            var seen = provided
            (seen.subject, seen.actions) = (required.subject, [original.adapted(by: chain, in: provided)])
            var known = required
            known.actions = [action]
            (seen.properties, known.properties) = ([], [])
            guard let differences = differences(seen.changes(forCaller: known)) else { return nil }
            return manifest.problem(
                adapterSteps(required.subject.name, action.name),
                "what \(row.name) (\(place(of: row))) calls as \(required.subject.name)/\(action.name) isn't what "
                    + "\(owner.name) (\(place(of: owner))) has as \(chain.interface)/\(chain.action): \(differences); "
                    + "list the members that have other names, or change one of the contracts")
        }
    }

    private func adapterSteps(_ adapter: String, _ action: String) -> [ManifestPlaces.Step] {
        guard let place = index.table.adapters.firstIndex(where: { $0.name == adapter }) else { return ["adapters"] }
        let steps: [ManifestPlaces.Step] = ["adapters", .at(place)]
        let actions = index.table.adapters[place].actions
        return actions.firstIndex { $0.name == action }.map { steps + ["actions", .at($0)] } ?? steps
    }

    // MARK: Observers

    private func observerFindings(_ row: AppTable.Row, _ contract: Contract) -> [ManifestError] {
        contract.observes.flatMap { observed in
            let own = AppTable.Observed(name: observed.name, isPattern: NamePattern.isPattern(observed.name))
            return senders(of: own, to: row).compactMap { sender, sent -> ManifestError? in
                let comparison = sender.contract.changes(in: sent, forObserver: observed, of: contract)
                guard let differences = differences(comparison) else { return nil }
                return manifest.problem(
                    steps(row, "observes", row.observes.firstIndex { $0.name == observed.name }),
                    "\(row.name) expects another content of \(observed.name) than \(sender.row.name) "
                        + "(\(place(of: sender.row))) sends: \(differences); build both with the same contract")
            }
        }
    }

    /// Returns the described notifications that a module's observation gets, each with its sender.
    private func senders(
        of observed: AppTable.Observed, to observer: AppTable.Row
    ) -> [(sender: (row: AppTable.Row, contract: Contract), notice: Contract.Notice)] {
        var found: [(sender: (row: AppTable.Row, contract: Contract), notice: Contract.Notice)] = []
        for source in index.sources(of: observed)
        where LevelRule.broadcastReaches(from: source.row.rank, to: observer.rank) {
            guard let contract = descriptions[source.row.name]?.contracts?.module,
                let notice = contract.broadcasts.first(where: { $0.name == source.name })
            else { continue }
            found.append(((source.row, contract), notice))
        }
        for row in index.table.modules {
            guard let contract = descriptions[row.name]?.contracts?.module else { continue }
            let reported = row.reports.filter { $0.module == observer.name }.flatMap(\.names).filter(observed.isOf)
            found += contract.reports.filter { reported.contains($0.name) }.map { ((row, contract), $0) }
        }
        return found
    }

    // MARK: Words

    /// Returns the differences that harm the one who knows the old contract; nil if there are none.
    private func differences(_ comparison: ContractComparison) -> String? {
        let breaking = comparison.changes.filter { $0.kind == .breaking }
        guard !breaking.isEmpty else { return nil }
        let shown = breaking.prefix(Self.mostDifferences).map { "\($0.path): expected \($0.old), found \($0.new)" }
        let more = breaking.count - shown.count
        return shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }

    private func provider(of interface: String) -> (AppTable.Row, Contract)? {
        guard let row = index.providers[interface],
            let contract = descriptions[row.name]?.contracts?.provides.first(where: { $0.subject.name == interface })
        else { return nil }
        return (row, contract)
    }

    private func steps(_ row: AppTable.Row, _ key: String, _ place: Int?) -> [ManifestPlaces.Step] {
        ["modules", .key(row.name), .key(key)] + (place.map { [.at($0)] } ?? [])
    }

    private func place(of row: AppTable.Row) -> String { manifest.place(of: row.name) }
}

extension Contract.Action {
    /// Returns the action as a caller sees it behind adapters: with the members' names that the
    /// caller uses.
    fileprivate func adapted(by chain: AdapterChains.Chain, in contract: Contract) -> Contract.Action {
        var action = self
        // The last adapter is the nearest to the provider.
        for step in chain.steps.reversed() {
            guard let adapted = step.action else { continue }
            action.name = adapted.name
            action.params = action.params?.renamed(adapted.params, in: contract)
            switch action.result {
            case .reply(let schema): action.result = .reply(schema?.renamed(adapted.result, in: contract))
            case .elements(let schema): action.result = .elements(schema?.renamed(adapted.result, in: contract))
            }
        }
        return action
    }
}

extension Schema {
    /// Returns the schema of an object whose members have a caller's names instead of a provider's.
    fileprivate func renamed(_ renames: [AppTable.Rename], in contract: Contract) -> Schema {
        guard !renames.isEmpty else { return self }
        switch form {
        case .reference(let name): return contract.definitions[name]?.renamed(renames, in: contract) ?? self
        case .object(var members):
            for place in members.properties.indices {
                guard let rename = renames.first(where: { $0.to == members.properties[place].name }) else { continue }
                members.properties[place].name = rename.from
            }
            var schema = self
            schema.form = .object(members)
            return schema
        default: return self
        }
    }
}
