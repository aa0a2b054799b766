import StrataCore

/// The checks that follow once a call's owner is known: whether the owner runs, its list of
/// actions, its instances, and authorization.
extension Judge {
    /// The destination of a call.
    struct Way {
        var interface: String
        /// Nil for calls of the interface in general.
        var action: String?
    }

    /// Adds what is known about the owner of a call's interface.
    func serve(_ way: Way, _ owner: AppTable.Row, _ facts: inout ManifestFacts) {
        let authorizer = manifest.table.authorizer
        facts.take(descriptions[owner.name]?.interface(way.interface), way.action)
        facts.isAuthorizers = way.interface == authorizer
        // If the manifest names an authorizer, some module may still bring it.
        facts.hasAuthorizer = authorizer == nil ? false : nil
    }

    /// Returns the finding of a check; nil if there is nothing to judge, because the action or the
    /// instance doesn't exist.
    func serving(
        _ check: Check, _ verdict: Verdict, _ facts: ManifestFacts, _ way: Way, _ owner: AppTable.Row,
        _ caller: AppTable.Row
    ) -> Judgement.Finding? {
        switch check {
        case .node: return node(caller, owner)
        case .owner: return running(owner)
        case .actions: return actions(verdict, way, owner)
        case .instance where facts.refusal(.actions ... .actions) == nil: return instance(verdict, way, owner)
        case .authorization where facts.refusal(.actions ... .instance) == nil:
            return authorization(verdict, facts, way, owner, caller)
        default: return nil
        }
    }

    private func interface(_ way: Way, _ owner: AppTable.Row) -> ModuleDescription.Interface? {
        descriptions[owner.name]?.interface(way.interface)
    }

    private func actions(_ verdict: Verdict, _ way: Way, _ owner: AppTable.Row) -> Judgement.Finding {
        let name = way.interface
        guard let interface = interface(way, owner) else {
            return .init(
                "only \(owner.name)'s program knows which actions \(name) has, and it has not described itself")
        }
        let listed = (interface.actions ?? []).map(\.name)
        guard let action = way.action else {
            return .init(
                listed.isEmpty ? "\(name) lists no actions: all pass" : "\(name) has \(listed.joined(separator: ", "))")
        }
        guard verdict == .passed else {
            let near = hint(action, listed)
            return .init(
                "\(owner.name)'s module has no action \(name)/\(action)"
                    + (near.isEmpty ? "; it has \(listed.isEmpty ? "none" : listed.joined(separator: ", "))" : near))
        }
        return .init(
            interface.actions == nil
                ? "\(name) lists no actions: all pass" : "\(owner.name)'s module lists \(action)")
    }

    private func instance(_ verdict: Verdict, _ way: Way, _ owner: AppTable.Row) -> Judgement.Finding {
        let name = way.interface
        switch verdict {
        case .refused(.instanceMissing):
            return .init(
                "\(name) has instances: multiple, and the call names none",
                changes: ["create one (bus/create) and call \(name)#NUMBER/\(way.action ?? "ACTION")"])
        case .refused:
            return .init(
                "\(name) has instances: single", changes: ["call \(name)/\(way.action ?? "ACTION")"])
        case .free, .passed: return .init("\(name) has instances: single")
        case .depends where interface(way, owner) == nil:
            return .init(
                "only \(owner.name)'s program knows whether \(name) has instances, and it has not described itself")
        case .depends: return .init("an instance belongs to its creator alone, for as long as it lasts")
        }
    }

    private func authorization(
        _ verdict: Verdict, _ facts: ManifestFacts, _ way: Way, _ owner: AppTable.Row, _ caller: AppTable.Row
    ) -> Judgement.Finding {
        let name = way.interface
        if facts.isAuthorizers { return .init("the authorizer's own interface is never checked", authorizerPlace) }
        guard let guarded = interface(way, owner)?.guarded else {
            return .init("only \(owner.name)'s program knows which actions have auth: true")
        }
        let what = way.action ?? guarded.joined(separator: ", ")
        switch verdict {
        case .free, .passed:
            return .init(way.action.map { "\(name)/\($0) is auth: false" } ?? "no action of it is auth: true")
        case .refused:
            return .init(
                "\(name)/\(what) has auth: true, and the app has no authorizer",
                changes: ["name an interface that decides in authorizer"])
        case .depends:
            let authorizer = manifest.table.authorizer ?? ""
            let asked =
                "\(authorizer)/authorize, of \(index.providers[authorizer]?.name ?? "nobody"), is asked each time"
            let skips =
                caller.trusted && facts.kind == .call ? "; \(caller.name) is trusted, and may say auth: skip" : ""
            return .init("\(name)/\(what) has auth: true: \(asked)\(skips)", authorizerPlace)
        }
    }

    private var authorizerPlace: ManifestError { manifest.problem(["authorizer"], "") }

    // MARK: The owner

    /// Returns whether a request finds a row's module, or waits for it.
    func presence(_ owner: AppTable.Row) -> Presence? { owner.start == .manual ? nil : .expected }

    /// Explains how a request gets to a module that isn't running.
    func running(_ owner: AppTable.Row) -> Judgement.Finding {
        let hasProgram =
            manifest.processes.first { $0.name == owner.name }?.executable != nil
        switch owner.start {
        case .eager, .async:
            return .init(
                "\(owner.name) starts with the app (start: \(owner.start.rawValue)); the request waits until it is "
                    + "ready",
                place(owner))
        case .onDemand:
            return .init(
                "\(owner.name) is started by the request (start: on-demand), which waits for it", place(owner, "start"))
        case .manual:
            return .init(
                "\(owner.name) is started by hand (\(hasProgram ? "strata start" : "it has no run")); until it is "
                    + "ready, the answer is \(ErrorCode.unavailable)", place(owner, "start"))
        }
    }
}
