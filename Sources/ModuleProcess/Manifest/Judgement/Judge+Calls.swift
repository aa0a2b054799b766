import StrataCore

/// Calls: existence, level, declaration, owner, list of actions, authorization.
extension Judge {
    /// A call of `Interface/action`, or of an interface in general.
    public func call(_ to: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) calls \(to)")
        guard let caller = index.row(module) else { return unknownModule(module, judgement) }
        guard let target = CallTarget(to) else {
            judgement.refuse(
                "existence", .unknownInterface, "\"\(to)\" names no action: write Interface/action")
            return judgement
        }
        if Name.isReserved(target.interface) {
            reserved(target, &judgement)
            return judgement
        }
        guard let (owner, interface, action) = existence(target, &judgement) else { return judgement }
        permission(caller, target.interface, interface, owner, &judgement)
        if owner.name == caller.name {
            judgement.add("owner", .passed, "\(owner.name) is the caller itself", place(owner))
        } else {
            running(owner, &judgement)
        }
        if actions(interface, action, target.hasInstance, owner, &judgement) {
            authorization(interface, action, owner, caller, isOpen: false, &judgement)
        }
        return judgement
    }

    func unknownModule(_ name: String, _ judgement: Judgement) -> Judgement {
        var judgement = judgement
        judgement.refuse("existence", .unknownModule, "no row names \(name)\(hint(name, modules))")
        return judgement
    }

    private func reserved(_ target: CallTarget, _ judgement: inout Judgement) {
        switch target.interface {
        case "bus":
            judgement.add(
                "existence", .depends,
                "bus is the broker's own interface, outside the level table; each of its actions says itself whom it is for"
            )
        case "operator": judgement.refuse("existence", .unknownInterface, "operators provide nothing")
        case let name:
            let whom = name == "launcher" ? "operators and the broker" : "the broker alone"
            judgement.refuse("existence", .forbidden, "\(name)/… is for \(whom)")
        }
    }

    // MARK: Existence

    /// Who answers, under which names.
    private func existence(
        _ target: CallTarget, _ judgement: inout Judgement
    ) -> (owner: AppTable.Row, interface: String, action: String?)? {
        let name = target.interface
        if let owner = index.providers[name] {
            provided(name, owner, &judgement)
            return (owner, name, target.action)
        }
        guard let chain = index.chain(name, target.action ?? "") else {
            nobody(name, &judgement)
            return nil
        }
        var asked = target.action
        for step in chain.steps {
            let renamed = target.action == nil ? nil : step.action
            let from = asked.map { "\(step.adapter.name)/\($0)" } ?? step.adapter.name
            asked = renamed?.to ?? asked
            let to = asked.map { "\(step.adapter.to)/\($0)" } ?? step.adapter.to
            judgement.add("adapter", .passed, "\(from) leads to \(to)\(Self.members(renamed))", place(of: step))
        }
        guard let owner = index.providers[chain.interface] else {
            nobody(chain.interface, &judgement)
            return nil
        }
        provided(chain.interface, owner, &judgement)
        return (owner, chain.interface, target.action == nil ? nil : chain.action)
    }

    private func provided(_ name: String, _ owner: AppTable.Row, _ judgement: inout Judgement) {
        let listed = manifest.table.modules.first { $0.name == owner.name }?.provides.firstIndex(of: name)
        judgement.add(
            "existence", .passed,
            listed == nil
                ? "\(owner.name)'s module brings \(name), which its row doesn't name"
                : "\(owner.name) provides \(name)", place(owner, "provides", listed))
    }

    private func nobody(_ name: String, _ judgement: inout Judgement) {
        let unless = undescribed { _ in true }
        if manifest.table.guests != nil {
            judgement.add(
                "existence", .depends, "no row provides \(name); a guest may\(hint(name, interfaces))\(unless)")
            return
        }
        judgement.refuse(
            "existence", .unknownInterface, "no row provides \(name)\(hint(name, interfaces))\(unless)",
            changes: ["list \(name) in provides of the row whose module has it, or add an adapter \(name)"])
    }

    private func place(of step: AdapterChains.Step) -> ManifestError? {
        guard let place = manifest.table.adapters.firstIndex(where: { $0.name == step.adapter.name }) else {
            return nil
        }
        guard let action = step.adapter.actions.firstIndex(where: { $0.name == step.action?.name }) else {
            return manifest.problem(["adapters", .at(place)], "")
        }
        return manifest.problem(["adapters", .at(place), "actions", .at(action)], "")
    }

    private static func members(_ action: AppTable.AdaptedAction?) -> String {
        guard let action else { return "" }
        func list(_ what: String, _ renames: [AppTable.Rename], _ arrow: String) -> [String] {
            renames.isEmpty ? [] : ["\(what) \(renames.map { "\($0.from) \(arrow) \($0.to)" }.joined(separator: ", "))"]
        }
        let parts = list("params", action.params, "→") + list("result", action.result, "←")
        return parts.isEmpty ? "" : "; \(parts.joined(separator: "; "))"
    }
}
