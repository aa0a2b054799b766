import StrataCore

/// The judgement of calls: existence, level, declaration, owner, list of actions, authorization.
extension Judge {
    /// Judges a call of `Interface/action`, or calls of an interface in general.
    public func call(_ to: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) calls \(to)")
        guard let caller = index.row(module) else { return unknownModule(module, judgement) }
        var facts = ManifestFacts(.call, policy, from: caller)
        guard let target = CallTarget(to) else {
            facts.existence = .malformed
            judgement.add(
                .existence, facts.verdict(.existence), .init("\"\(to)\" names no action: write Interface/action"))
            return judgement
        }
        guard !Name.isReserved(target.interface) else {
            facts.existence = .reserved(target.interface)
            facts.isManaging =
                target.interface == "launcher" && !caller.manages.isEmpty
                && target.action.map(AppTable.Row.managing.contains) != false
            judgement.add(
                .existence, facts.verdict(.existence),
                facts.isManaging ? managing(caller) : .init(Self.reserved(target.interface)))
            return judgement
        }
        let way = way(of: target, &judgement)
        guard let owner = index.providers[way.interface] else {
            facts.existence = manifest.table.guests == nil ? .nobody : nil
            judgement.add(.existence, facts.verdict(.existence), nobody(way.interface))
            return judgement
        }
        facts.isOwn = owner.name == caller.name
        facts.targetRank = owner.rank
        facts.isDeclared = row(caller).requires.contains { $0.name == target.interface }
        facts.reach = reach(caller, owner)
        facts.presence = facts.isOwn ? .ready : presence(owner)
        facts.namesInstance = target.hasInstance
        serve(way, owner, &facts)
        judgement.ask(facts) { check, verdict in
            switch check {
            case .existence: provided(way.interface, owner)
            case .level: level(verdict, facts, caller, way.interface, owner, required: target.interface)
            case .declaration: declaration(verdict, facts, caller, required: target.interface)
            case .owner where facts.isOwn: .init("\(owner.name) is the caller itself", place(owner))
            default: serving(check, verdict, facts, way, owner, caller)
            }
        }
        return judgement
    }

    func unknownModule(_ name: String, _ judgement: Judgement) -> Judgement {
        var judgement = judgement
        judgement.add(.existence, .refused(.unknownModule), .init("no row names \(name)\(hint(name, modules))"))
        return judgement
    }

    private static func reserved(_ name: String) -> String {
        switch name {
        case "bus":
            "bus is the broker's own interface, outside the level table; each of its actions checks itself who may "
                + "call it"
        case "operator": "operators provide nothing"
        default: "\(name)/… is for \(name == "launcher" ? "operators and the broker" : "the broker alone")"
        }
    }

    // MARK: Existence

    private func managing(_ caller: AppTable.Row) -> Judgement.Finding {
        .init(
            "\(caller.name) may start, stop and restart \(caller.manages.joined(separator: ", ")); for other modules "
                + "it is forbidden", place(caller, "manages"))
    }

    /// Returns where a call leads, after the adapters on its way.
    private func way(of target: CallTarget, _ judgement: inout Judgement) -> Way {
        guard let chain = index.chain(target.interface, target.action ?? "") else {
            return Way(interface: target.interface, action: target.action)
        }
        var asked = target.action
        for step in chain.steps {
            let renamed = target.action == nil ? nil : step.action
            let from = asked.map { "\(step.adapter.name)/\($0)" } ?? step.adapter.name
            asked = renamed?.to ?? asked
            let to = asked.map { "\(step.adapter.to)/\($0)" } ?? step.adapter.to
            judgement.add(adapter: "\(from) leads to \(to)\(Self.members(renamed))", place(of: step))
        }
        return Way(interface: chain.interface, action: target.action == nil ? nil : chain.action)
    }

    private func provided(_ name: String, _ owner: AppTable.Row) -> Judgement.Finding {
        let listed = row(owner).provides.firstIndex(of: name)
        return .init(
            listed == nil
                ? "\(owner.name)'s module provides \(name), which its row doesn't list"
                : "\(owner.name) provides \(name)", place(owner, "provides", listed))
    }

    private func nobody(_ name: String) -> Judgement.Finding {
        let unless = undescribed { _ in true }
        guard manifest.table.guests == nil else {
            return .init("no row provides \(name); a guest may\(hint(name, interfaces))\(unless)")
        }
        return .init(
            "no row provides \(name)\(hint(name, interfaces))\(unless)",
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

/// The `to` of a call, or an interface alone.
struct CallTarget {
    /// The name without a `Router` suffix.
    var interface: String
    /// Nil if only an interface was named.
    var action: String?
    var hasInstance = false

    /// Nil if the text is neither.
    init?(_ text: String) {
        if let destination = Destination(text) {
            let bytes = Array(text.utf8)
            interface = ReplicaName.row(of: String(decoding: bytes[destination.interface], as: UTF8.self))
            action = String(decoding: bytes[destination.action], as: UTF8.self)
            hasInstance = destination.instance != nil
        } else {
            interface = Name.withoutRouterSuffix(text)
            guard Name.isInterface(interface) else { return nil }
        }
    }
}

/// The judgement of URLs: where one leads, and the checks of the call that it makes.
extension Judge {
    private struct Mapping {
        var owner: AppTable.Row
        var url: AppTable.URLMapping
        /// Its index in the row's `urls`; beyond their end if the module itself brings it.
        var place: Int
    }

    /// Judges the opening of a URL.
    public func open(_ url: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) opens \(url)")
        guard let caller = index.row(module) else { return unknownModule(module, judgement) }
        var facts = ManifestFacts(.open, policy, from: caller)
        let mapping: Mapping
        do throws(BusURLError) {
            let bytes = try BusURL(url)
            mapping = try mappings.resolve(bytes, schemes: index.table.schemes).value
        } catch {
            if error.code == .unknownScheme { return openElsewhere(url, from: caller, judgement, error) }
            facts.existence = .url(error.code)
            judgement.add(.existence, facts.verdict(.existence), .init(error.message))
            return judgement
        }
        let owner = mapping.owner
        guard let (interface, action) = mapping.url.target else {
            facts.existence = .nobody
            judgement.add(
                .existence, facts.verdict(.existence), .init("\(mapping.url.to) is not an Interface/action"))
            return judgement
        }
        let way = Way(interface: interface, action: action)
        facts.reach = reach(caller, owner)
        facts.presence = presence(owner)
        serve(way, owner, &facts)
        judgement.ask(facts) { check, verdict in
            switch check {
            case .existence:
                .init(
                    "it matches \(mapping.url.host)\(mapping.url.path) of \(owner.name), which leads to \(mapping.url.to)",
                    place(owner, "urls", mapping.place))
            case .level: .init("levels don't apply to opening a URL: it names no module")
            case .declaration: .init("opening a URL needs none")
            default: serving(check, verdict, facts, way, owner, caller)
            }
        }
        return judgement
    }

    private var mappings: URLTable<Mapping> {
        var table = URLTable<Mapping>()
        for row in index.table.modules {
            for (place, url) in row.urls.enumerated() {
                guard let pattern = try? URLPattern(url.path) else { continue }
                // The first mapping has the pattern; `check` reports the other one.
                try? table.add(pattern, host: url.host, value: Mapping(owner: row, url: url, place: place))
            }
        }
        return table
    }
}
